#include "isomer/check/representatives.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "isomer/check/bounds_ladder.h"
#include "isomer/check/features.h"
#include "isomer/rules/match.h"
#include "isomer/rules/rewrite.h"

namespace isomer {
namespace {

constexpr uint64_t kWeightSeed = 3;
constexpr size_t kMaxRank = 4;

struct Candidate {
  Instance instance;
  Features shows;
};

bool counts_from_the_back(const Features& features) {
  return std::ranges::any_of(features, [](const std::string& feature) { return feature.ends_with("< 0"); });
}

/// Returns the features of an instance other than its attributes: its rank, its size, and the number of distinct
/// extents.
Features shown_by(const Instance& instance) {
  Features out = features_of(instance);
  out.insert(fmt::format("rank {}", instance.max_rank()));
  out.insert(fmt::format("{} values", instance.values.size()));
  std::set<int64_t> extents;
  for (const Instance::Value& value : instance.values)
    if (value.kind != Instance::Value::Kind::Result)
      for (const Dim& dim : *value.type.shape)
        if (!dim.is(1)) extents.insert(dim.value());
  for (size_t n = 1; n <= extents.size(); ++n) out.insert(fmt::format("{} extents", n));
  return out;
}

/// A source of candidates: all instances within bounds, as far as the steps allow, or random parts of them.
struct Pool {
  InstanceBounds bounds;
  size_t draws;  // 0: no random part
  size_t steps;
  size_t max;  // of one draw
};

std::vector<Pool> pools() {
  return {{{.extents = {2, 3}, .max_sequence = 2, .max_non_default = 1}, 0, 1500, 60},
          {{.extents = {2, 3, 5}, .max_sequence = 3, .max_non_default = 1}, 6, 300, 4},
          {{.extents = {2, 4}, .max_sequence = 2, .max_non_default = 3}, 4, 300, 4}};
}

/// For rules with few instances: those within the bounds of the checker, the first ones and some at random.
std::vector<std::vector<Pool>> thorough_pools(const Rule& rule) {
  std::vector<std::vector<Pool>> out;
  for (const Ladder& ladder : ladders(rule))
    for (const InstanceBounds& bounds : ladder.rungs)
      out.push_back({Pool{bounds, 0, 60'000, 60}, Pool{bounds, 10, 10'000, 4}});
  return out;
}

std::optional<Representative> applied(const Rule& rule, const Instance& instance) {
  auto before = instance.build(kWeightSeed);
  if (!before) return std::nullopt;
  for (const Match& match : find_matches(*before, OpIndex(*before), rule, 4)) {
    auto after = apply_match(*before, match);
    if (after) return Representative{instance, *before, std::move(*after), instance.weight_names(kWeightSeed)};
  }
  return std::nullopt;
}

/// Adds candidates of one element type; with `applies`, only those to which the rule applies.
void add_candidates(const Rule& rule, DType element, const Pool& pool, bool applies, std::vector<Candidate>& out) {
  for (size_t rank = 0; rank <= kMaxRank; ++rank)
    for (size_t draw = pool.draws == 0 ? 0 : 1; draw <= pool.draws; ++draw) {
      InstanceBounds bounds = pool.bounds;
      bounds.element = element;
      bounds.rank = rank;
      bounds.sample = draw;
      size_t found = 0;
      for_each_instance(rule, bounds, pool.steps, [&](const Instance& instance) {
        if (applies && !applied(rule, instance)) return true;
        out.push_back({instance, shown_by(instance)});
        return ++found < pool.max;
      });
    }
}

/// Returns the candidate with the largest number of features that are not covered; of several, the one with the largest
/// number of features, and of these the first.
size_t best(const std::vector<Candidate>& all, const Features& covered) {
  const auto news = [&](const Candidate& candidate) {
    return static_cast<size_t>(
        std::ranges::count_if(candidate.shows, [&](const std::string& feature) { return !covered.contains(feature); }));
  };
  size_t best = 0;
  std::pair<size_t, size_t> max{0, 0};
  for (size_t i = 0; i < all.size(); ++i) {
    const std::pair<size_t, size_t> shows{news(all[i]), all[i].shows.size()};
    if (i == 0 || shows > max) {
      best = i;
      max = shows;
    }
  }
  return best;
}

/// Returns the rule at up to `count` of the candidates.
std::vector<Representative> chosen(const Rule& rule, std::vector<Candidate> all, size_t count) {
  const auto from_the_front =
      std::ranges::any_of(all, [](const Candidate& each) { return !counts_from_the_back(each.shows); });
  if (from_the_front) std::erase_if(all, [](const Candidate& each) { return counts_from_the_back(each.shows); });
  std::vector<Representative> out;
  Features covered;
  while (!all.empty() && out.size() < count) {
    const size_t next = best(all, covered);
    const Candidate candidate = std::move(all[next]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(next));
    if (out.size() > 1 && std::ranges::includes(covered, candidate.shows)) break;  // at least two, if available
    auto made = applied(rule, candidate.instance);
    if (!made) continue;
    covered.insert(candidate.shows.begin(), candidate.shows.end());
    out.push_back(std::move(*made));
  }
  return out;
}

}  // namespace

std::vector<Representative> representatives(const Rule& rule, size_t count) {
  constexpr DType kElements[] = {DType::Double, DType::Float, DType::Int64, DType::Bool};
  for (const DType element : kElements) {
    std::vector<Candidate> all;
    for (const Pool& pool : pools()) add_candidates(rule, element, pool, false, all);
    std::vector<Representative> out = chosen(rule, std::move(all), count);
    if (!out.empty()) return out;
  }
  for (const DType element : kElements)
    for (const auto& pools : thorough_pools(rule)) {
      std::vector<Candidate> all;
      for (const Pool& pool : pools) add_candidates(rule, element, pool, true, all);
      std::vector<Representative> out = chosen(rule, std::move(all), count);
      if (!out.empty()) return out;
    }
  return {};
}

std::string instance_text(const Instance& instance) {
  std::vector<std::string> parts;
  for (const Instance::Value& value : instance.values)
    if (value.kind != Instance::Value::Kind::Result && !value.name.empty())
      parts.push_back(fmt::format("?{} {}", value.name, value.type.str()));
  for (const Instance::Node& node : instance.nodes)
    for (const auto& [name, value] : node.attrs.entries()) {
      const AttrDef* def = node.op->find_attr(name);
      if (def == nullptr || !def->preset || !(*def->preset == value))
        parts.push_back(fmt::format("{} {}={}", node.op->name, name, attr_str(value)));
    }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace isomer
