#include "isomer/discover/universe.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>

#include "isomer/discover/term.h"
#include "isomer/ir/scanner.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/build.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

void collect_variables(const Term& term, std::vector<std::string>& out) {
  for_each_term(term, [&](const Term& each) {
    if (each.kind == Term::Kind::Value && std::ranges::find(out, each.name) == out.end()) out.push_back(each.name);
  });
}

/// Returns the value of an expression that is a product of integers; nothing for others.
std::optional<int64_t> closed_product(const Expr& expr) {
  if (expr.kind == Expr::Kind::Integer) return expr.integer;
  if (expr.kind != Expr::Kind::Call || expr.name != "*") return std::nullopt;
  const auto x = closed_product(expr.args[0]);
  const auto y = closed_product(expr.args[1]);
  int64_t product = 0;
  if (!x || !y || __builtin_mul_overflow(*x, *y, &product)) return std::nullopt;
  return product;
}

/// Replaces products of sizes by their values, so that terms print as short as possible.
void fold(Term& term) {
  const auto fold_product = [](Expr& expr) {
    if (const auto value = closed_product(expr)) expr = integer_expr(*value);
  };
  for_each_term(term, [&](Term& each) {
    for (auto& [name, expr] : each.attrs) for_each_expr(expr, fold_product);
  });
}

/// Returns whether conditions are known to be symmetric in x and y: there are none, or it is one equality of both.
bool symmetric(const std::vector<Expr>& conditions) {
  return std::ranges::all_of(conditions, [](const Expr& condition) {
    return condition.name == "==" && condition.args.size() == 2 && condition.args[0].name == condition.args[1].name &&
           condition.args[0].args.size() == 1 && condition.args[1].args.size() == 1 &&
           condition.args[0].args[0].name != condition.args[1].args[0].name;
  });
}

/// Returns the term that takes a part out of a bundle.
Term taken(const Bundle::Part& part, Term bundle) {
  std::vector<Expr> shape{integer_expr(-1)};
  for (size_t axis = 1; axis < part.dims.size(); ++axis) shape.push_back(integer_expr(part.dims[axis]));
  const auto list = [](int64_t number) { return list_expr({integer_expr(number)}); };
  Term cut = apply_term(op("Slice"),
                        {{"axes", list(1)}, {"starts", list(part.begin)}, {"ends", list(part.end)}, {"steps", list(1)}},
                        {std::move(bundle)});
  return apply_term(op("Reshape"), {{"shape", list_expr(std::move(shape))}}, {std::move(cut)});
}

/// Returns the bundle of these parts.
Term joined(std::vector<Term> parts, const Bundle& bundle) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t columns = bundle.parts[i].end - bundle.parts[i].begin;
    parts[i] = apply_term(op("Reshape"), {{"shape", list_expr({integer_expr(-1), integer_expr(columns)})}},
                          {std::move(parts[i])});
  }
  return apply_term(op("Concat"), {{"axis", integer_expr(1)}}, std::move(parts));
}

/// The numbers that names stand for.
using Sizes = std::map<std::string, std::vector<int64_t>, std::less<>>;

/// Returns `line` with each name replaced by one of its numbers.
std::string with_numbers(std::string_view line, const Sizes& sizes, size_t choice) {
  std::string out;
  while (!line.empty()) {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '?';
    };
    const auto end = std::ranges::find_if_not(line, is_word);
    const std::string_view word = line.substr(0, std::max<size_t>(1, static_cast<size_t>(end - line.begin())));
    const auto size = sizes.find(word);
    out += size == sizes.end() ? std::string(word) : std::to_string(size->second[choice]);
    line.remove_prefix(word.size());
  }
  return out;
}

Result<std::vector<int64_t>> read_integers(Scanner& scan) {
  std::vector<int64_t> out;
  do {
    ISOMER_TRY(const int64_t number, scan.integer());
    out.push_back(number);
  } while (scan.accept(","));
  return out;
}

/// Parses one line of a universe.
class LineParser {
 public:
  LineParser(std::string_view line, Universe& universe) : scan_(line), universe_(universe) {}

  Status parse() {
    if (scan_.at_end()) return {};
    if (scan_.accept_word("inputs")) return inputs();
    if (scan_.accept_word("bundle")) return bundle();
    if (scan_.accept_word("constant")) return constant();
    if (scan_.accept_word("operator")) return op();
    if (scan_.accept_word("explore")) return explore();
    if (scan_.accept_word("let")) return {};
    return fail("expected 'let', 'explore', 'inputs', 'bundle', 'constant' or 'operator'");
  }

 private:
  Result<std::string> name() {
    ISOMER_CHECK(scan_.expect("?"));
    return scan_.identifier();
  }

