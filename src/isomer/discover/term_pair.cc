#include "isomer/discover/term_pair.h"

#include <algorithm>
#include <map>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"
#include "isomer/rules/build.h"

namespace isomer {
namespace {

/// Adds terms of a bank to a pair, each node once.
class Expansion {
 public:
  Expansion(const TermBank& bank, TermPair& pair) : bank_(bank), pair_(pair) {}

  uint32_t add(TermCode code) {
    const auto known = made_.find(code);
    if (known != made_.end()) return known->second;
    PairNode node;
    if (code.is_input()) {
      const bool constant = bank_.universe().inputs[code.a()].constant.has_value();
      node.kind = constant ? PairNode::Kind::Constant : PairNode::Kind::Input;
      if (constant)
        node.op = code.a();
      else
        node.input = static_cast<KindId>(bank_.universe().inputs[code.a()].group);
    } else {
      node.kind = PairNode::Kind::Apply;
      node.op = code.op();
      node.result = code.result();
      node.a = add(bank_.at(code.a()).code);
      if (code.is_binary()) node.b = add(bank_.at(code.b()).code);
    }
    pair_.nodes.push_back(node);
    return made_[code] = static_cast<uint32_t>(pair_.nodes.size() - 1);
  }

 private:
  const TermBank& bank_;
  TermPair& pair_;
  std::map<TermCode, uint32_t> made_;
};

}  // namespace

TermPair expand(const TermBank& bank, const EqualTerms& terms) {
  TermPair pair;
  Expansion expansion(bank, pair);
  pair.left.push_back(expansion.add(terms.term));
  pair.right.push_back(expansion.add(terms.first));
  return pair;
}

std::vector<bool> TermPair::needed(std::span<const uint32_t> roots) const {
  std::vector<bool> out(nodes.size(), false);
  for (const uint32_t root : roots) out[root] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!out[i] || nodes[i].kind != PairNode::Kind::Apply) continue;
    out[nodes[i].a] = true;
    if (nodes[i].b != PairNode::kNone) out[nodes[i].b] = true;
  }
  return out;
}

size_t TermPair::tree_size(std::span<const uint32_t> roots) const {
  std::vector<size_t> below(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const PairNode& node = nodes[i];
    if (node.kind != PairNode::Kind::Apply) continue;
    below[i] = 1 + below[node.a] + (node.b == PairNode::kNone ? 0 : below[node.b]);
  }
  size_t n = 0;
  for (const uint32_t root : roots) n += below[root];
  return n;
}

size_t TermPair::num_inputs() const {
  return static_cast<size_t>(std::ranges::count(nodes, PairNode::Kind::Input, &PairNode::kind));
}

TermPair TermPair::compact() const {
  std::vector<uint32_t> roots = left;
  roots.insert(roots.end(), right.begin(), right.end());
  const std::vector<bool> used = needed(roots);
  TermPair out;
  std::vector<uint32_t> place(nodes.size(), PairNode::kNone);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!used[i]) continue;
    PairNode node = nodes[i];
    if (node.kind == PairNode::Kind::Apply) {
      node.a = place[node.a];
      if (node.b != PairNode::kNone) node.b = place[node.b];
    }
    place[i] = static_cast<uint32_t>(out.nodes.size());
    out.nodes.push_back(node);
  }
  for (const uint32_t root : left) out.left.push_back(place[root]);
  for (const uint32_t root : right) out.right.push_back(place[root]);
  return out;
}

namespace {

/// Computes types and values of a pair's nodes, one after the other.
class PairEvaluation {
 public:
  PairEvaluation(const TermPair& pair, const PairContext& context, uint64_t seed)
      : pair_(pair), context_(context), seed_(seed) {}

  bool run() {
    for (uint32_t i = 0; i < pair_.nodes.size(); ++i)
      if (!(pair_.nodes[i].kind == PairNode::Kind::Apply ? apply(i) : leaf(i))) return false;
    return true;
  }

  PairValues& found() { return found_; }

