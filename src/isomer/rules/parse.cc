// Parses files of rules, families of rules, and tactics.

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "isomer/ir/scanner.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/rule.h"
#include "isomer/rules/rule_parser.h"

namespace isomer {
namespace {

/// The name of an operator in the names of rules: "HardSwish" becomes "hard-swish", "LSTM" becomes "lstm".
std::string hyphenated(std::string_view name) {
  const auto upper = [&](size_t i) { return std::isupper(static_cast<unsigned char>(name[i])) != 0; };
  const auto lower = [&](size_t i) {
    return i < name.size() && std::islower(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && upper(i) && (!upper(i - 1) || lower(i + 1))) out += '-';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

/// Replaces `{VARIABLE}` by the name of an operator.
std::string with_operator(std::string text, const std::string& variable, const OpDef& op) {
  const std::string slot = "{" + variable + "}";
  const std::string name = hyphenated(op.name);
  for (size_t at = text.find(slot); at != std::string::npos; at = text.find(slot, at + name.size()))
    text.replace(at, slot.size(), name);
  return text;
}

class RuleFileParser {
 public:
  explicit RuleFileParser(std::string_view text) : text_(text), scan_(text) {}

  Result<RuleFile> parse() {
    while (!scan_.at_end()) {
      std::string doc = comments_above(scan_.position());
      if (scan_.accept_word("tactic")) {
        ISOMER_CHECK(tactic(std::move(doc)));
      } else {
        ISOMER_CHECK(scan_.expect("rule"));
        ISOMER_CHECK(rule_or_family(std::move(doc)));
      }
    }
    for (Tactic& tactic : file_.tactics) ISOMER_CHECK(resolve(tactic));
    return std::move(file_);
  }

 private:
  /// The block of comment lines directly before the line of `position`.
  std::string comments_above(size_t position) const {
    std::vector<std::string_view> lines;
    std::string_view above = text_.substr(0, position);
    above = above.substr(0, above.rfind('\n') + 1);
    while (!above.empty()) {
      above.remove_suffix(1);  // the newline
      const size_t begin = above.rfind('\n') + 1;
      std::string_view line = above.substr(begin);
      above = above.substr(0, begin);
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
      if (line.empty() || line.front() != '#') break;
      line.remove_prefix(line.size() > 1 && line[1] == ' ' ? 2 : 1);
      lines.push_back(line);
    }
    std::ranges::reverse(lines);
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

  /// The name of a rule, or of a family, which has an operator variable in braces.
  Result<std::string> rule_name() { return scan_.identifier("_-.{}"); }

  /// Reserves a name of a rule, a family or a tactic.
  Status claim(std::set<std::string>& names, const std::string& what, const std::string& name) const {
    if (names.insert(name).second) return {};
    return scan_.error(fmt::format("a second {} is called '{}'", what, name));
  }

  Status rule_or_family(std::string doc) {
    ISOMER_TRY(std::string name, rule_name());
    ISOMER_CHECK(claim(rules_, "rule", name));
    if (scan_.accept_word("for")) {
      const Status parsed = family(name, std::move(doc));
      return parsed ? parsed : fail("rule '{}': {}", name, parsed.error().message);
    }
    if (name.find_first_of("{}") != std::string::npos)
      return scan_.error("the name '" + name + "' has braces, but the rule has no operator variable");
    auto parsed = parse_rule_body(scan_);
    if (!parsed) return fail("rule '{}': {}", name, parsed.error().message);
    parsed->name = std::move(name);
    parsed->doc = std::move(doc);
    file_.rules.push_back(std::move(*parsed));
    return {};
  }

  /// Everything after `rule NAME for`. The rule is parsed once for each operator, and once as it is written.
  Status family(const std::string& name, std::string doc) {
    RuleFamily out;
    ISOMER_TRY(out.variable, scan_.identifier());
    if (find_op(out.variable) != nullptr)
      return scan_.error("the operator variable '" + out.variable + "' has the name of an operator");
    ISOMER_CHECK(named_after(name, out.variable));
    if (!scan_.accept_word("in")) return scan_.error("expected 'in'");
    ISOMER_TRY(out.ops, operators());
    const size_t begin = scan_.position();
    const int line = scan_.line();
    for (const OpDef* op : out.ops) {
      scan_.rewind(begin, line);
      const BoundOperator bound{out.variable, op};
      auto parsed = parse_rule_body(scan_, &bound);
      if (!parsed) return fail("{} = {}: {}", out.variable, op->name, parsed.error().message);
      parsed->name = with_operator(name, out.variable, *op);
      parsed->doc = with_operator(doc, out.variable, *op);
      parsed->family = name;
      ISOMER_CHECK(claim(rules_, "rule", parsed->name));
      file_.rules.push_back(std::move(*parsed));
    }
    scan_.rewind(begin, line);
    const BoundOperator bound{out.variable, out.ops.front(), true};
    ISOMER_TRY(out.written, parse_rule_body(scan_, &bound));
    out.written.name = name;
    out.written.doc = std::move(doc);
    file_.families.push_back(std::move(out));
    return {};
  }

  /// Whether the variable, and no other, stands in braces in the name of a family.
  Status named_after(const std::string& name, const std::string& variable) const {
    const std::string slot = "{" + variable + "}";
    const size_t at = name.find(slot);
    if (at == std::string::npos) return scan_.error("the name '" + name + "' lacks '" + slot + "'");
    const std::string rest = name.substr(0, at) + name.substr(at + slot.size());
    if (rest.find_first_of("{}") == std::string::npos) return {};
    return scan_.error("the name '" + name + "' has other braces than one '" + slot + "'");
  }

  Result<std::vector<const OpDef*>> operators() {
    std::vector<const OpDef*> out;
    do {
      ISOMER_TRY(const std::string name, scan_.identifier());
      const OpDef* op = find_op(name);
      if (op == nullptr) return scan_.error("unknown operator '" + name + "'");
      if (std::ranges::find(out, op) != out.end()) return scan_.error("the operator '" + name + "' is listed twice");
      out.push_back(op);
    } while (scan_.accept(","));
    return out;
  }

  Status tactic(std::string doc) {
    Tactic out;
    ISOMER_TRY(out.name, scan_.identifier("_-."));
    ISOMER_CHECK(claim(tactics_, "tactic", out.name));
    out.doc = std::move(doc);
    while (scan_.accept_word("seed")) {
      Tactic::Stage& stage = out.stages.emplace_back();
      ISOMER_TRY(stage.seeds, names());
      if (!scan_.accept_word("then")) continue;
      ISOMER_TRY(stage.then, names());
    }
    if (out.stages.empty()) return scan_.error("expected 'seed'");
    file_.tactics.push_back(std::move(out));
    return {};
  }

  Result<std::vector<std::string>> names() {
    std::vector<std::string> out;
    do {
      ISOMER_TRY(std::string name, rule_name());
      out.push_back(std::move(name));
    } while (scan_.accept(","));
    return out;
  }

  /// Replaces the names of families in a tactic by the names of their rules.
  Status resolve(Tactic& tactic) const {
    for (Tactic::Stage& stage : tactic.stages) {
      for (auto* list : {&stage.seeds, &stage.then}) {
        std::vector<std::string> resolved;
        for (const std::string& name : *list) {
          if (!rules_.contains(name)) return fail("tactic '{}': there is no rule '{}'", tactic.name, name);
          std::ranges::move(rules_called(file_.rules, name), std::back_inserter(resolved));
        }
        *list = std::move(resolved);
      }
    }
    return {};
  }

  std::string_view text_;
  Scanner scan_;
  RuleFile file_;
  std::set<std::string> rules_;  // names of rules and families
  std::set<std::string> tactics_;
};

}  // namespace

std::vector<std::string> rules_called(std::span<const Rule> rules, std::string_view name) {
  std::vector<std::string> out;
  for (const Rule& rule : rules)
    if (rule.name == name || (rule.family == name && !name.empty())) out.push_back(rule.name);
  return out;
}

Result<RuleFile> parse_rule_file(std::string_view text) { return RuleFileParser(text).parse(); }

Result<std::vector<Rule>> parse_rules(std::string_view text) {
  ISOMER_TRY(RuleFile file, parse_rule_file(text));
  return std::move(file.rules);
}

}  // namespace isomer
