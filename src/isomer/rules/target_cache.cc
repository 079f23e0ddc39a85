#include "isomer/rules/target_cache.h"

#include <bit>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

/// A target takes about a kilobyte.
constexpr size_t kMaxKnown = 50000;

/// A hash of all that a target depends on.
class MatchKey {
 public:
  /// Rules are told apart by their addresses: a key is never stored for longer than they live.
  MatchKey(const Graph& graph, const Match& match) : graph_(graph), hash_(reinterpret_cast<uintptr_t>(match.rule)) {
    for (const auto& [name, value] : match.binding.values) {
      mix(hash_text(name));
      add(value);
    }
    for (const auto& [name, values] : match.binding.sequences) {
      mix(hash_text(name));
      mix(values.size());
      for (const ValueId value : values) add(value);
    }
    for (const auto& [name, value] : match.binding.attrs) {
      mix(hash_text(name));
      add(value);
    }
    for (const auto& [name, attrs] : match.binding.records) {
      mix(hash_text(name));
      mix(attrs.hash());
    }
    mix(match.roots.size());
    for (const ValueId root : match.roots) mix(graph.type(root).hash());
  }

  /// Nothing if there is no key for such a match.
  std::optional<uint64_t> hash() const { return valid_ ? std::optional(hash_) : std::nullopt; }

 private:
  void mix(uint64_t value) { hash_ = hash_mix(hash_, value); }

  void add(ValueId value) {
    size_t first = 0;  // place with this value
    while (first < values_.size() && values_[first] != value) ++first;
    mix(first);
    values_.push_back(value);
    if (value == kNoValue || first + 1 < values_.size()) return mix(value == kNoValue ? 1 : 2);
    mix(graph_.type(value).hash());
    const Node& producer = graph_.producer_node(value);
    mix(producer.is_constant() ? producer.attrs.hash() : 3);
  }

  void add(const ExprValue& value) {
    mix(value.index());
    if (const bool* known = std::get_if<bool>(&value)) return mix(*known ? 1 : 0);
    if (const Dim* dim = std::get_if<Dim>(&value)) return mix(dim->hash());
    if (const double* real = std::get_if<double>(&value)) return mix(std::bit_cast<uint64_t>(*real));
    if (const std::string* text = std::get_if<std::string>(&value)) return mix(hash_text(*text));
    if (const Tensor* tensor = std::get_if<Tensor>(&value)) return mix(tensor->hash());
    if (const Dims* dims = std::get_if<Dims>(&value)) {
      mix(dims->size());
      for (const Dim& dim : *dims) mix(dim.hash());
      return;
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&value))
      return mix(hash_bytes(reals->data(), reals->size() * sizeof(double)));
    valid_ = false;  // a reference to a value
  }

  const Graph& graph_;
  uint64_t hash_;
  bool valid_ = true;
  std::vector<ValueId> values_ = {};  // bound so far
};

}  // namespace

std::shared_ptr<const MatchTarget> TargetCache::of(const Graph& graph, const Match& match) {
  if (match.target) return match.target;
  const auto key = MatchKey(graph, match).hash();
  if (!key) return target_of(graph, match);
  if (const auto known = known_.find(*key); known != known_.end()) return known->second;
  if (known_.size() == kMaxKnown) known_.clear();
  return known_.emplace(*key, target_of(graph, match)).first->second;
}

}  // namespace isomer