 private:
  bool leaf(uint32_t i) {
    const PairNode& node = pair_.nodes[i];
    TypeTable& types = context_.types;
    if (node.kind == PairNode::Kind::Constant) {
      found_.types.push_back(types.constant_type(node.op));
      const auto value = types.constant(node.op);
      found_.values.emplace_back(value.begin(), value.end());
      return true;
    }
    found_.types.push_back(types.intern(context_.kinds.dims(node.input, context_.variant)));
    Rng rng(hash_mix(seed_, i));
    const bool sparse = (seed_ & kSparseSeed) != 0;
    for (Fp& x : found_.values.emplace_back(types.elements(found_.types[i])))
      if (!sparse || rng.below(2) == 0) x = Fp::raw(rng.below(Fp::kPrime));
    return true;
  }

  bool apply(uint32_t i) {
    const PairNode& node = pair_.nodes[i];
    const bool binary = node.b != PairNode::kNone;
    const TypeTable::Entry& entry =
        context_.types.at(node.op, found_.types[node.a], binary ? found_.types[node.b] : TypeId{0});
    if (node.result >= entry.maps.size()) return false;
    const FieldMap& map = entry.maps[node.result];
    std::vector<Fp> out(map.elements());
    map.run(found_.values[node.a].data(), binary ? found_.values[node.b].data() : nullptr, out.data());
    found_.types.push_back(entry.types[node.result]);
    found_.values.push_back(std::move(out));
    return true;
  }

  const TermPair& pair_;
  const PairContext& context_;
  const uint64_t seed_;
  PairValues found_;
};

}  // namespace

std::optional<PairValues> evaluate(const TermPair& pair, const PairContext& context, uint64_t seed) {
  PairEvaluation evaluation(pair, context, seed);
  if (!evaluation.run()) return std::nullopt;
  return std::move(evaluation.found());
}

std::optional<PairDims> dims_of(const TermPair& pair, std::span<const PairContext> variants) {
  PairDims out;
  for (const PairContext& variant : variants) {
    const auto found = evaluate(pair, variant, 1);
    if (!found) return std::nullopt;
    auto& dims = out.emplace_back();
    for (const TypeId type : found->types) dims.push_back(variant.types.dims(type));
  }
  return out;
}

bool holds(const TermPair& pair, const PairContext& context, std::span<const uint64_t> seeds) {
  for (const uint64_t seed : seeds) {
    PairEvaluation evaluation(pair, context, seed);
    if (!evaluation.run()) return false;
    const PairValues& found = evaluation.found();
    for (size_t r = 0; r < pair.left.size(); ++r)
      if (found.types[pair.left[r]] != found.types[pair.right[r]] ||
          found.values[pair.left[r]] != found.values[pair.right[r]])
        return false;
  }
  return true;
}

namespace {

/// Writes a pair with inputs numbered by first occurrence, for one choice of the orders of commutative operands.
class Serializer {
 public:
  Serializer(const TermPair& pair, const std::vector<uint32_t>& commutative, uint32_t flips)
      : pair_(pair), flipped_(pair.nodes.size(), false), number_(pair.nodes.size(), PairNode::kNone) {
    for (size_t i = 0; i < commutative.size(); ++i) flipped_[commutative[i]] = (flips >> i & 1) != 0;
  }

  std::string run(const std::vector<uint32_t>& first, const std::vector<uint32_t>& second) {
    for (const uint32_t root : first) visit(root);
    out_.push_back('=');
    for (const uint32_t root : second) visit(root);
    return std::move(out_);
  }

 private:
  void put(uint32_t x) {
    out_.push_back(static_cast<char>(x));
    out_.push_back(static_cast<char>(x >> 8));
  }

  void visit(uint32_t i) {
    const PairNode& node = pair_.nodes[i];
    if (number_[i] != PairNode::kNone) {
      out_.push_back('#');
      put(number_[i]);
      return;
    }
    number_[i] = next_++;
    if (node.kind != PairNode::Kind::Apply) {
      out_.push_back(node.kind == PairNode::Kind::Input ? 'i' : 'c');
      put(node.kind == PairNode::Kind::Input ? node.input : node.op);
      return;
    }
    out_.push_back('(');
    put(node.op);
    put(node.result);
    const bool binary = node.b != PairNode::kNone;
    visit(flipped_[i] ? node.b : node.a);
    if (binary) visit(flipped_[i] ? node.a : node.b);
  }

