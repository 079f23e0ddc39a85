#include "isomer/rules/match_target.h"

#include <boost/container/small_vector.hpp>
#include <limits>
#include <unordered_map>

#include "isomer/rules/instantiate.h"

namespace isomer {
namespace {

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// Builds the target over inputs that stand for bound values. Expressions may query the elements of bound constants.
class StandInTerms : public GraphTerms {
 public:
  StandInTerms(GraphBuilder& builder, const Graph& graph) : GraphTerms(builder), graph_(graph) {}

  /// Returns the input that stands for a value. Must not be called after nodes were made.
  ValueId stand_in(ValueId value) {
    const auto [entry, added] = inputs_.try_emplace(value, static_cast<ValueId>(originals_.size()));
    if (added) {
      originals_.push_back(value);
      builder().input(graph_.type(value));
    }
    return entry->second;
  }

  const Tensor* constant(ValueId value) const override {
    return value < originals_.size() ? graph_.constant(originals_[value]) : GraphTerms::constant(value);
  }

 private:
  const Graph& graph_;
  std::unordered_map<ValueId, ValueId> inputs_;  // only for lookups
  std::vector<ValueId> originals_;               // by input
};

/// Calls `visit` for every bound value, in a fixed order.
template <class Bound, class Visit>
void for_each_bound(Bound& binding, const Visit& visit) {
  for (auto& [name, value] : binding.values) visit(value);
  for (auto& [name, values] : binding.sequences)
    for (auto& value : values) visit(value);
}

}  // namespace

Result<Graph> MatchTarget::instantiate(const Graph& graph, const Match& match) {
  GraphBuilder builder(graph.name_table());
  StandInTerms terms(builder, graph);
  std::vector<size_t> places;
  Binding binding = match.binding;
  size_t place = 0;
  for_each_bound(binding, [&](ValueId& value) {
    if (value != kNoValue) value = terms.stand_in(value);
    if (value == places.size()) places.push_back(place);
    ++place;
  });
  const DType element = graph.type(match.roots[0]).dtype;
  ISOMER_TRY(const auto targets, instantiate_targets(terms, *match.rule, std::move(binding), element));
  if (targets.size() != match.roots.size())
    return fail("the target has {} values for {}", targets.size(), match.roots.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    const TensorType& before = graph.type(match.roots[i]);
    if (!(builder.type(targets[i]) == before))
      return fail("the target is {} where {} was", builder.type(targets[i]).str(), before.str());
  }
  Graph out = builder.finish(targets);
  for (const ValueId input : out.inputs())
    if (out.consumers(input).empty() && !out.is_output(input)) places[input] = kNowhere;
  places_ = std::move(places);
  return out;
}

std::vector<ValueId> MatchTarget::bound(const Match& match) const {
  boost::container::small_vector<ValueId, 16> all;
  for_each_bound(match.binding, [&](ValueId value) { all.push_back(value); });
  std::vector<ValueId> out;
  out.reserve(places_.size());
  for (const size_t place : places_) out.push_back(place == kNowhere ? kNoValue : all[place]);
  return out;
}

std::shared_ptr<const MatchTarget> target_of(const Graph& graph, const Match& match) {
  return match.target ? match.target : std::make_shared<const MatchTarget>(graph, match);
}

void keep_targets(const Graph& graph, std::span<Match> matches) {
  for (Match& match : matches) match.target = target_of(graph, match);
}

}  // namespace isomer
