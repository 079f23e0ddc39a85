#include "isomer/discover/discover.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_set>

#include "isomer/base/hash.h"
#include "isomer/base/parallel.h"

namespace isomer {
namespace {

// Seeds of the inputs on which an equality is tried again. A scalar has one sign, so relu(s) = s holds for every other
// seed. If a divisor is 0, x / x is not 1.
constexpr uint64_t kFresh[] = {101, 102, 103, kSparseSeed | 104, kSparseSeed | 105};
constexpr size_t kManyFresh = 40;

/// Number of equalities that are tried at once: of millions, few remain.
constexpr size_t kChunk = size_t{1} << 16;

std::vector<uint64_t> many_seeds() {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < kManyFresh; ++i) out.push_back(200 + i);
  return out;
}

/// A pair with its pair_key; the key is empty if the pair does not hold.
struct Keyed {
  std::string key;
  TermPair pair;
};

void tell(const DiscoverOptions& options, const std::string& text) {
  if (options.progress) options.progress(text);
}

/// What one thread needs to evaluate pairs in each variant.
struct Bench {
  std::vector<TermBank> banks;
  std::vector<PairContext> variants;
};

/// The stages after the enumeration.
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

  /// Keeps those equalities that hold on fresh inputs of every variant, without common subgraphs, each once up to the
  /// names of inputs.
  void take(std::span<const EqualTerms> equal, DiscoverCounts& counts) {
    std::vector<Keyed> keyed(equal.size());
    for_each(equal.size(), [&](size_t i, Bench& bench) {
      TermPair pair = expand(bank_, equal[i]);
      const auto in = [&](const PairContext& variant) { return holds(pair, variant, kFresh); };
      if (std::ranges::all_of(bench.variants, in)) keyed[i] = {pair_key(pair, universe_), std::move(pair)};
    });
    std::erase_if(keyed, [](const Keyed& each) { return each.key.empty(); });
    counts.confirmed += keyed.size();
    std::erase_if(keyed, [&](const Keyed& each) { return !renamed_.insert(hash_text(each.key)).second; });
    counts.renamed += keyed.size();
    for_each(keyed.size(), [&](size_t i, Bench& bench) {
      TermPair lean = without_common_subgraphs(std::move(keyed[i].pair), bench.variants, kinds_);
      keyed[i] = {pair_key(lean, universe_), std::move(lean)};
    });
    std::erase_if(keyed, [&](const Keyed& each) { return !general_.insert(hash_text(each.key)).second; });
    for_each(keyed.size(), [&](size_t i, Bench& bench) {
      if (!holds(keyed[i].pair, bench.variants[0], many_)) keyed[i].key.clear();
    });
    for (Keyed& each : keyed)
      if (!each.key.empty()) pairs_.push_back(std::move(each.pair));
  }

  /// Returns the equalities that take() has kept, from simple to complex.
  std::vector<TermPair> general() {
    // The order in which threads met kinds is random.
    const std::vector<KindId> order = kinds_.sort();
    std::vector<Keyed> keyed(pairs_.size());
    for (size_t i = 0; i < pairs_.size(); ++i) {
      for (PairNode& node : pairs_[i].nodes) node.input = order[node.input];
      keyed[i] = {pair_key(pairs_[i], universe_), std::move(pairs_[i])};
    }
    return sorted(std::move(keyed));
  }

  /// Returns the pairs that no earlier ones imply. Many are tried at once: what some of the earlier ones imply, all of
  /// them imply.
  std::vector<TermPair> independent(std::vector<TermPair> pairs) {
    constexpr size_t kBatch = 256;
    EqualityBase base(universe_);
    std::vector<TermPair> out;
    for (size_t begin = 0; begin < pairs.size(); begin += kBatch) {
      const size_t size = std::min(kBatch, pairs.size() - begin);
      tell(options_,
           fmt::format("looking for independent equalities: {} of {}, {} found", begin, pairs.size(), out.size()));
      std::vector<char> implied(size, 0);
      for_each(size,
               [&](size_t i, Bench& bench) { implied[i] = base.derives(pairs[begin + i], bench.variants[0]) ? 1 : 0; });
      const size_t known = base.size();
      for (size_t i = 0; i < size; ++i) {
        TermPair& pair = pairs[begin + i];
        if (implied[i] != 0 || (base.size() > known && base.derives(pair, benches_[0].variants[0]))) continue;
        base.add(pair);
        out.push_back(std::move(pair));
      }
    }
    return out;
  }