  const TermPair& pair_;
  std::vector<bool> flipped_;
  std::vector<uint32_t> number_;
  uint32_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string pair_key(const TermPair& pair, const Universe& universe) {
  constexpr size_t kMaxFlips = 10;
  std::vector<uint32_t> commutative;
  for (uint32_t i = 0; i < pair.nodes.size(); ++i) {
    const PairNode& node = pair.nodes[i];
    if (node.kind == PairNode::Kind::Apply && universe.ops[node.op].commutative && node.a != node.b &&
        commutative.size() < kMaxFlips)
      commutative.push_back(i);
  }
  std::string min_key;
  for (uint32_t flips = 0; flips < 1U << commutative.size(); ++flips) {
    for (const bool swap : {false, true}) {
      Serializer serializer(pair, commutative, flips);
      std::string key = swap ? serializer.run(pair.right, pair.left) : serializer.run(pair.left, pair.right);
      if (min_key.empty() || key < min_key) min_key = std::move(key);
    }
  }
  return min_key;
}

TermPair without_common_subgraphs(TermPair pair, std::span<const PairContext> variants, InputKinds& kinds) {
  static constexpr uint64_t kSeeds[] = {11, 12};
  const auto holds_in_all = [&](const TermPair& general) {
    return std::ranges::all_of(variants, [&](const PairContext& variant) { return holds(general, variant, kSeeds); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> left = pair.needed(pair.left);
    const std::vector<bool> right = pair.needed(pair.right);
    const auto known = dims_of(pair, variants);
    if (!known) return pair;
    for (uint32_t i = static_cast<uint32_t>(pair.nodes.size()); i-- > 0 && !changed;) {
      if (!left[i] || !right[i] || pair.nodes[i].kind == PairNode::Kind::Input) continue;
      std::vector<Ints> dims;
      for (const std::vector<Ints>& by_node : *known) dims.push_back(by_node[i]);
      TermPair general = pair;
      general.nodes[i] = PairNode{.kind = PairNode::Kind::Input, .input = kinds.intern(dims)};
      if (!holds_in_all(general)) continue;
      pair = general.compact();
      changed = true;
    }
  }
  return pair;
}

namespace {

/// Makes terms with inputs called a, b, c, ... by first occurrence.
class NamedTerms {
 public:
  NamedTerms(const TermPair& pair, const Universe& universe) : pair_(pair), universe_(universe) {}

  Term term(uint32_t i) {
    const PairNode& node = pair_.nodes[i];
    if (node.kind == PairNode::Kind::Constant) return variable_term(universe_.inputs[node.op].name);
    if (node.kind == PairNode::Kind::Input)
      return variable_term(names_.try_emplace(i, std::string(1, static_cast<char>('a' + names_.size()))).first->second);
    const UniverseOp& op = universe_.ops[node.op];
    std::map<std::string, Term> operands{{op.operands[0], term(node.a)}};
    if (op.operands.size() == 2) operands.emplace(op.operands[1], term(node.b));
    return substituted(op.results[node.result], operands);
  }

 private:
  static Term substituted(Term term, const std::map<std::string, Term>& operands) {
    if (term.kind == Term::Kind::Value) return operands.at(term.name);
    for (Term& operand : term.operands) operand = substituted(std::move(operand), operands);
    return term;
  }

  const TermPair& pair_;
  const Universe& universe_;
  std::map<uint32_t, std::string> names_;
};

}  // namespace

std::string pair_text(const TermPair& pair, const Universe& universe) {
  NamedTerms terms(pair, universe);
  std::string out;
  for (const auto* roots : {&pair.left, &pair.right}) {
    if (roots == &pair.right) out += " = ";
    for (size_t r = 0; r < roots->size(); ++r) out += (r > 0 ? ", " : "") + print_term(terms.term((*roots)[r]));
  }
  return out;
}

}  // namespace isomer
