#include "isomer/check/bounds_ladder.h"

#include <algorithm>

#include "isomer/check/operand_shapes.h"
#include "isomer/rules/walk.h"

namespace isomer {
namespace {

constexpr size_t kAny = InstanceBounds::kAny;

struct Rung {
  Ints extents;
  size_t lengths = kAny;
  size_t non_default = kAny;
  size_t others = kAny;
  bool free_broadcasts = false;
  Ints spatial = {};
};

/// Which parts a rule's pattern has: bounds on other parts would have no effect.
struct PatternParts {
  bool sequences = false;
  bool attributes = false;
  bool divisors = false;
  bool groups = false;  // it binds a number of groups, so it may rearrange them
  bool windows = false;

  void read(const Term& term) {
    sequences = sequences || term.kind == Term::Kind::Sequence || term.repeated;
    attributes = attributes || !term.attrs.empty() || !term.rest.empty();
    for (const auto& [name, value] : term.attrs)
      groups = groups || (name == "group" && value.kind == Expr::Kind::Variable);
    if (term.op == nullptr) return;
    divisors = divisors || divides_extents(*term.op);
    windows = windows || (term.op->max_operands > 0 && term.op->role(0) == OperandRole::Image);
  }
};

Ladder ladder(const std::vector<Rung>& rungs, size_t part, const PatternParts& pattern) {
  Ladder out{{}, false, part};
  for (const Rung& rung : rungs) {
    InstanceBounds bounds{.extents = rung.extents,
                          .spatial = rung.spatial,
                          // Instances of single pixels are about channels, and there are many.
                          .plain_windows = rung.spatial == Ints{1},
                          .max_sequence = pattern.sequences ? rung.lengths : 1,
                          .max_non_default = pattern.attributes ? rung.non_default : kAny,
                          .max_others = rung.others,
                          .free_broadcasts = rung.free_broadcasts};
    if (out.rungs.empty() || !(out.rungs.back() == bounds)) out.rungs.push_back(std::move(bounds));
  }
  return out;
}

/// "<= 3" or "2 or 4".
std::string extents_text(const Ints& extents) {
  const bool all = extents.front() == 1 && extents.back() == static_cast<int64_t>(extents.size());
  return all ? fmt::format("<= {}", extents.back()) : fmt::format("{}", fmt::join(extents, " or "));
}

}  // namespace

std::vector<Ladder> ladders(const Rule& rule) {
  PatternParts pattern;
  for_each_source_term(rule, [&](const Term& term) { pattern.read(term); });
  std::vector<Ladder> out;
  out.push_back(ladder({{{1, 2, 3}, 3},
                        {{1, 2, 3}, 3, 2},
                        {{1, 2}, 3},
                        {{1, 2}, 3, 2},
                        {{1, 2}, 3, 1},
                        {{1, 2}, 2, 2},
                        {{1, 2}, 2, 1},
                        {{1, 2}, 2, 0},
                        {{1, 2}, 2, 1, 3},
                        {{1, 2}, 2, 1, 2},
                        {{1, 2}, 2, 0, 2},
                        {{1, 2}, 2, 1, 1},
                        {{1, 2}, 2, 0, 1},
                        {{2}, 2, 0, 0}},
                       1, pattern));
  if (pattern.attributes)
    out.push_back(ladder({{{1, 2}, 2, kAny, 4},
                          {{1, 2}, 2, 4, 4},
                          {{1, 2}, 2, 3, 4},
                          {{1, 2}, 2, kAny, 2},
                          {{1, 2}, 3, kAny, 1},
                          {{1, 2}, 2, kAny, 1},
                          {{2}, 2, kAny, 0, true},
                          {{2}, 2, 3, 0, true},
                          {{2}, 2, 2, 0, true},
                          {{2}, 2, kAny, 0},
                          {{2}, 2, 2, 0},
                          {{2}, 2, 1, 0}},
                         2, pattern));
  if (pattern.attributes) out.back().for_attributes = true;
  const auto add = [&](const std::vector<Rung>& rungs) { out.push_back(ladder(rungs, 2, pattern)); };
  if (pattern.divisors)
    add({{{2, 4}, 2, kAny, kAny, true},
         {{2, 4}, 2, kAny, 2, true},
         {{2, 4}, 2, kAny, 1, true},
         {{2, 4}, 2, 2, 2, true},
         {{2, 4}, 2, 1, 2, true},
         {{2, 4}, 2, 1, 1, true},
         {{2, 4}, 2, kAny, kAny, true, {1}},
         {{2, 4}, 2, 1, kAny, true, {1}},
         {{2, 4}, 2, 1, 2, true, {1}}});
  if (pattern.groups)
    add({{{2, 6, 8}, 2, 1, 3, true},
         {{2, 6, 8}, 2, 0, 3, true},
         {{2, 6, 8}, 2, 0, 2, true},
         {{2, 6, 8}, 2, 0, 3, true, {1}},
         {{2, 6, 8}, 2, 0, 2, true, {1}}});
  if (pattern.windows) {
    add({{{1, 2, 3}, 2, kAny, kAny, false, {1}},
         {{1, 2, 3}, 2, 1, kAny, false, {1}},
         {{1, 3}, 2, 1, kAny, false, {1}},
         {{1, 2}, 2, 1, kAny, false, {1}},
         {{1, 2}, 2, 0, kAny, false, {1}}});
    add({{{1}, 2, 2, kAny, false, {1, 2, 3}},
         {{1}, 2, 1, kAny, false, {1, 2, 3}},
         {{1}, 2, 2, kAny, false, {1, 2}},
         {{1}, 2, 1, kAny, false, {1, 2}},
         {{1}, 2, 2, kAny, true, {2}},
         {{1}, 2, 1, kAny, true, {2}},
         {{1}, 2, 0, kAny, false, {1, 2}}});
    add({{{0, 1, 2}, 2, 1, kAny, false, {1}}, {{0, 1, 2}, 2, 0, kAny, false, {1}}});
    out.back().patience = 8;
  }
  add({{{0, 1, 2}, 2, 0, kAny},
       {{0, 1, 2}, 2, 0, 4},
       {{0, 1, 2}, 2, 0, 3},
       {{0, 2}, 2, 1, 3, true},
       {{0, 2}, 2, 0, 3, true},
       {{0, 2}, 2, 0, 2, true},
       {{0, 2}, 2, 0, 1, true}});
  return out;
}

std::optional<ListedInstances> list_instances(const Rule& rule, const Ladder& ladder, size_t& rung, DType element,
                                              size_t rank, size_t max_instances, size_t max_steps) {
  for (; rung < ladder.rungs.size(); ++rung) {
    ListedInstances out{ladder.rungs[rung], {}};
    out.bounds.element = element;
    out.bounds.rank = rank;
    const bool all = for_each_instance(rule, out.bounds, max_steps, [&](const Instance& instance) {
      out.instances.push_back(instance);
      return out.instances.size() <= max_instances;
    });
    if (all) return out;
  }
  return std::nullopt;
}

std::string bounds_text(const InstanceBounds& bounds) {
  std::string out = "extents " + extents_text(bounds.extents);
  if (bounds.free_broadcasts) out += " but for broadcasting";
  if (!bounds.spatial.empty()) out += ", spatial " + extents_text(bounds.spatial);
  if (bounds.plain_windows) out += ", plain windows";
  if (bounds.extents.size() > 1 && bounds.max_others != kAny)
    out += fmt::format(", other than 2 <= {}", bounds.max_others);
  if (bounds.max_sequence > 1) out += fmt::format(", lengths <= {}", bounds.max_sequence);
  if (bounds.max_non_default != kAny) out += fmt::format(", odd attributes <= {}", bounds.max_non_default);
  return out;
}

}  // namespace isomer