  bool known(const std::string& name) const {
    return std::ranges::any_of(universe_.inputs, [&](const UniverseInput& input) { return input.name == name; });
  }

  size_t next_group() const { return universe_.inputs.empty() ? 0 : universe_.inputs.back().group + 1; }

  Status explore() {
    ISOMER_TRY(const int64_t size, scan_.integer());
    if (size < 1 || size > kMaxExplored) return fail("graphs have 1 to {} operators", kMaxExplored);
    universe_.explore = static_cast<size_t>(size);
    return {};
  }

  Result<std::vector<std::string>> names() {
    std::vector<std::string> out;
    do {
      ISOMER_TRY(std::string next, name());
      out.push_back(std::move(next));
    } while (scan_.peek() == '?');
    return out;
  }

  Result<Ints> extents() {
    Ints dims;
    ISOMER_CHECK(scan_.expect("["));
    while (!scan_.accept("]")) {
      if (!dims.empty()) ISOMER_CHECK(scan_.expect(","));
      ISOMER_TRY(const int64_t dim, scan_.integer());
      if (dim < 1) return fail("an extent of {}", dim);
      dims.push_back(dim);
    }
    return dims;
  }

  Status add_inputs(const std::vector<std::string>& names, const Ints& dims) {
    const size_t group = next_group();
    for (const std::string& each : names) {
      if (known(each)) return fail("a second input is called '{}'", each);
      universe_.inputs.push_back({each, dims, group});
    }
    return {};
  }

  Status inputs() {
    ISOMER_TRY(const auto called, names());
    ISOMER_TRY(const Ints dims, extents());
    return add_inputs(called, dims);
  }

  Status bundle() {
    ISOMER_TRY(const auto called, names());
    Bundle out;
    int64_t columns = 0;
    while (!scan_.at_end()) {
      ISOMER_TRY(std::string part, scan_.identifier());
      ISOMER_TRY(Ints dims, extents());
      if (dims.empty()) return fail("part '{}' has no extents", part);
      int64_t elements = 1;
      for (size_t axis = 1; axis < dims.size(); ++axis) elements *= dims[axis];
      out.parts.push_back({std::move(part), std::move(dims), columns, columns + elements});
      columns += elements;
    }
    if (out.parts.empty()) return fail("a bundle has parts");
    for (const Bundle::Part& part : out.parts)
      if (part.dims[0] != out.parts[0].dims[0]) return fail("the parts of a bundle have equal first extents");
    const Ints dims{out.parts[0].dims[0], columns};
    universe_.bundles.push_back(std::move(out));
    return add_inputs(called, dims);
  }

