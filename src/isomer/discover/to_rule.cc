#include "isomer/discover/to_rule.h"

#include <algorithm>
#include <functional>

#include "isomer/discover/rule_names.h"
#include "isomer/discover/siblings.h"
#include "isomer/discover/term_writer.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/build.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

/// A concatenation of two nodes along an axis.
struct Concatenation {
  uint32_t first;
  uint32_t second;
  int64_t axis;
};

/// A direction from which a rule is made. A side that is cut consists of the two parts of its only node, cut like
/// `pieces`.
struct Direction {
  enum class Cut : uint8_t { None, Source, Target };
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  Cut cut = Cut::None;
  Concatenation pieces = {};
};

std::optional<Concatenation> concatenation(const TermPair& pair, const Universe& universe, uint32_t node) {
  const PairNode& root = pair.nodes[node];
  if (root.kind != PairNode::Kind::Apply || root.b == PairNode::kNone || root.a == root.b) return std::nullopt;
  const UniverseOp& op = universe.ops[root.op];
  const Term& form = op.results[0];
  const auto is = [&](size_t i, const std::string& name) {
    return form.operands[i].kind == Term::Kind::Value && form.operands[i].name == name;
  };
  if (!form.op->has(Trait::Concatenation) || op.results.size() != 1 || form.operands.size() != 2 ||
      form.attrs.size() != 1)
    return std::nullopt;
  const Expr& axis = form.attrs[0].second;
  if (axis.kind != Expr::Kind::Integer || !is(0, op.operands[0]) || !is(1, op.operands[1])) return std::nullopt;
  return Concatenation{root.a, root.b, axis.integer};
}

class Directions {
 public:
  Directions(const TermPair& pair, const Universe& universe) : pair_(pair), universe_(universe) {}

  std::vector<Direction> all() {
    if (pair_.left == pair_.right) {
      if (const auto pieces = concatenation(pair_, universe_, pair_.left[0]))
        add({pair_.left, {pieces->first, pieces->second}, Direction::Cut::Source, *pieces});
      return std::move(out_);
    }
    for (const auto& [from, to] :
         {std::pair(pair_.left[0], pair_.right[0]), std::pair(pair_.right[0], pair_.left[0])}) {
      add({{from}, {to}});
      const auto pieces = concatenation(pair_, universe_, from);
      if (!pieces) continue;
      add({{pieces->first, pieces->second}, {to}, Direction::Cut::Target, *pieces});
    }
    return std::move(out_);
  }

 private:
  void add(Direction direction) {
    if (applicable(direction)) out_.push_back(std::move(direction));
  }

  /// Returns whether the source is made of operators that bind all inputs that the target reads.
  bool applicable(const Direction& direction) const {
    const bool cut = direction.cut == Direction::Cut::Source;
    for (const uint32_t root : direction.from)
      if (!cut && pair_.nodes[root].kind != PairNode::Kind::Apply) return false;
    const std::vector<bool> bound = pair_.needed(direction.from);
    const std::vector<bool> read = pair_.needed(direction.to);
    bool some = false;
    for (uint32_t i = 0; i < pair_.nodes.size(); ++i) {
      if (pair_.nodes[i].kind != PairNode::Kind::Input) continue;
      some = some || bound[i];
      if (read[i] && !bound[i]) return false;
    }
    return some;
  }

  const TermPair& pair_;
  const Universe& universe_;
  std::vector<Direction> out_;
};

/// Makes a rule of one direction.
class Attempts {
 public:
  Attempts(const TermPair& pair, const TermWriter& writer, RuleChecker& checker)
      : pair_(pair), writer_(writer), checker_(checker) {}

