#include "isomer/engine/onednn/canonical.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "isomer/engine/onednn/decompose.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/engine/onednn/gelu.h"
#include "isomer/engine/onednn/joined_rows.h"
#include "isomer/engine/onednn/program.h"
#include "isomer/engine/onednn/unrolled.h"
#include "isomer/engine/onednn/views.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/builder.h"
#include "isomer/ir/label.h"
#include "isomer/ops/again.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"

namespace isomer::onednn {
namespace {

constexpr int64_t kMaxGrowth = int64_t{256} << 20;

class Canonicalizer {
 public:
  explicit Canonicalizer(const Graph& graph) : from_(graph), builder_(graph.name_table()) {
    renamed_.assign(graph.num_values(), kNoValue);
  }

  Result<Candidate> run(std::span<const TensorType> inputs, const Decisions& decisions) {
    for (NodeId id = 0; id < from_.nodes().size(); ++id) {
      const Node& node = from_.node(id);
      if (node.is_input()) {
        renamed_[node.result()] = builder_.input(inputs[static_cast<size_t>(node.attrs.integer("index"))]);
        builder_.set_origin(renamed_[node.result()], from_.origin(node.result()));
      } else if (node.is_constant()) {
        renamed_[node.result()] = builder_.constant(node.attrs.tensor("value"));
      } else if (auto status = add(node); !status) {
        return fail_in(node_label(from_, id), status.error());
      }
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : from_.outputs()) outputs.push_back(renamed_[output]);
    std::vector<uint64_t> images;
    for (const ValueId value : renamed_) images.push_back(value == kNoValue ? 0 : builder_.peek().value_hash(value));
    return carried(with_merged(decisions), images, builder_.finish(outputs));
  }

 private:
  /// A convolution that a normalization was merged into computes that one's result.
  Decisions with_merged(Decisions decisions) const {
    for (const auto& [conv, norm] : merged_) {
      decisions.algorithms.erase(norm);
      if (const auto algorithm = decisions.algorithm(conv)) decisions.algorithms.emplace(norm, *algorithm);
    }
    return decisions;
  }

  Status add(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : from_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : renamed_[operand]);
    ISOMER_TRY(const bool folded, fold(node, operands));
    if (folded) return {};
    if (node.is_opaque()) return add_opaque(node, operands);
    ISOMER_TRY(const auto special, special_form(node, operands));
    if (special) {
      keep_name(node, *special);
      return {};
    }
    ISOMER_TRY(const NodeId added, builder_.copy(from_, node, operands));
    rename(node, added);
    if (const auto gelu = written_gelu(builder_.peek(), added)) {
      ISOMER_TRY(const ValueId joined, builder_.add(*find_op("Gelu"), gelu_attrs(*gelu), {gelu->x}));
      keep_name(node, joined);
    }
    ISOMER_TRY(const std::vector<ValueId> steps, unrolled(builder_, added));
    for (uint32_t i = 0; i < node.num_results && !steps.empty(); ++i) {
      builder_.set_origin(steps[i], from_.origin(node.result(i)));
      renamed_[node.result(i)] = steps[i];
    }
    return {};
  }

  static Attrs gelu_attrs(const WrittenGelu& gelu) { return gelu.tanh ? Attrs{{"approximate", "tanh"}} : Attrs{}; }

  /// The value that replaces a node's result gets its name, unless it has one.
  void keep_name(const Node& node, ValueId value) {
    builder_.set_origin(value, from_.origin(node.result()));
    renamed_[node.result()] = value;
  }

  void rename(const Node& node, NodeId added) {
    for (uint32_t i = 0; i < node.num_results; ++i) {
      renamed_[node.result(i)] = builder_.at(added).result(i);
      builder_.set_origin(renamed_[node.result(i)], from_.origin(node.result(i)));
    }
  }

