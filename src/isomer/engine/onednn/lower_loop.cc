// Loops: element-wise nodes, and a sum that may follow, in one kernel.

#include <algorithm>
#include <array>
#include <map>

#include "isomer/engine/onednn/caches.h"
#include "isomer/engine/onednn/loop_nodes.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"

namespace isomer::onednn {
namespace {

/// Extents or strides of the axes of a row-major value.
using Axes = std::vector<int64_t>;

/// Returns the extents of the elements in memory: blocks are axes of their own, and channels may be innermost.
Axes extents_in(Form form, const Axes& extents) {
  Axes out = extents;
  if (form == kPlainForm) return out;
  out.push_back(form == kLastForm ? out[1] : form);
  if (form == kLastForm)
    out.erase(out.begin() + 1);
  else
    out[1] /= form;
  return out;
}

/// Likewise of an operand's strides.
Axes strides_in(Form form, const Axes& strides) {
  Axes out = strides;
  if (form == kPlainForm) return out;
  out.push_back(out[1]);
  if (form == kLastForm)
    out.erase(out.begin() + 1);
  else
    out[1] *= form;
  return out;
}

/// Likewise of properties of axes.
std::vector<bool> flags_in(Form form, std::vector<bool> flags) {
  if (form == kPlainForm) return flags;
  flags.push_back(flags[1]);
  if (form == kLastForm) flags.erase(flags.begin() + 1);
  return flags;
}

/// Returns whether the elements along the last axis whose extent is not 1 are adjacent.
bool lies_in_rows(const Dims& dims, const Dims& strides) {
  for (size_t axis = dims.size(); axis-- > 0;)
    if (dims[axis] != 1) return strides[axis] == 1;
  return true;
}

/// Where the elements of a row-major or strided operand are.
struct Source {
  Location at;
  Axes strides;
};

class LoopLowering {
 public:
  LoopLowering(Builder& builder, const Group& group)
      : builder_(builder),
        graph_(builder.graph()),
        group_(group),
        nodes_(nodes_of(group)),
        operands_(loop_operands(graph_, group)),
        domain_(loop_domain(graph_, group)) {}

  Result<bool> run() {
    if (!computable()) return false;
    dims_ = dims_of(graph_.type(domain_));
    loop_.count = element_count(dims_);
    form_ = builder_.planned().in;
    if (!loops_over_blocks(graph_, group_, operands_) || form_ < kLastForm ||
        (form_ > kPlainForm && !fills_blocks(graph_, domain_, form_)))
      form_ = kPlainForm;
    if (!add_steps() || !add_sum()) return false;
    emit();
    return true;
  }

 private:
  /// Returns whether all nodes have steps, and extents are known and not 0.
  bool computable() const {
    const auto has_elements = [&](ValueId value) {
      const auto& shape = graph_.type(value).shape;
      return shape && concrete(*shape) && !is_empty(graph_, value);
    };
    for (const NodeId id : nodes_) {
      const Node& node = graph_.node(id);
      if (!has_elements(node.result())) return false;
      if (!node_steps(graph_, node) && (id != group_.last() || domain_ == node.result())) return false;
    }
    return has_elements(domain_) && operands_.size() <= kMaxLoopOperands &&
           std::ranges::all_of(operands_, has_elements);
  }

  bool add_steps() {
    for (const ValueId operand : operands_) {
      registers_[operand] = static_cast<uint8_t>(from_.size());
      add_operand(operand);
    }
    for (size_t i = from_.size(); i < kMaxLoopRegisters; ++i) free_.push_back(static_cast<uint8_t>(i));
    for (const NodeId id : nodes_)
      if (const auto steps = node_steps(graph_, graph_.node(id)); steps && !add_node(graph_.node(id), *steps))
        return false;
    return true;
  }

  void add_operand(ValueId value) {
    if (graph_.type(value).shape == graph_.type(domain_).shape && form_ != kPlainForm) {
      from_.push_back(builder_.as(value, form_desc(dims_, form_)));
      LoopOperand whole{.whole = true, .width = loop_.count};
      loop_.operands.push_back(std::move(whole));
      return;
    }
    const Source source = source_of(value);
    from_.push_back(source.at);
    loop_.operands.push_back(loop_operand(extents_in(form_, dims_), strides_in(form_, source.strides)));
    loop_.operands.back().conditions = graph_.type(value).dtype == DType::Bool;
  }

  /// Strided values are read in place if their rows are contiguous.
  Source source_of(ValueId value) {
    const Dims dims = dims_of(graph_.type(value));
    Source source{builder_.at(value), row_major_strides(dims)};
    if (graph_.type(value).dtype == DType::Float && !lies_plain(source.at.desc)) {
      if (source.at.desc.data_type() == kF32 && form_of(source.at.desc) == kStridedForm && is_strided(source.at.desc) &&
          lies_in_rows(dims, strides_of(source.at.desc)))
        source.strides = strides_of(source.at.desc);
      else
        source.at = builder_.plain(value);
    } else if (graph_.type(value).dtype == DType::Float) {
      source.at = builder_.plain(value);
    }
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (dims[axis] == 1) source.strides[axis] = 0;
    const size_t rank = std::max(dims_.size(), dims.size());
    source.strides.insert(source.strides.begin(), static_cast<ptrdiff_t>(rank - dims.size()), 0);
    return source;
  }