  /// Takes the valid attempt that applies to the largest number of small instances, since it requires least. Then
  /// generalizes it.
  std::optional<DiscoveredRule> run(const Direction& direction) {
    struct Promising {
      Rule rule;
      size_t instances;
    };
    std::vector<Promising> promising;
    SizeChoice sizes;
    const auto enough = [&] { return !promising.empty() && promising.back().instances >= kEnough; };
    for (size_t attempt = 0; attempt < kAttempts && !enough(); ++attempt) {
      sizes.restart();
      const auto rule = written(direction, sizes);
      if (!rule) break;
      for (const bool equal : {false, true}) {
        const auto narrowed = with_conditions(*rule, equal);
        if (!narrowed) continue;
        const RuleVerdict quick = checker_.quick(*narrowed);
        if (quick.verdict == Verdict::Refuted || quick.instances == 0) continue;
        promising.push_back({*narrowed, quick.instances});
        break;
      }
      if (!sizes.next()) break;
    }
    std::ranges::stable_sort(promising, std::greater<>(), &Promising::instances);
    promising.resize(std::min(promising.size(), kMaxTried));
    for (const Promising& each : promising) {
      auto found = generalize(each.rule, relaxations(each.rule), checker_);
      if (!found) continue;
      if (auto many = checked_for_any_number(found->rule)) found = std::move(many);
      found->rule = with_canonical_names(found->rule);
      return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<DiscoveredRule> checked_for_any_number(const Rule& rule) const {
    auto many = for_any_number(rule);
    if (!many) return std::nullopt;
    RuleVerdict verdict = checker_.check(*many);
    if (verdict.verdict != Verdict::Tested) return std::nullopt;
    return DiscoveredRule{std::move(*many), std::move(verdict)};
  }

  /// Sizes of the source are bound and compared in `where`, after all inputs are bound.
  std::optional<Rule> written(const Direction& direction, SizeChoice& sizes) const {
    Rule rule;
    auto sources = side(direction, true, sizes);
    if (!sources) return std::nullopt;
    for (Term& source : *sources) bind_sizes(source, rule.conditions);
    auto targets = side(direction, false, sizes);
    if (!targets) return std::nullopt;
    rule.sources = std::move(*sources);
    rule.targets = std::move(*targets);
    return rule;
  }

  std::optional<std::vector<Term>> side(const Direction& direction, bool source, SizeChoice& sizes) const {
    std::vector<Term> out;
    for (const uint32_t root : source ? direction.from : direction.to) {
      auto term = writer_.term(root, source, sizes);
      if (!term) return std::nullopt;
      out.push_back(std::move(*term));
    }
    if (direction.cut != (source ? Direction::Cut::Source : Direction::Cut::Target)) return out;
    const auto axis = static_cast<size_t>(direction.pieces.axis);
    const auto first = writer_.extent(direction.pieces.first, axis, direction.pieces.second, sizes);
    const auto second = writer_.extent(direction.pieces.second, axis, direction.pieces.first, sizes);
    if (!first || !second) return std::nullopt;
    return std::vector<Term>{apply_term(
        op("Split"), {{"axis", integer_expr(direction.pieces.axis)}, {"split", list_expr({*first, *second})}},
        std::move(out))};
  }

  static void bind_sizes(Term& source, std::vector<Expr>& conditions) {
    for_each_term(source, [&](Term& term) {
      for (auto& [name, expr] : term.attrs) {
        if (!any_expr(expr, [](const Expr& part) { return part.name == "dim"; })) continue;
        const Expr bound = variable_expr(fmt::format("n{}", conditions.size()));
        conditions.push_back(call_expr("==", {bound, std::move(expr)}));
        expr = bound;
      }
    });
  }

  /// Returns the rule for floating-point values of the ranks that were enumerated; with `equal`, also for equal shapes
  /// of interchangeable inputs. Returns nothing if there are none.
  std::optional<Rule> with_conditions(Rule rule, bool equal) const {
    const auto& all = writer_.variables();
    std::vector<size_t> variables;
    for (size_t i = 0; i < all.size(); ++i)
      if (std::ranges::any_of(rule.sources, [&](const Term& term) { return reads(term, writer_.name(i)); }))
        variables.push_back(i);
    if (variables.empty()) return std::nullopt;
    std::vector<Expr> conditions;
    conditions.reserve(2 * variables.size());
    for (const size_t i : variables) {
      const auto rank = static_cast<int64_t>(writer_.rank(all[i]));
      conditions.push_back(call_expr("==", {rank_expr(writer_.name(i)), integer_expr(rank)}));
    }
    conditions.push_back(call_expr("real", {variable_expr(writer_.name(variables[0]))}));
    bool found = false;
    for (size_t k = 1; equal && k < variables.size(); ++k) {
      const auto& here = all[variables[k]];
      const auto alike = std::ranges::find_if(variables, [&](size_t i) {
        return i == variables[k] ||
               (pair_.nodes[all[i].node].input == pair_.nodes[here.node].input && all[i].part == here.part);
      });
      if (*alike == variables[k]) continue;
      found = true;
      conditions.push_back(call_expr("==", {shape_expr(*alike), shape_expr(variables[k])}));
    }
    if (equal && !found) return std::nullopt;
    rule.conditions.insert(rule.conditions.begin(), conditions.begin(), conditions.end());
    return rule;
  }

  static bool reads(const Term& term, const std::string& name) {
    return any_term(term, [&](const Term& each) { return each.kind == Term::Kind::Value && each.name == name; });
  }
  Expr shape_expr(size_t variable) const { return call_expr("shape", {variable_expr(writer_.name(variable))}); }

  /// Number of choices of extents to try, each without and, if necessary, with equal shapes of interchangeable inputs.
  static constexpr size_t kAttempts = 16;
  static constexpr size_t kEnough = 100;  // instances: other extents would hardly require less
  static constexpr size_t kMaxTried = 2;
  const TermPair& pair_;
  const TermWriter& writer_;
  RuleChecker& checker_;
};

}  // namespace

std::vector<DiscoveredRule> rules_of(const TermPair& pair, std::span<const Universe> universes,
                                     std::span<const PairContext> variants, RuleChecker& checker) {
  std::vector<DiscoveredRule> out;
  const auto dims = dims_of(pair, variants);
  if (!dims) return out;
  const TermWriter writer(pair, universes, *dims);
  for (const Direction& direction : Directions(pair, universes[0]).all())
    if (auto rule = Attempts(pair, writer, checker).run(direction)) out.push_back(std::move(*rule));
  return out;
}

}  // namespace isomer