  /// Converts equalities to rules.
  std::vector<DiscoveredRule> rules(std::vector<TermPair> pairs, std::span<const Universe> universes) {
    for (TermPair& concatenation : concatenations()) pairs.push_back(std::move(concatenation));
    RuleChecker checker;
    std::vector<std::vector<DiscoveredRule>> made(pairs.size());
    std::mutex telling;
    size_t done = 0;
    const auto tell_done = [&] {
      tell(options_, fmt::format("making rules: {} of {} equalities", done, pairs.size()));
    };
    tell_done();
    parallel_for(pairs.size(), options_.enumerate.threads, 1, [&](size_t i, size_t thread) {
      made[i] = rules_of(pairs[i], universes, benches_[thread].variants, checker);
      const std::lock_guard lock(telling);
      ++done;
      tell_done();
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

  /// Returns each concatenation of two inputs, paired with itself.
  std::vector<TermPair> concatenations() const {
    std::vector<TermPair> out;
    for (uint32_t op = 0; op < universe_.ops.size(); ++op)
      if (universe_.ops[op].results[0].op->has(Trait::Concatenation))
        out.push_back({{{}, {}, {.kind = PairNode::Kind::Apply, .op = op, .a = 0, .b = 1}}, {2}, {2}});
    return out;
  }

  /// Sorts from simple to complex: fewer operators, as trees, then more inputs (more general), then by key.
  static std::vector<TermPair> sorted(std::vector<Keyed> keyed) {
    struct Ranked {
      size_t operators;
      size_t inputs;
      Keyed* keyed;
    };
    std::vector<Ranked> order;
    for (Keyed& each : keyed) {
      const TermPair& pair = each.pair;
      order.push_back({pair.tree_size(pair.left) + pair.tree_size(pair.right), pair.num_inputs(), &each});
    }
    std::ranges::sort(order, [](const Ranked& x, const Ranked& y) {
      return std::tie(x.operators, y.inputs, x.keyed->key) < std::tie(y.operators, x.inputs, y.keyed->key);
    });
    std::vector<TermPair> out;
    out.reserve(order.size());
    for (const Ranked& each : order) out.push_back(std::move(each.keyed->pair));
    return out;
  }

  const Universe& universe_;
  const TermBank& bank_;
  DiscoverOptions options_;
  InputKinds kinds_;
  std::vector<Bench> benches_;
  const std::vector<uint64_t> many_ = many_seeds();
  std::unordered_set<uint64_t> renamed_;  // hashes of the keys in take() before common subgraphs were removed
  std::unordered_set<uint64_t> general_;  // and after that
  std::vector<TermPair> pairs_;
};

}  // namespace

Result<Discovery> discover(std::span<const Universe> variants, const DiscoverOptions& options) {
  ISOMER_TRY(TermBank bank, TermBank::make(variants[0]));
  EnumerateOptions enumerate = options.enumerate;
  enumerate.progress = options.progress;
  Enumeration enumeration(bank, enumerate);
  enumeration.run();
  ISOMER_CHECK(bank.types().status());
  ISOMER_CHECK(bank.types().check_all_apply());
  Pruning pruning(variants, bank, options);
  ISOMER_CHECK(pruning.prepare(variants));
  Discovery out;
  out.counts.enumerated = enumeration.counts();
  out.counts.equal = enumeration.equal().size();
  const std::vector<EqualTerms>& equal = enumeration.equal();
  for (size_t begin = 0; begin < equal.size(); begin += kChunk) {
    tell(options, fmt::format("trying equalities on other inputs: {} of {}", begin, equal.size()));
    pruning.take(std::span(equal).subspan(begin, std::min(kChunk, equal.size() - begin)), out.counts);
  }
  std::vector<TermPair> pairs = pruning.general();
  out.counts.general = pairs.size();
  out.equalities = pruning.independent(std::move(pairs));
  out.counts.needed = out.equalities.size();
  if (!options.make_rules) return out;
  out.rules = pruning.rules(out.equalities, variants);
  out.counts.rules = out.rules.size();
  return out;
}

}  // namespace isomer
