#include "isomer/discover/discover.h"

#include <algorithm>

#include "isomer/base/parallel.h"

namespace isomer {
namespace {

// Inputs on which an equality is tried again. A scalar has one sign, so that relu(s) = s holds on every other seed.
constexpr uint64_t kFresh[] = {101, 102, 103};
constexpr size_t kManyFresh = 40;

std::vector<uint64_t> many_seeds() {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < kManyFresh; ++i) out.push_back(200 + i);
  return out;
}

/// A pair with its pair_key; an empty key: it does not count.
struct Keyed {
  std::string key;
  TermPair pair;
};

/// What one thread evaluates pairs with, in each variant.
struct Bench {
  std::vector<TermBank> banks;
  std::vector<PairContext> variants;
};

/// The stages behind the enumeration.
class Pruning {
 public:
  Pruning(std::span<const Universe> variants, const TermBank& bank, const DiscoverOptions& options)
      : universe_(variants[0]), bank_(bank), options_(options), kinds_(variants) {}

  Status prepare(std::span<const Universe> variants) {
    for (int t = 0; t < options_.enumerate.threads; ++t) {
      Bench& bench = benches_.emplace_back();
      for (const Universe& variant : variants) {
        ISOMER_TRY(TermBank made, TermBank::make(variant));
        bench.banks.push_back(std::move(made));
      }
      for (size_t v = 0; v < variants.size(); ++v) bench.variants.push_back({bench.banks[v].types(), kinds_, v});
    }
    return {};
  }

  /// Pairs that hold on fresh inputs of every variant, distinct up to the names of inputs.
  std::vector<TermPair> confirm(const std::vector<EqualTerms>& equal, uint64_t& confirmed) {
    std::vector<Keyed> keyed(equal.size());
    for_each(equal.size(), [&](size_t i, Bench& bench) {
      TermPair pair = expand(bank_, equal[i]);
      const auto in = [&](const PairContext& variant) { return holds(pair, variant, kFresh); };
      if (std::ranges::all_of(bench.variants, in)) keyed[i] = {pair_key(pair, universe_), std::move(pair)};
    });
    confirmed = static_cast<uint64_t>(std::ranges::count_if(keyed, [](const Keyed& x) { return !x.key.empty(); }));
    return distinct(std::move(keyed));
  }

  /// The pairs without common subgraphs, distinct again.
  std::vector<TermPair> generalize(std::vector<TermPair> pairs) {
    const std::vector<uint64_t> seeds = many_seeds();
    std::vector<Keyed> keyed(pairs.size());
    for_each(pairs.size(), [&](size_t i, Bench& bench) {
      TermPair lean = without_common_subgraphs(std::move(pairs[i]), bench.variants, kinds_);
      if (holds(lean, bench.variants[0], seeds)) keyed[i].pair = std::move(lean);
    });
    // The threads met kinds in any order.
    const std::vector<KindId> order = kinds_.sort();
    for (Keyed& each : keyed) {
      for (PairNode& node : each.pair.nodes) node.input = order[node.input];
      if (!each.pair.nodes.empty()) each.key = pair_key(each.pair, universe_);
    }
    return distinct(std::move(keyed));
  }

  /// The pairs that no earlier ones imply. Many are tried at once: what a part of the earlier ones implies, all do.
  std::vector<TermPair> independent(std::vector<TermPair> pairs) {
    constexpr size_t kBatch = 256;
    EqualityBase base(universe_);
    std::vector<TermPair> out;
    for (size_t begin = 0; begin < pairs.size(); begin += kBatch) {
      const size_t size = std::min(kBatch, pairs.size() - begin);
      std::vector<char> implied(size, 0);
      for_each(size, [&](size_t i, Bench& bench) { implied[i] = derives(base, pairs[begin + i], bench) ? 1 : 0; });
      const size_t known = base.size();
      for (size_t i = 0; i < size; ++i) {
        TermPair& pair = pairs[begin + i];
        if (implied[i] != 0 || (base.size() > known && derives(base, pair, benches_[0]))) continue;
        base.add(pair);
        out.push_back(std::move(pair));
      }
    }
    return out;
  }

