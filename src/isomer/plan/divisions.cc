#include "isomer/plan/divisions.h"

#include <algorithm>
#include <optional>

#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// By operand of a node: the axis along which a part of its results needs a part of it; nothing if it needs all of it.
using OperandAxes = std::vector<std::optional<size_t>>;

/// Finds what parts of a node's results along an axis are computed from.
class OperandAxesOf {
 public:
  OperandAxesOf(const Graph& graph, const Node& node, size_t axis)
      : graph_(graph), node_(node), operands_(graph.operands(node)), axis_(axis), out_(operands_.size()) {}

  /// Nothing if they cannot be computed from parts.
  std::optional<OperandAxes> find() {
    const bool known = !node_.is_opaque() && graph_.runs(node_) && node_.num_results > 0 && known_types();
    if (!known || axis_ >= result().size() || result()[axis_].is(1)) return std::nullopt;
    const bool found =
        elementwise() || permutation() || view() || concatenation() || leading() || convolution() || product();
    return found && takes_parts() ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  bool has(Trait trait) const { return node_.op->has(trait); }
  bool has_operand(size_t i) const { return i < operands_.size() && operands_[i] != kNoValue; }
  const Shape& shape(size_t operand) const { return *graph_.type(operands_[operand]).shape; }
  const Shape& result() const { return *graph_.type(node_.result()).shape; }

  bool known_types() const {
    return std::ranges::all_of(operands_, [&](ValueId v) { return v == kNoValue || graph_.type(v).known(); }) &&
           graph_.type(node_.result()).known();
  }

  /// Some operand is divided, and has the extent of the result there.
  bool takes_parts() const {
    bool some = false;
    for (size_t i = 0; i < out_.size(); ++i) {
      if (!out_[i]) continue;
      if (!has_operand(i) || shape(i)[*out_[i]] != result()[axis_]) return false;
      some = true;
    }
    return some;
  }

  bool elementwise() {
    if (!has(Trait::Elementwise) || node_.num_results != 1) return false;
    for (size_t i = 0; i < operands_.size(); ++i)
      if (has_operand(i)) out_[i] = axis_of_elements(i);
    return true;
  }

  std::optional<size_t> axis_of_elements(size_t i) const {
    constexpr size_t kChannels = 1;
    if (node_.op->role(i) == OperandRole::PerChannel)
      return axis_ == kChannels ? std::optional<size_t>(0) : std::nullopt;
    const size_t missing = result().size() - shape(i).size();
    if (axis_ < missing || shape(i)[axis_ - missing].is(1)) return std::nullopt;
    return axis_ - missing;
  }

  bool permutation() {
    if (!has(Trait::Permutation)) return false;
    out_[0] = from_front(node_.attrs.ints("perm")[axis_]);
    return true;
  }

  /// The axis is one of the operand, too, if as many elements come before it and it has the same extent.
  bool view() {
    if (!has(Trait::View)) return false;
    Dim before(1), there(1);
    for (size_t i = 0; i < axis_; ++i) before = before * result()[i];
    for (size_t i = 0; i < shape(0).size(); ++i) {
      if (there == before && shape(0)[i] == result()[axis_]) {
        out_[0] = i;
        return true;
      }
      there = there * shape(0)[i];
    }
    return false;
  }

  bool concatenation() {
    if (!has(Trait::Concatenation) || axis_ == from_front(node_.attrs.integer("axis"))) return false;
    std::ranges::fill(out_, axis_);
    return true;
  }

  bool leading() {
    if (!has(Trait::Leading) || axis_ >= first_axis() || (node_.num_results != 1 && !has(Trait::Cut))) return false;
    out_[0] = axis_;
    for (size_t i = 1; i < operands_.size(); ++i)
      if (has_operand(i)) out_[i] = axis_of_elements(i);
    return true;
  }

  /// The first axis along which a node with Trait::Leading works.
  size_t first_axis() const {
    if (node_.attrs.has("axis")) return from_front(node_.attrs.integer("axis"));
    if (!node_.attrs.has("axes")) return 1;
    size_t first = node_.attrs.ints("axes").empty() ? 0 : shape(0).size();
    for (const int64_t axis : node_.attrs.ints("axes")) first = std::min(first, from_front(axis));
    return first;
  }

  bool convolution() {
    const OperandRole filters = node_.op->role(1);
    if (filters != OperandRole::Filters && filters != OperandRole::TransposedFilters) return false;
    if (axis_ == 0) out_[0] = 0;
    if (axis_ == 1 && filters == OperandRole::Filters && node_.attrs.integer("group") == 1) {
      for (size_t i = 1; i < operands_.size(); ++i) {
        const OperandRole role = node_.op->role(i);
        if (role != OperandRole::Filters && role != OperandRole::FilterBias) return false;
        if (has_operand(i)) out_[i] = 0;
      }
    }
    return true;
  }

  /// Rows of the first factor, columns of the second, and batches of both.
  bool product() {
    if (node_.op->role(1) != OperandRole::RightFactor) return false;
    const size_t rank = result().size();
    if (shape(0).size() < 2 || shape(1).size() < 2) return false;
    if (axis_ + 2 == rank) {
      out_[0] = shape(0).size() - 2;
    } else if (axis_ + 1 == rank) {
      out_[1] = shape(1).size() - 1;
    } else {
      for (size_t i = 0; i < 2; ++i) out_[i] = axis_of_elements(i);
    }
    return true;
  }

  size_t from_front(int64_t axis) const {
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape(0).size()) : axis);
  }

  const Graph& graph_;
  const Node& node_;
  const std::span<const ValueId> operands_;
  const size_t axis_;
  OperandAxes out_;
};

