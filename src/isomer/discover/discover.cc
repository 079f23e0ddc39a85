#include "isomer/discover/discover.h"

#include <algorithm>
#include <unordered_set>

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

/// Pairs of different keys, in the order in which they came.
class Distinct {
 public:
  explicit Distinct(const Universe& universe) : universe_(universe) {}
  void add(TermPair pair) {
    std::string key = pair_key(pair, universe_);
    if (!seen_.insert(key).second) return;
    pairs_.push_back({std::move(key), std::move(pair)});
  }
  size_t size() const { return pairs_.size(); }

  /// From simple to complex: fewer operators, as trees, then more inputs (more general), then by key.
  std::vector<TermPair> sorted() && {
    const auto rank = [](const Keyed& x) {
      const size_t size = x.pair.tree_size(x.pair.left) + x.pair.tree_size(x.pair.right);
      return std::tuple(size, std::numeric_limits<size_t>::max() - x.pair.num_inputs(), std::cref(x.key));
    };
    std::ranges::sort(pairs_, [&](const Keyed& x, const Keyed& y) {
      const auto [a, b, c] = rank(x);
      const auto [d, e, f] = rank(y);
      return std::tie(a, b, c.get()) < std::tie(d, e, f.get());
    });
    std::vector<TermPair> out;
    for (Keyed& keyed : pairs_) out.push_back(std::move(keyed.pair));
    return out;
  }

 private:
  struct Keyed {
    std::string key;
    TermPair pair;
  };
  const Universe& universe_;
  std::unordered_set<std::string> seen_;
  std::vector<Keyed> pairs_;
};

}  // namespace

Result<Discovery> discover(std::span<const Universe> variants, const DiscoverOptions& options) {
  const Universe& universe = variants[0];
  std::vector<TermBank> banks;
  for (const Universe& variant : variants) {
    ISOMER_TRY(TermBank made, TermBank::make(variant));
    banks.push_back(std::move(made));
  }
  TermBank& bank = banks[0];
  Enumeration enumeration(bank, options.enumerate);
  enumeration.run();
  Discovery out;
  out.counts.enumerated = enumeration.counts();
  out.counts.equal = enumeration.equal().size();

  const std::vector<uint64_t> seeds = many_seeds();
  Distinct renamed(universe);
  for (const EqualTerms& terms : enumeration.equal()) {
    TermPair pair = expand(bank, terms);
    const auto in_variant = [&](TermBank& other) { return holds(with_types(pair, other), other.types(), kFresh); };
    if (!std::ranges::all_of(banks, in_variant)) continue;
    ++out.counts.confirmed;
    renamed.add(std::move(pair));
  }
  out.counts.renamed = renamed.size();

  Distinct general(universe);
  for (TermPair& pair : std::move(renamed).sorted()) {
    TermPair lean = without_common_subgraphs(std::move(pair), bank.types());
    if (holds(lean, bank.types(), seeds)) general.add(std::move(lean));
  }
  out.counts.general = general.size();

  EqualityBase base(universe, bank.types());
  for (TermPair& pair : std::move(general).sorted()) {
    if (base.derives(pair, options.saturation)) continue;
    base.add(pair);
    out.equalities.push_back(std::move(pair));
  }
  out.counts.needed = out.equalities.size();
  return out;
}

}  // namespace isomer
