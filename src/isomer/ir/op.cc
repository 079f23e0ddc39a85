#include "isomer/ir/op.h"

#include "isomer/base/hash.h"

namespace isomer {

uint64_t OpDef::name_hash() const { return hash_text(name, hash_text(domain)); }

OpDef with_hash(OpDef op) {
  op.known_hash = op.name_hash();
  return op;
}

const AttrDef* OpDef::find_attr(std::string_view attr_name) const {
  for (const AttrDef& def : attrs)
    if (def.name == attr_name) return &def;
  return nullptr;
}

const OpDef& input_op() {
  static const OpDef kOp =
      with_hash({.name = "Input", .domain = "isomer", .min_operands = 0, .kind = OpDef::Kind::Input});
  return kOp;
}

const OpDef& constant_op() {
  static const OpDef kOp = with_hash({.name = "Constant", .min_operands = 0, .kind = OpDef::Kind::Constant});
  return kOp;
}

const OpDef& opaque_op() {
  static const OpDef kOp = with_hash({.name = "Opaque",
                                      .domain = "isomer",
                                      .min_operands = 0,
                                      .max_operands = OpDef::kVariadic,
                                      .min_results = 0,
                                      .max_results = OpDef::kVariadic,
                                      .kind = OpDef::Kind::Opaque});
  return kOp;
}

Result<Attrs> complete_attrs(const OpDef& op, const Attrs& given) {
  for (const auto& [name, value] : given.entries()) {
    const AttrDef* def = op.find_attr(name);
    if (def == nullptr) return fail("{} has no attribute '{}'", op.name, name);
    if (static_cast<AttrKind>(value.index()) != def->kind)
      return fail("attribute '{}' of {} must be of kind {}", name, op.name, attr_kind_name(def->kind));
  }
  std::vector<Attrs::Entry> entries = given.entries();
  bool added = false;
  for (const AttrDef& def : op.attrs) {
    if (given.has(def.name)) continue;
    if (def.preset) {
      entries.emplace_back(def.name, *def.preset);
      added = true;
    } else if (!def.optional) {
      return fail("{} needs attribute '{}'", op.name, def.name);
    }
  }
  return added ? Attrs(std::move(entries)) : given;
}

}  // namespace isomer