class Divider {
 public:
  Divider(const Candidate& candidate, size_t parts)
      : candidate_(candidate),
        graph_(candidate.graph),
        builder_(graph_.name_table()),
        parts_(parts),
        whole_(graph_.num_values(), kNoValue),
        divided_(graph_.num_values()) {}

  DividedCandidate run() {
    for (const Node& node : graph_.nodes()) {
      if (node.is_input())
        whole_[node.result()] = builder_.input_like(graph_, node.result());
      else if (!divide(node))
        copy(node);
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(whole(output));
    std::vector<std::vector<uint64_t>> parts(graph_.num_values());
    std::vector<uint64_t> wholes(graph_.num_values(), 0);
    for (ValueId value = 0; value < parts.size(); ++value) {
      for (const ValueId part : divided_[value].values) parts[value].push_back(builder_.peek().value_hash(part));
      if (whole_[value] == kNoValue) continue;
      wholes[value] = builder_.peek().value_hash(whole_[value]);
      if (parts[value].empty()) parts[value] = {wholes[value]};
    }
    DividedCandidate out{finish(builder_, outputs, decisions()), {}, {}};
    const auto by_hash = values_by_hash(out.candidate.graph);
    out.originals.assign(out.candidate.graph.num_values(), kNoValue);
    for (ValueId value = 0; value < parts.size(); ++value) {
      std::vector<ValueId>& values = out.values.emplace_back();
      for (const uint64_t hash : parts[value])
        if (const auto found = by_hash.find(hash); found != by_hash.end()) values.push_back(found->second);
      for (const ValueId part : values) out.originals[part] = value;
      if (const auto whole = by_hash.find(wholes[value]); wholes[value] != 0 && whole != by_hash.end())
        out.originals[whole->second] = value;
    }
    return out;
  }

 private:
  struct Parts {
    size_t axis = 0;
    std::vector<ValueId> values = {};  // empty: not divided
  };

  void copy(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node)) operands.push_back(whole(operand));
    const Node& made = builder_.at(builder_.copy(graph_, node, operands).value());  // operands have the same types
    for (uint32_t r = 0; r < node.num_results; ++r) {
      whole_[node.result(r)] = made.result(r);
      builder_.set_origin(made.result(r), graph_.origin(node.result(r)));
    }
  }

  /// Returns false if the node is not divided.
  bool divide(const Node& node) {
    const auto decided = division_of(node);
    if (!decided) return false;
    const size_t axis = axis_of(*decided);
    const auto from = OperandAxesOf(graph_, node, axis).find();
    if (!from) return false;
    const auto extents = concrete(*graph_.type(node.result()).shape);
    if (!extents || (*extents)[axis] < static_cast<int64_t>(parts_)) return false;
    std::vector<NodeId> made;
    for (size_t part = 0; part < parts_; ++part) {
      std::vector<ValueId> operands;
      for (size_t i = 0; i < from->size(); ++i) {
        const ValueId operand = graph_.operands(node)[i];
        operands.push_back((*from)[i] ? part_of(operand, *(*from)[i], part) : whole(operand));
      }
      Ints length = *extents;
      length[axis] = begin((*extents)[axis], part + 1) - begin((*extents)[axis], part);
      const auto id = builder_.node(*node.op, part_attrs(node, length), operands, node.num_results);
      if (!id || !has_parts(node, builder_.at(*id), axis, length[axis])) return false;
      made.push_back(*id);
    }
    for (uint32_t r = 0; r < node.num_results; ++r) {
      Parts& parts = divided_[node.result(r)];
      parts.axis = axis;
      for (const NodeId id : made) {
        parts.values.push_back(builder_.at(id).result(r));
        builder_.set_origin(parts.values.back(), graph_.origin(node.result(r)));
      }
    }
    return true;
  }

  /// The division that is decided for a result of a node; the first, if it is for several.
  std::optional<Division> division_of(const Node& node) const {
    for (uint32_t r = 0; r < node.num_results; ++r)
      if (const auto decided = candidate_.decisions.division(node.result(r))) return decided;
    return std::nullopt;
  }

  /// Whether the results of `part` have the types of parts of so many positions.
  bool has_parts(const Node& node, const Node& part, size_t axis, int64_t positions) const {
    for (uint32_t r = 0; r < node.num_results; ++r) {
      TensorType wanted = graph_.type(node.result(r));
      if (!wanted.known() || axis >= wanted.rank()) return false;
      (*wanted.shape)[axis] = Dim(positions);
      if (builder_.type(part.result(r)) != wanted) return false;
    }
    return true;
  }

  /// Where a part begins on an axis.
  int64_t begin(int64_t extent, size_t part) const {
    return extent * static_cast<int64_t>(part) / static_cast<int64_t>(parts_);
  }

  /// An attribute that determines the result's extents has those of the part.
  static Attrs part_attrs(const Node& node, const Ints& extents) {
    for (const AttrDef& attr : node.op->attrs)
      if (attr.domain == AttrDomain::SameSize) return node.attrs.with(attr.name, extents);
    return node.attrs;
  }

  ValueId part_of(ValueId value, size_t axis, size_t part) {
    const Parts& parts = divided_[value];
    if (!parts.values.empty() && parts.axis == axis) return parts.values[part];
    const int64_t extent = (*graph_.type(value).shape)[axis].value();
    const Attrs range{{"axes", Ints{static_cast<int64_t>(axis)}},
                      {"starts", Ints{begin(extent, part)}},
                      {"ends", Ints{begin(extent, part + 1)}},
                      {"steps", Ints{1}}};
    return builder_.add(*find_op("Slice"), range, {whole(value)}).value();  // of positions that exist
  }

  ValueId whole(ValueId value) {
    if (value == kNoValue) return kNoValue;
    if (whole_[value] == kNoValue) {
      const Parts& parts = divided_[value];
      const Attrs along{{"axis", static_cast<int64_t>(parts.axis)}};
      whole_[value] = builder_.add(*find_op("Concat"), along, parts.values).value();  // they differ only there
      builder_.set_origin(whole_[value], graph_.origin(value));
    }
    return whole_[value];
  }

  Decisions decisions() const {
    Decisions given = candidate_.decisions, out;
    given.divisions.clear();
    for (ValueId value = 0; value < divided_.size(); ++value)
      if (!divided_[value].values.empty()) given.teams.emplace(value, Team::One);
    for (size_t part = 0; part < parts_; ++part) {
      const auto image = [&](ValueId value) {
        const std::vector<ValueId>& values = divided_[value].values;
        const ValueId made = values.empty() ? whole_[value] : values[part];
        return made == kNoValue ? std::nullopt : std::optional(made);
      };
      add_decisions(given, image, out);
    }
    // Readers of the whole want it in the decided layout, too.
    for (const auto& [value, layout] : given.layouts)
      if (whole_[value] != kNoValue) out.layouts.emplace(whole_[value], layout);
    return out;
  }

  const Candidate& candidate_;
  const Graph& graph_;
  GraphBuilder builder_;
  const size_t parts_;
  std::vector<ValueId> whole_;  // by value; those of divided ones are made when something reads them
  std::vector<Parts> divided_;  // by value
};

}  // namespace

bool is_divisible(const Graph& graph, const Node& node, Division division) {
  return OperandAxesOf(graph, node, axis_of(division)).find().has_value();
}

DividedCandidate divided(const Candidate& candidate, size_t parts) { return Divider(candidate, parts).run(); }

Candidate with_divisions(const Candidate& candidate, size_t parts) { return divided(candidate, parts).candidate; }

Candidate divided_everywhere(const Candidate& candidate, Division division, size_t parts) {
  Candidate out = candidate;
  for (const Node& node : candidate.graph.nodes()) {
    if (!is_divisible(candidate.graph, node, division)) continue;
    const Dim& extent = (*candidate.graph.type(node.result()).shape)[axis_of(division)];
    if (extent.is_const() && extent.value() < static_cast<int64_t>(parts)) continue;
    out.decisions.divisions[node.result()] = division;
    for (uint32_t r = 0; r < node.num_results; ++r) out.decisions.teams.erase(node.result(r));
  }
  return out;
}

}  // namespace isomer