  /// Replaces `?p.kernel` by the term that takes the kernel out of ?p.
  std::string with_parts(std::string text) const {
    for (const Bundle& bundle : universe_.bundles) {
      for (const Bundle::Part& each : bundle.parts) {
        for (size_t dot = text.find('.' + each.name); dot != std::string::npos;
             dot = text.find('.' + each.name, dot + 1)) {
          const size_t end = dot + 1 + each.name.size();
          const size_t begin = text.rfind('?', dot);
          const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
          if (begin == std::string::npos || (end < text.size() && is_word(text[end])) ||
              !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                           text.begin() + static_cast<std::ptrdiff_t>(dot), is_word))
            continue;
          const std::string name = text.substr(begin + 1, dot - begin - 1);
          text.replace(begin, end - begin, print_term(taken(each, variable_term(name))));
        }
      }
    }
    return text;
  }

  /// Returns the bundle that an operator makes, if it names the parts of one; removes the names from the text.
  const Bundle* made(std::string& text) const {
    for (const Bundle& bundle : universe_.bundles) {
      if (!text.starts_with(bundle.parts[0].name + ":")) continue;
      for (const Bundle::Part& each : bundle.parts) {
        const size_t at = text.find(each.name + ":");
        if (at != std::string::npos) text.erase(at, each.name.size() + 1);
      }
      return &bundle;
    }
    return nullptr;
  }

  Status constant() {
    const size_t group = next_group();
    ISOMER_TRY(std::string given, name());
    ISOMER_TRY(Rule pattern, parse_pattern(scan_.raw_until("\n")));
    std::vector<std::string> variables;
    for (const Term& term : pattern.sources) collect_variables(term, variables);
    if (pattern.sources.size() != 1 || !variables.empty()) return fail("a constant is one term without variables");
    if (known(given)) return fail("a second input is called '{}'", given);
    universe_.inputs.push_back({std::move(given), {}, group, std::move(pattern.sources[0])});
    return {};
  }

  /// All operators of a line: one for each choice of numbers.
  Status op() {
    std::vector<Sizes> names;
    size_t choices = 1;
    while (scan_.accept_word("for")) {
      ISOMER_TRY(const std::string name, scan_.identifier());
      if (!scan_.accept_word("in")) return fail("expected 'in' after 'for {}'", name);
      ISOMER_TRY(auto numbers, read_integers(scan_));
      if (std::isupper(static_cast<unsigned char>(name[0])) == 0)
        return fail("'{}' after 'for': a name with a capital letter is expected, since no attribute has one", name);
      choices *= numbers.size();
      if (choices >= TermCode::kInput) return fail("a universe has at most {} operators", TermCode::kInput - 1);
      names.push_back({{name, std::move(numbers)}});
    }
    std::vector<std::string> texts{scan_.raw_until("\n")};
    for (const Sizes& each : names) {
      std::vector<std::string> chosen;
      for (const std::string& text : texts) {
        if (with_numbers(text, each, 0) == text) return fail("the operator does not say '{}'", each.begin()->first);
        for (size_t i = 0; i < each.begin()->second.size(); ++i) chosen.push_back(with_numbers(text, each, i));
      }
      texts = std::move(chosen);
    }
    for (std::string& text : texts) ISOMER_CHECK(one_op(std::move(text)));
    return {};
  }

  Status one_op(std::string text) {
    UniverseOp out;
    const Bundle* bundle = made(text);
    ISOMER_TRY(Rule pattern, parse_pattern(with_parts(std::move(text))));
    out.results = std::move(pattern.sources);
    if (bundle != nullptr) {
      if (out.results.size() != bundle->parts.size()) return fail("an operator gives all parts of a bundle, in order");
      out.parts = out.results;
      for (Term& term : out.parts) fold(term);
      out.results = {joined(std::move(out.results), *bundle)};
    }
    out.conditions = std::move(pattern.conditions);
    for (Term& term : out.results) {
      fold(term);
      collect_variables(term, out.operands);
    }
    if (out.operands.empty() || out.operands.size() > 2) return fail("an operator has one or two operands");
    const Term& root = out.results[0];
    const auto plain = [](const Term& operand) { return operand.kind == Term::Kind::Value; };
    out.commutative = out.results.size() == 1 && root.op->commutative && out.operands.size() == 2 &&
                      root.operands.size() == 2 && std::ranges::all_of(root.operands, plain) &&
                      symmetric(out.conditions);
    universe_.ops.push_back(std::move(out));
    return {};
  }

  static constexpr int64_t kMaxExplored = 5;
  Scanner scan_;
  Universe& universe_;
};

/// Calls `visit` with every line; an error gets the line's number.
Status for_each_line(std::string_view text, const std::function<Status(std::string_view)>& visit) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const Status status = visit(text.substr(0, end)); !status)
      return fail("line {}: {}", number, status.error().message);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Result<Sizes> parse_sizes(std::string_view text) {
  Sizes out;
  const auto read = [&](std::string_view line) -> Status {
    Scanner scan(line);
    if (!scan.accept_word("let")) return {};
    ISOMER_TRY(const std::string name, scan.identifier());
    ISOMER_CHECK(scan.expect("="));
    ISOMER_TRY(auto numbers, read_integers(scan));
    out[name] = std::move(numbers);
    if (out[name].size() != out.begin()->second.size() || out[name].size() != out.rbegin()->second.size())
      return fail("every size has the same number of variants");
    return {};
  };
  ISOMER_CHECK(for_each_line(text, read));
  return out;
}

}  // namespace

std::optional<PartId> part_taken(const Universe& universe, const Term& term) {
  const auto cuts = [&](const Bundle::Part& part) {
    Term bundle = term.operands[0].operands[0];
    return taken(part, std::move(bundle)) == term;
  };
  if (term.kind != Term::Kind::Apply || term.op->name != "Reshape" || term.operands[0].kind != Term::Kind::Apply ||
      term.operands[0].op->name != "Slice" || term.operands[0].operands[0].kind != Term::Kind::Value)
    return std::nullopt;
  for (size_t i = 0; i < universe.bundles.size(); ++i)
    for (size_t k = 0; k < universe.bundles[i].parts.size(); ++k)
      if (cuts(universe.bundles[i].parts[k])) return PartId{i, k};
  return std::nullopt;
}

Result<size_t> universe_variants(std::string_view text) {
  ISOMER_TRY(const Sizes sizes, parse_sizes(text));
  return sizes.empty() ? 1 : sizes.begin()->second.size();
}

Result<Universe> parse_universe(std::string_view text, size_t variant) {
  ISOMER_TRY(const Sizes sizes, parse_sizes(text));
  Universe out;
  ISOMER_CHECK(for_each_line(text, [&](std::string_view line) {
    const std::string concrete = with_numbers(line, sizes, variant);
    return LineParser(concrete, out).parse();
  }));
  if (out.inputs.empty() || out.ops.empty()) return fail("a universe needs inputs and operators");
  return out;
}

}  // namespace isomer
