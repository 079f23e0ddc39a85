#include "isomer/discover/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "isomer/discover/builtin.h"
#include "isomer/discover/term_pair.h"

namespace isomer {
namespace {

struct Enumerated {
  TermBank bank;
  std::vector<EqualTerms> equal;
  EnumerateCounts counts;
};

Enumerated enumerated(const Universe& universe, const EnumerateOptions& options) {
  TermBank bank = TermBank::make(universe).value();
  Enumeration enumeration(bank, options);
  enumeration.run();
  return {std::move(bank), enumeration.equal(), enumeration.counts()};
}

/// A term of the brute-force enumeration: its nodes as text, and its value.
struct Brute {
  TypeId type;
  std::vector<Fp> value;
  std::string text;
  std::set<std::string> nodes;
};

/// Applies every operator to all terms, up to `max_nodes` nodes; returns the smallest number of nodes by value.
std::map<std::pair<TypeId, std::vector<uint64_t>>, size_t> brute_force(const Universe& universe, TermBank& bank,
                                                                       size_t max_nodes) {
  std::vector<Brute> terms;
  std::vector<Fp> scratch;
  for (TermId i = 0; i < universe.inputs.size(); ++i) {
    const Fp* value = bank.value(i, scratch);
    const TypeId type = bank.at(i).type;
    terms.push_back({type, {value, value + bank.types().elements(type)}, universe.inputs[i].name, {}});
  }
  std::set<std::string> seen;
  for (size_t round = 0; round < max_nodes; ++round) {
    const std::vector<Brute> known = terms;
    const auto apply = [&](uint32_t op, const Brute& a, const Brute* b) {
      std::set<std::string> nodes = a.nodes;
      if (b != nullptr) nodes.insert(b->nodes.begin(), b->nodes.end());
      const std::string node = fmt::format("{}({},{})", op, a.text, b != nullptr ? b->text : "");
      nodes.insert(node);
      if (nodes.size() > max_nodes) return;
      const TypeTable::Entry& entry = bank.types().at(op, a.type, b != nullptr ? b->type : TypeId{0});
      for (size_t r = 0; r < entry.maps.size(); ++r) {
        const std::string text = fmt::format("{}.{}", node, r);
        if (!seen.insert(text).second) continue;
        std::vector<Fp> value(entry.maps[r].elements());
        entry.maps[r].run(a.value.data(), b != nullptr ? b->value.data() : nullptr, value.data());
        terms.push_back({entry.types[r], std::move(value), text, nodes});
      }
    };
    for (uint32_t op = 0; op < universe.ops.size(); ++op) {
      for (const Brute& a : known) {
        if (universe.ops[op].operands.size() == 1) apply(op, a, nullptr);
        for (size_t j = 0; universe.ops[op].operands.size() == 2 && j < known.size(); ++j) apply(op, a, &known[j]);
      }
    }
  }
  std::map<std::pair<TypeId, std::vector<uint64_t>>, size_t> least;
  for (const Brute& term : terms) {
    std::vector<uint64_t> residues;
    for (const Fp x : term.value) residues.push_back(x.residue());
    const auto [place, fresh] = least.try_emplace({term.type, residues}, term.nodes.size());
    if (!fresh) place->second = std::min(place->second, term.nodes.size());
  }
  return least;
}

constexpr const char* kTiny = R"(
inputs ?a ?b [2, 2]
operator (Add ?x ?y) where shape(?x) == shape(?y)
operator (MatMul ?x ?y)
operator (Relu ?x)
operator (Concat axis=0 ?x ?y)
operator (Slice axes=[0] starts=[0] ends=[2] steps=[1] ?x), (Slice axes=[0] starts=[2] ends=[4] steps=[1] ?x) where dim(?x, 0) == 4
)";

TEST(Enumerate, FindsTheValuesThatBruteForceFinds) {
  const Universe universe = parse_universe(kTiny).value();
  for (size_t max_nodes = 1; max_nodes <= 3; ++max_nodes) {
    Enumerated found = enumerated(universe, {.max_nodes = max_nodes});
    const auto expected = brute_force(universe, found.bank, max_nodes);
    std::vector<uint64_t> by_size(max_nodes + 1, 0);
    for (const auto& [value, nodes] : expected) ++by_size[nodes];
    EXPECT_EQ(found.counts.values, by_size) << max_nodes << " nodes";
  }
}

TEST(Enumerate, GivesTheSameAtAnyNumberOfThreadsAndPasses) {
  const Universe universe = load_universe("matrix").value()[0];
  const Enumerated one = enumerated(universe, {.max_nodes = 3, .threads = 1});
  const Enumerated three = enumerated(universe, {.max_nodes = 3, .threads = 3});
  const Enumerated passes = enumerated(universe, {.max_nodes = 3, .threads = 2, .passes = 3});
  const auto terms = [](const Enumerated& run) {
    std::vector<std::pair<TermCode, TermCode>> out;
    for (const EqualTerms& equal : run.equal) out.emplace_back(equal.term, equal.first);
    return out;
  };
  EXPECT_EQ(terms(one), terms(three));
  EXPECT_EQ(one.counts.values, three.counts.values);
  EXPECT_EQ(one.counts.terms, passes.counts.terms);
  auto sorted = terms(one);
  auto by_pass = terms(passes);
  std::ranges::sort(sorted);
  std::ranges::sort(by_pass);
  EXPECT_EQ(sorted, by_pass);
}

// Each output of a graph is a term, so an equality of graphs with two outputs follows from equalities of terms. A rule
// needs both outputs only where one reads an input on which its value does not depend, for the other to bind it.
TEST(Enumerate, OnlyResultsOfSplitsReadAnInputInVain) {
  constexpr uint64_t kSeeds[] = {21, 22, 23, 24, 25, 26, 27, 28};
  // The bank has the terms with up to max_nodes - 1 operators.
  for (const auto& [name, max_nodes] : {std::pair("matrix", 4), std::pair("convolution", 3), std::pair("taso", 3)}) {
    const Universe universe = load_universe(name).value()[0];
    TermBank bank = enumerated(universe, {.max_nodes = static_cast<size_t>(max_nodes)}).bank;
    const InputKinds kinds(std::span(&universe, 1));
    const PairContext context{bank.types(), kinds};
    const auto reads_in_vain = [&](TermId id) {
      const InputOrder needed = bank.at(bank.at(id).first).inputs;
      const InputOrder read = bank.at(id).inputs;
      for (size_t i = 0; i < read.size(); ++i)
        if (!needed.has(read.at(i))) return true;
      return false;
    };
    size_t found = 0;
    for (TermId id = 0; id < bank.size(); ++id) {
      const TermCode code = bank.at(id).code;
      if (code.is_input() || !reads_in_vain(id)) continue;
      if (reads_in_vain(code.a()) || (code.is_binary() && reads_in_vain(code.b()))) continue;
      const TermPair pair = expand(bank, {code, bank.at(bank.at(id).first).code});
      if (!holds(pair, context, kSeeds)) continue;  // relu(s * t) = relu(s * u) for some scalars
      EXPECT_EQ(universe.ops[code.op()].results.size(), 2U) << pair_text(pair, universe);
      ++found;
    }
    EXPECT_GT(found, 0U) << name;
  }
}

TEST(Enumerate, TellsAnOperatorThatTakesNothing) {
  const Universe universe = parse_universe(std::string(kTiny) + "operator (Sigmoid ?x) where rank(?x) == 7\n").value();
  TermBank bank = TermBank::make(universe).value();
  EXPECT_FALSE(bank.types().check_all_apply().has_value());
  const Universe whole = parse_universe(kTiny).value();
  TermBank tiny = TermBank::make(whole).value();
  EXPECT_TRUE(tiny.types().check_all_apply().has_value()) << "a split takes what a concatenation gives";
}

TEST(Enumerate, RefusesAUniverseThatIsTooLarge) {
  std::string text = "inputs";
  for (int i = 0; i < 32; ++i) text += fmt::format(" ?x{}", i);
  EXPECT_FALSE(TermBank::make(parse_universe(text + " [2]\noperator (Relu ?x)").value()).has_value());
}

TEST(InputOrder, JoinsByFirstOccurrence) {
  const InputOrder ba = InputOrder::joined(InputOrder::of(1), InputOrder::of(0));
  const InputOrder bac = InputOrder::joined(ba, InputOrder::joined(InputOrder::of(0), InputOrder::of(2)));
  ASSERT_EQ(bac.size(), 3U);
  EXPECT_EQ(bac.at(0), 1U);
  EXPECT_EQ(bac.at(1), 0U);
  EXPECT_EQ(bac.at(2), 2U);
}

}  // namespace
}  // namespace isomer