  /// Computes a node whose operands are all known, or whose result is its operand's extents.
  Result<bool> fold(const Node& node, std::span<const ValueId> operands) {
    const bool of_extents = is_named(node, "Shape") || is_named(node, "Size");
    int64_t bytes = kMaxGrowth;
    std::vector<Tensor> data;
    for (const ValueId operand : operands) {
      const Tensor* known = operand == kNoValue ? nullptr : builder_.constant_data(operand);
      data.push_back(known == nullptr ? Tensor() : *known);
      if (known != nullptr) bytes += static_cast<int64_t>(known->bytes().size());
      if (known != nullptr || operand == kNoValue) continue;
      const TensorType& type = builder_.type(operand);
      const auto dims = type.shape ? concrete(*type.shape) : std::nullopt;
      if (!of_extents || !dims || type.dtype == DType::Undefined) return false;
      // Only the extents are used: the bytes are never read, but the type needs some.
      if (type.dtype == DType::String || Tensor::byte_size(type.dtype, *dims) > static_cast<size_t>(kMaxGrowth))
        return false;
      data.back() = Tensor::zeros(type.dtype, *dims);
    }
    if (node.num_results == 0 || !foldable(node, bytes)) return false;
    const auto results = run_node(from_, node, data);
    if (!results) return false;
    for (uint32_t i = 0; i < node.num_results; ++i) renamed_[node.result(i)] = builder_.constant((*results)[i]);
    return true;
  }

  /// Returns whether a node is a pure function of its operands, with results of at most `bytes`.
  bool foldable(const Node& node, int64_t bytes) const {
    if (node.is_opaque()) return find_op(node.attrs.text("@op_type"), node.attrs.text("@domain")) != nullptr;
    if (node.op->kernel == nullptr) return false;
    for (uint32_t i = 0; i < node.num_results; ++i) {
      const auto size = Tensor::byte_size(from_.type(node.result(i)));
      if (size && static_cast<int64_t>(*size) > bytes) return false;
    }
    return true;
  }

  /// Normalizes an opaque node if all its parameters are known now.
  Status add_opaque(const Node& node, std::span<const ValueId> operands) {
    const auto normal = normalized(node, operands);
    if (normal) {
      if (const auto added = builder_.node(*normal->op, normal->attrs, normal->operands, node.num_results)) {
        rename(node, *added);
        return {};
      }
    }
    std::vector<TensorType> types;
    for (uint32_t i = 0; i < node.num_results; ++i) types.push_back(from_.type(node.result(i)));
    rename(node, builder_.opaque(node.attrs, operands, std::move(types)));
    return {};
  }

  std::optional<NormalForm> normalized(const Node& node, std::span<const ValueId> operands) const {
    const OpDef* op = find_op(node.attrs.text("@op_type"), node.attrs.text("@domain"));
    if (op == nullptr) return std::nullopt;
    OnnxForm form = opaque_form(node);
    for (const ValueId operand : operands) {
      if (operand == kNoValue) {
        form.operands.push_back({});
        form.types.push_back(nullptr);
        continue;
      }
      const Tensor* data = builder_.constant_data(operand);
      form.operands.push_back({operand, data == nullptr ? Tensor() : *data});
      form.types.push_back(builder_.type(operand).known() ? &builder_.type(operand) : nullptr);
    }
    auto normal = normalize(form);
    return normal ? std::move(*normal) : std::nullopt;
  }

  Result<std::optional<ValueId>> special_form(const Node& node, std::span<const ValueId> operands) {
    if (is_removed(node) && node.op != &again_op()) return operands[0];
    if (is_named(node, "BatchNormalization")) return fold_batch_norm(node, operands);
    if (node.op->has(Trait::Concatenation)) return nest_concat(node, operands);
    ISOMER_TRY(const auto joined, rows_.joined(node, operands));
    if (joined) return joined;
    return decompose(builder_, node, operands);
  }

  const Node& maker(ValueId value) const { return builder_.peek().producer_node(value); }

  /// Scale and shift of each channel, if all statistics are constants.
  struct ChannelMap {
    std::vector<float> scale, shift;
  };
  std::optional<ChannelMap> channel_map(const Node& norm, std::span<const ValueId> operands) const {
    std::span<const float> part[4];
    for (size_t i = 0; i < 4; ++i) {
      const Tensor* data = builder_.constant_data(operands[i + 1]);
      if (data == nullptr || data->dtype() != DType::Float) return std::nullopt;
      part[i] = data->data<float>();
    }
    ChannelMap map;
    const double epsilon = norm.attrs.real("epsilon");
    for (size_t c = 0; c < part[0].size(); ++c) {
      const double scale = part[0][c] / std::sqrt(part[3][c] + epsilon);
      map.scale.push_back(static_cast<float>(scale));
      map.shift.push_back(static_cast<float>(part[1][c] - part[2][c] * scale));
    }
    return map;
  }

