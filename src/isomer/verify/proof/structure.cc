#include "isomer/verify/proof/structure.h"

#include <algorithm>
#include <set>

namespace isomer {
namespace {

constexpr size_t kMaxRank = 4;
constexpr size_t kMaxSteps = 400'000;
constexpr size_t kMaxStructures = 300;

std::string attr_key(const OpDef& op, const AttrDef& def, const AttrValue* value) {
  if (value == nullptr) return def.name + "-";
  switch (generality(op, def)) {
    case Generality::Fixed:
      return def.name + "=" + attr_str(*value);
    case Generality::Integers: {
      std::string out = def.name + ":";
      for (const int64_t entry : std::get<Ints>(*value))
        out += def.name == "shape" && entry <= 0 ? std::to_string(entry) : "n";
      return out;
    }
    default:
      return def.name;
  }
}

/// All structures within bounds; false where they are too many to list.
bool list(const Rule& rule, const InstanceBounds& bounds, Structures& out) {
  std::set<std::string> seen;
  const bool all = for_each_instance(rule, bounds, kMaxSteps, [&](const Instance& instance) {
    if (seen.insert(structure_key(instance)).second) out.instances.push_back(instance);
    return seen.size() <= kMaxStructures;
  });
  return all && seen.size() <= kMaxStructures;
}

}  // namespace

Generality generality(const OpDef& op, const AttrDef& attr) {
  static constexpr std::string_view kLists[] = {"pads", "strides", "dilations",      "kernel_shape", "starts",
                                                "ends", "split",   "output_padding", "shape"};
  if (attr.kind == AttrKind::Int && attr.name == "group") return Generality::Integer;
  if (attr.kind == AttrKind::Ints && std::ranges::find(kLists, attr.name) != std::end(kLists))
    return Generality::Integers;
  if (attr.kind == AttrKind::Float) return Generality::Number;
  if (attr.kind == AttrKind::Tensor && op.name != "Constant") return Generality::Number;
  return Generality::Fixed;
}

std::string structure_key(const Instance& instance) {
  std::string out;
  for (const Instance::Value& value : instance.values) {
    if (value.kind == Instance::Value::Kind::Result) continue;
    out += fmt::format("{} {} {} {};", static_cast<int>(value.kind), dtype_name(value.type.dtype), value.type.rank(),
                       value.number);
  }
  for (const Instance::Node& node : instance.nodes) {
    out += node.op->name;
    for (const AttrDef& def : node.op->attrs) out += " " + attr_key(*node.op, def, node.attrs.find(def.name));
    for (const ValueId operand : node.operands) out += " " + std::to_string(static_cast<int64_t>(operand));
    out += ";";
  }
  return out;
}

Structures structures_of(const Rule& rule) {
  struct Rung {
    Ints extents;
    size_t lengths;
    bool free_broadcasts;
  };
  const Rung rungs[] = {{{1, 2}, 3, false}, {{2}, 3, true}, {{2}, 3, false},
                        {{1, 2}, 2, false}, {{2}, 2, true}, {{2}, 2, false}};
  size_t max_rank = kMaxRank;
  for (; max_rank >= 2; --max_rank) {
    for (const Rung& rung : rungs) {
      Structures out;
      bool all = true;
      for (size_t rank = 0; rank <= max_rank && all; ++rank) {
        InstanceBounds bounds{.rank = rank, .extents = rung.extents, .max_sequence = rung.lengths};
        bounds.free_broadcasts = rung.free_broadcasts;
        all = list(rule, bounds, out);
      }
      if (!all || out.instances.empty()) continue;
      out.bounds = fmt::format("ranks <= {}, lengths <= {}", max_rank, rung.lengths);
      return out;
    }
  }
  return {};
}

}  // namespace isomer