  /// The rules that equalities give.
  std::vector<DiscoveredRule> rules(const std::vector<TermPair>& pairs, std::span<const Universe> universes) {
    std::vector<std::vector<DiscoveredRule>> made(pairs.size());
    parallel_for(pairs.size(), options_.enumerate.threads, 1, [&](size_t i, size_t thread) {
      made[i] = rules_of(pairs[i], universes, benches_[thread].variants, options_.rules);
    });
    std::vector<DiscoveredRule> out;
    for (auto& each : made) std::ranges::move(each, std::back_inserter(out));
    return out;
  }

 private:
  template <class Work>
  void for_each(size_t n, const Work& work) {
    parallel_for(n, options_.enumerate.threads, 16, [&](size_t i, size_t thread) { work(i, benches_[thread]); });
  }

  bool derives(const EqualityBase& base, const TermPair& pair, Bench& bench) const {
    return base.derives(pair, bench.variants[0], options_.saturation);
  }

  /// One pair of each key, from simple to complex: fewer operators, as trees, then more inputs (more general), then by
  /// key.
  static std::vector<TermPair> distinct(std::vector<Keyed> keyed) {
    struct Ranked {
      size_t operators;
      size_t inputs;
      Keyed* keyed;
    };
    std::vector<Ranked> order;
    for (Keyed& each : keyed) {
      const TermPair& pair = each.pair;
      if (!each.key.empty())
        order.push_back({pair.tree_size(pair.left) + pair.tree_size(pair.right), pair.num_inputs(), &each});
    }
    std::ranges::stable_sort(order, [](const Ranked& x, const Ranked& y) {
      return std::tie(x.operators, y.inputs, x.keyed->key) < std::tie(y.operators, x.inputs, y.keyed->key);
    });
    std::vector<TermPair> out;
    const std::string* last = nullptr;
    for (const Ranked& each : order) {
      if (last == nullptr || *last != each.keyed->key) out.push_back(std::move(each.keyed->pair));
      last = &each.keyed->key;
    }
    return out;
  }

  const Universe& universe_;
  const TermBank& bank_;
  DiscoverOptions options_;
  InputKinds kinds_;
  std::vector<Bench> benches_;
};

}  // namespace

Result<Discovery> discover(std::span<const Universe> variants, const DiscoverOptions& options) {
  const auto tell = [&](const std::string& text) {
    if (options.progress) options.progress(text);
  };
  ISOMER_TRY(TermBank bank, TermBank::make(variants[0]));
  Enumeration enumeration(bank, options.enumerate);
  tell(fmt::format("enumerating graphs of up to {} operators", options.enumerate.max_nodes));
  enumeration.run();
  ISOMER_CHECK(bank.types().status());
  Pruning pruning(variants, bank, options);
  ISOMER_CHECK(pruning.prepare(variants));
  Discovery out;
  out.counts.enumerated = enumeration.counts();
  out.counts.equal = enumeration.equal().size();
  tell(fmt::format("trying {} equalities on other inputs", out.counts.equal));
  std::vector<TermPair> pairs = pruning.confirm(enumeration.equal(), out.counts.confirmed);
  out.counts.renamed = pairs.size();
  tell(fmt::format("taking common subgraphs out of {} equalities", pairs.size()));
  pairs = pruning.generalize(std::move(pairs));
  out.counts.general = pairs.size();
  tell(fmt::format("looking for the independent ones of {} equalities", pairs.size()));
  out.equalities = pruning.independent(std::move(pairs));
  out.counts.needed = out.equalities.size();
  if (!options.make_rules) return out;
  tell(fmt::format("making rules of {} equalities", out.equalities.size()));
  out.rules = pruning.rules(out.equalities, variants);
  out.counts.rules = out.rules.size();
  return out;
}

}  // namespace isomer
