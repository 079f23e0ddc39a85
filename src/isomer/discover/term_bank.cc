#include "isomer/discover/term_bank.h"

#include <algorithm>
#include <cassert>

#include "isomer/base/hash.h"
#include "isomer/base/rng.h"

namespace isomer {
namespace {

/// Maximum size of an input: every term is evaluated completely.
constexpr int kMaxElements = 4096;

uint64_t entry_key(uint32_t op, TypeId a, TypeId b) {
  return static_cast<uint64_t>(op) << 32 | static_cast<uint64_t>(a) << 16 | b;
}

bool conditions_hold(const UniverseOp& op, std::span<const Ints> dims) {
  const OperandFacts facts(dims);
  Binding binding;
  for (ValueId i = 0; i < dims.size(); ++i) binding.values.emplace_back(op.operands[i], i);
  return std::ranges::all_of(op.conditions, [&](const Expr& condition) {
    return is_met(condition, ExprContext{binding, facts});
  });
}

}  // namespace

TypeId TypeTable::intern(const Ints& dims) {
  const auto found = std::ranges::find(dims_, dims);
  if (found != dims_.end()) return static_cast<TypeId>(found - dims_.begin());
  dims_.push_back(dims);
  size_t n = 1;
  for (const int64_t dim : dims) n *= static_cast<size_t>(dim);
  elements_.push_back(n);
  return static_cast<TypeId>(dims_.size() - 1);
}

const TypeTable::Entry* TypeTable::find(uint32_t op, TypeId a, TypeId b) const {
  const auto found = entries_.find(entry_key(op, a, b));
  return found == entries_.end() ? nullptr : found->second.get();
}

const TypeTable::Entry& TypeTable::at(uint32_t op, TypeId a, TypeId b) {
  auto& entry = entries_[entry_key(op, a, b)];
  if (entry) return *entry;
  entry = std::make_unique<Entry>();
  const UniverseOp& def = universe_.ops[op];
  std::vector<Ints> dims{dims_[a]};
  if (def.operands.size() == 2) dims.push_back(dims_[b]);
  if (!conditions_hold(def, dims)) return *entry;
  auto maps = FieldMap::compile(def, dims);
  if (!maps) {
    if (status_) status_ = tl::unexpected(maps.error());
    return *entry;
  }
  entry->maps = std::move(*maps);
  for (const FieldMap& map : entry->maps) entry->types.push_back(intern(map.dims()));
  return *entry;
}

void TypeTable::compile() {
  const auto known = static_cast<TypeId>(size());
  for (uint32_t op = 0; op < universe_.ops.size(); ++op) {
    for (TypeId a = 0; a < known; ++a) {
      if (universe_.ops[op].operands.size() == 1)
        at(op, a, 0);
      else
        for (TypeId b = 0; b < known; ++b) at(op, a, b);
    }
  }
}

/// Returns the first operator that has not accepted any operands.
std::optional<uint32_t> TypeTable::idle() const {
  std::vector<bool> used(universe_.ops.size(), false);
  for (const auto& [key, entry] : entries_)
    if (!entry->maps.empty()) used[key >> 32] = true;
  const auto found = std::ranges::find(used, false);
  return found == used.end() ? std::nullopt : std::optional(static_cast<uint32_t>(found - used.begin()));
}

Status TypeTable::check_all_apply() {
  constexpr size_t kManyTypes = 64;
  size_t known = 0;
  while (idle() && size() != known && size() < kManyTypes) {
    known = size();
    compile();
  }
  ISOMER_CHECK(status_);
  if (const auto op = idle())
    return fail("operator {} accepts none of the operands that appear", print_term(universe_.ops[*op].results[0]));
  return {};
}

Result<TermBank> TermBank::make(const Universe& universe, uint64_t seed) {
  if (universe.inputs.size() > InputOrder::kMaxInputs || universe.ops.size() >= TermCode::kInput)
    return fail("a universe has at most {} inputs and {} operators", InputOrder::kMaxInputs, TermCode::kInput - 1);
  TermBank bank(universe);
  for (const UniverseInput& input : universe.inputs) {
    double elements = 1;
    for (const int64_t dim : input.dims) elements *= static_cast<double>(dim);
    if (elements > kMaxElements) return fail("input ?{} has more than {} elements", input.name, kMaxElements);
  }
  for (uint32_t i = 0; i < universe.inputs.size(); ++i) {
    const UniverseInput& input = universe.inputs[i];
    BankTerm made;
    made.code = TermCode::input(i);
    std::vector<Fp> value;
    if (input.constant) {
      ISOMER_TRY(const Tensor tensor, FieldMap::constant(*input.constant));
      if (tensor.dtype() != DType::Field) return fail("constant ?{} is not made of reals", input.name);
      made.type = bank.types_->intern(tensor.dims());
      const auto elements = tensor.data<Fp>();
      value.assign(elements.begin(), elements.end());
      bank.types_->set_constant(i, made.type, value);
    } else {
      made.type = bank.types_->intern(input.dims);
      made.inputs = InputOrder::of(i);
      Rng rng(hash_mix(seed, i));
      value.resize(bank.types_->elements(made.type));
      for (Fp& x : value) x = Fp::raw(rng.below(Fp::kPrime));
    }
    bank.store(made, value.data(), bank.fingerprint(made.type, value.data()));
  }
  return bank;
}

uint64_t TermBank::fingerprint(TypeId type, const Fp* value) const {
  static_assert(sizeof(Fp) == sizeof(uint64_t));
  return hash_bytes(value, types_->elements(type) * sizeof(Fp), type);
}

std::optional<TermId> TermBank::find(uint64_t fingerprint) const {
  const auto found = by_fingerprint_.find(fingerprint);
  if (found == by_fingerprint_.end()) return std::nullopt;
  return found->second;
}

std::span<const TermId> TermBank::of(size_t nodes, TypeId type) const {
  if (nodes >= by_size_and_type_.size() || type >= by_size_and_type_[nodes].size()) return {};
  return by_size_and_type_[nodes][type];
}

std::span<const TermId> TermBank::with_node(TermId node) const {
  const auto found = with_node_.find(node);
  return found == with_node_.end() ? std::span<const TermId>() : std::span<const TermId>(found->second);
}

const TypeTable::Entry& TermBank::entry_of(TermCode code) const {
  return *types_->find(code.op(), at(code.a()).type, code.is_binary() ? at(code.b()).type : TypeId{0});
}

TypeId TermBank::type_of(TermCode code) const {
  return code.is_input() ? at(code.a()).type : entry_of(code).types[code.result()];
}

const Fp* TermBank::value(TermId id, std::vector<Fp>& scratch) const {
  const BankTerm& known = at(id);
  return known.value != BankTerm::kNoStoredValue ? values_.data() + known.value : computed(known.code, scratch);
}

const Fp* TermBank::computed(TermCode code, std::vector<Fp>& scratch) const {
  std::vector<Fp> inner_a;
  std::vector<Fp> inner_b;
  const Fp* a = value(code.a(), inner_a);
  const Fp* b = code.is_binary() ? value(code.b(), inner_b) : nullptr;
  const FieldMap& map = entry_of(code).maps[code.result()];
  scratch.resize(map.elements());
  map.run(a, b, scratch.data());
  return scratch.data();
}

bool TermBank::store(BankTerm made, const Fp* value, uint64_t fingerprint) {
  const auto id = static_cast<TermId>(terms_.size());
  const auto [first, fresh] = by_fingerprint_.emplace(fingerprint, id);
  made.first = first->second;
  made.value = fresh ? BankTerm::kNoStoredValue : terms_[made.first].value;
  if (value != nullptr && made.value == BankTerm::kNoStoredValue) {
    made.value = static_cast<uint32_t>(values_.size());
    values_.insert(values_.end(), value, value + types_->elements(made.type));
  }
  terms_.push_back(made);
  if (by_size_and_type_.size() <= made.size) by_size_and_type_.resize(made.size + 1);
  auto& by_type = by_size_and_type_[made.size];
  if (by_type.size() <= made.type) by_type.resize(made.type + 1);
  by_type[made.type].push_back(id);
  return fresh;
}

size_t TermBank::add(size_t nodes, std::span<const NewTerm> made, bool keep) {
  size_t values = 0;
  std::vector<Fp> scratch;
  for (const NewTerm& fresh : made) {
    const auto id = static_cast<TermId>(size());
    BankTerm next;
    next.code = fresh.code;
    next.type = type_of(fresh.code);
    next.inputs = inputs_of(fresh.code);
    next.size = static_cast<uint8_t>(nodes);
    std::vector<TermId> all;
    for (const TermId operand : {fresh.code.a(), fresh.code.b()})
      if (operand != kNoTerm)
        all.insert(all.end(), at(operand).nodes.begin(), at(operand).nodes.begin() + at(operand).size);
    const bool sibling = id > 0 && !at(id - 1).code.is_input() && at(id - 1).code.same_node(fresh.code);
    all.push_back(sibling ? at(id - 1).nodes[at(id - 1).size - 1] : id);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    assert(all.size() == nodes);
    std::ranges::copy(all, next.nodes.begin());
    const Fp* value = keep ? computed(fresh.code, scratch) : nullptr;
    values += store(next, value, fresh.fingerprint) ? 1 : 0;
    if (keep) index(id);
  }
  return values;
}

void TermBank::index(TermId id) {
  const BankTerm& known = at(id);
  for (size_t i = 0; i < known.size; ++i) with_node_[known.nodes[i]].push_back(id);
}

size_t TermBank::union_size(TermId a, TermId b) const {
  const BankTerm& x = at(a);
  const BankTerm& y = at(b);
  size_t n = x.size;
  for (size_t i = 0; i < y.size; ++i)
    if (!std::binary_search(x.nodes.begin(), x.nodes.begin() + x.size, y.nodes[i])) ++n;
  return n;
}

bool TermBank::implied(TermCode code, size_t nodes) const {
  const TermId a = at(code.a()).first;
  const TermId b = code.is_binary() ? at(code.b()).first : kNoTerm;
  if (a == code.a() && b == code.b()) return false;
  return (code.is_binary() ? union_size(a, b) : at(a).size) + 1 <= nodes;
}

InputOrder TermBank::inputs_of(TermCode code) const {
  if (code.is_input()) return at(code.a()).inputs;
  if (!code.is_binary()) return at(code.a()).inputs;
  return InputOrder::joined(at(code.a()).inputs, at(code.b()).inputs);
}

bool TermBank::canonical(InputOrder inputs) const {
  std::array<uint32_t, InputOrder::kMaxInputs> seen = {};  // by group: number of its inputs that have occurred
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t input = inputs.at(i);
    const size_t group = universe_->inputs[input].group;
    uint32_t rank = 0;  // position of the input in its group
    while (rank < input && universe_->inputs[input - rank - 1].group == group) ++rank;
    if (rank != seen[group]++) return false;
  }
  return true;
}

}  // namespace isomer