  /// Returns whether this is the last node that reads a value within the loop.
  bool is_last_reader(const Node& node, ValueId value) const {
    const NodeId id = graph_.producer(node.result());
    return std::ranges::none_of(graph_.consumers(value),
                                [&](NodeId reader) { return reader > id && std::ranges::count(nodes_, reader) > 0; });
  }

  bool add_node(const Node& node, std::span<const LoopStep> steps) {
    const auto operands = graph_.operands(node);
    const auto release = [&] {
      for (size_t i = 0; i < operands.size(); ++i) {
        const bool again = std::ranges::find(operands.first(i), operands[i]) != operands.begin() + ptrdiff_t(i);
        const auto known = registers_.find(operands[i]);
        if (again || known == registers_.end() || known->second < from_.size()) continue;
        if (is_last_reader(node, operands[i])) free_.push_back(known->second);
      }
    };
    // A single step may write over what it reads.
    std::array<uint8_t, kMaxLoopOperands> read{};
    for (size_t i = 0; i < operands.size() && i < read.size(); ++i)
      if (const auto known = registers_.find(operands[i]); known != registers_.end()) read[i] = known->second;
    if (steps.size() == 1) release();
    if (free_.empty()) return false;
    const uint8_t to = free_.back();
    free_.pop_back();
    if (steps.size() > 1) release();
    for (LoopStep step : steps) {
      for (uint8_t& from : step.from) from = from == kLoopResult ? to : read[from];
      step.to = to;
      loop_.steps.push_back(step);
    }
    registers_[node.result()] = to;
    return true;
  }

  bool add_sum() {
    const Node& last = graph_.node(group_.last());
    const auto reduction = node_reduction(graph_, last);
    if (!reduction) {
      loop_.conditions = graph_.type(last.result()).dtype == DType::Bool;
      return true;
    }
    loop_.sum = loop_sum(extents_in(form_, dims_), flags_in(form_, reduction->axes));
    if (!loop_.sum) return false;
    if (reduction->mean) loop_.sum->factor = 1 / static_cast<float>(loop_.sum->summed * loop_.sum->summed_too);
    loop_.sum->root = reduction->root;
    if (reduction->first) {
      if (free_.empty()) return false;
      loop_.steps.push_back({.op = *reduction->first, .to = free_.back(), .from = {registers_[domain_]}});
    }
    return true;
  }

  /// Returns whether a result that is too large to stay in a cache is not read in the run, not even to convert or copy
  /// it. A kernel alone may be one that is timed, whose result other kernels will read.
  bool passes_caches(ValueId result) const {
    return form_ == kPlainForm && std::ranges::count(graph_.outputs(), result) == 1 &&
           graph_.consumers(result).empty() && !builder_.planning().decisions().layout(result) &&
           loop_.count * static_cast<int64_t>(sizeof(float)) > second_level_bytes() &&
           builder_.planning().groups().size() > 1;
  }

  Location place_result() {
    const ValueId result = graph_.node(group_.last()).result();
    const TensorType& type = graph_.type(result);
    if (loop_.conditions) return builder_.room(Tensor::byte_size(type.dtype, *concrete(*type.shape)));
    if (loop_.sum) return builder_.result(result, plain_desc(dims_of(type)));
    const Desc desc = form_desc(dims_, form_);
    std::optional<Location> over;
    for (size_t i = 0; i < from_.size() && !over; ++i)
      if (loop_.operands[i].whole && !loop_.operands[i].conditions && same_layout(from_[i].desc, desc) &&
          builder_.may_overwrite(from_[i]))
        over = from_[i];
    loop_.past_caches = !over && passes_caches(result);
    return builder_.result(result, desc, over);
  }

  void emit() {
    const ValueId result = graph_.node(group_.last()).result();
    const Location to = place_result();
    Kernel kernel{.name = group_name(graph_, group_),
                  .implementation = std::string(own_implementation()) + ":loop",
                  .touches = {write_of(to)},
                  .values = {result}};
    if (!loop_.conditions) kernel.arguments.push_back({DNNL_ARG_DST, to});
    for (const Location& from : from_) kernel.touches.push_back(read_of(from));
    kernel.function = [loop = std::move(loop_), from = from_, to](Workspace& workspace) -> Status {
      std::array<const std::byte*, kMaxLoopOperands> operands{};
      for (size_t i = 0; i < from.size(); ++i) operands[i] = workspace.address(from[i]);
      onednn::run(loop, std::span(operands).first(from.size()), workspace.address(to));
      return {};
    };
    builder_.emit(std::move(kernel));
    builder_.place(result, to);
  }

  Builder& builder_;
  const Graph& graph_;
  const Group& group_;
  const std::vector<NodeId> nodes_;
  const std::vector<ValueId> operands_;
  const ValueId domain_;
  Dims dims_;
  Form form_ = kPlainForm;
  Loop loop_;
  std::vector<Location> from_;
  std::map<ValueId, uint8_t> registers_;
  std::vector<uint8_t> free_;
};

}  // namespace

Result<bool> lower_loop(Builder& builder, const Group& group) { return LoopLowering(builder, group).run(); }

}  // namespace isomer::onednn