  Result<std::optional<ValueId>> fold_batch_norm(const Node& norm, std::span<const ValueId> operands) {
    const std::optional<ValueId> none;
    const ValueId before = from_.operands(norm)[0];
    if (from_.consumers(before).size() != 1 || from_.is_output(before)) return none;
    const Node conv = maker(operands[0]);
    if (!is_named(conv, "Conv")) return none;
    const std::vector<ValueId> inputs(builder_.peek().operands(conv).begin(), builder_.peek().operands(conv).end());
    const Tensor* weights = builder_.constant_data(inputs[1]);
    const bool has_bias = inputs.size() > 2 && inputs[2] != kNoValue;
    const Tensor* bias = has_bias ? builder_.constant_data(inputs[2]) : nullptr;
    const auto map = channel_map(norm, operands);
    if (!map || weights == nullptr || weights->dtype() != DType::Float || (has_bias && bias == nullptr)) return none;
    Tensor shift = Tensor::floats({weights->dims()[0]}, map->shift);
    for (size_t c = 0; has_bias && c < map->scale.size(); ++c)
      shift.mutable_data<float>()[c] += bias->data<float>()[c] * map->scale[c];
    ISOMER_TRY(const ValueId folded, builder_.add(*conv.op, conv.attrs,
                                                  {inputs[0], builder_.constant(scaled_channels(*weights, map->scale)),
                                                   builder_.constant(std::move(shift))}));
    merged_.emplace_back(remaining_value(from_, before), norm.result());
    return std::optional(folded);
  }

  /// Scales the elements at each index of the first axis by its own factor.
  Tensor scaled_channels(const Tensor& weights, std::span<const float> scale) {
    const std::span<const float> from = weights.data<float>();
    auto* const to = reinterpret_cast<float*>(folded_->allocate(from.size_bytes()));
    const size_t row = scale.empty() ? 0 : from.size() / scale.size();
    for (size_t c = 0; c < scale.size(); ++c)
      std::transform(from.begin() + static_cast<ptrdiff_t>(c * row),
                     from.begin() + static_cast<ptrdiff_t>((c + 1) * row), to + c * row,
                     [factor = scale[c]](float element) { return element * factor; });
    return Tensor::view(DType::Float, weights.dims(), std::as_bytes(std::span(to, from.size())), folded_);
  }

  Result<std::optional<ValueId>> nest_concat(const Node& node, std::span<const ValueId> operands) {
    std::vector<ValueId> parts(operands.begin(), operands.end());
    const int64_t axis = node.attrs.integer("axis");
    for (size_t length = parts.size() - 1; length >= 2; --length) {
      const auto known = concats_.find({axis, {parts.begin(), parts.begin() + static_cast<ptrdiff_t>(length)}});
      if (known == concats_.end()) continue;
      parts.erase(parts.begin() + 1, parts.begin() + static_cast<ptrdiff_t>(length));
      parts[0] = known->second;
      break;
    }
    ISOMER_TRY(const ValueId joined, builder_.add(*node.op, node.attrs, parts));
    concats_[{axis, {operands.begin(), operands.end()}}] = joined;
    return std::optional(joined);
  }

  const Graph& from_;
  GraphBuilder builder_;
  JoinedRows rows_{builder_};
  std::vector<ValueId> renamed_;
  std::vector<std::pair<ValueId, ValueId>> merged_;  // a convolution's result and that of the normalization after it
  std::map<std::pair<int64_t, std::vector<ValueId>>, ValueId> concats_;
  // For weights with something folded into them. One large block after the other, since each separate allocation would
  // wait for page faults.
  const std::shared_ptr<ConstantPool> folded_ = std::make_shared<ConstantPool>();
};

}  // namespace

Result<Candidate> canonicalize(const Graph& graph, std::span<const TensorType> inputs, const Decisions& decisions) {
  return Canonicalizer(graph).run(inputs, decisions);
}

}  // namespace isomer::onednn
