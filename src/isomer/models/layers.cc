#include "isomer/models/layers.h"

#include <algorithm>

#include "isomer/models/weights.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// The total padding along an axis that gives ceil(extent / stride) windows.
int64_t same_pads(int64_t extent, int64_t kernel, int64_t stride) {
  const int64_t windows = (extent + stride - 1) / stride;
  return std::max<int64_t>(0, (windows - 1) * stride + kernel - extent);
}

}  // namespace

ValueId Net::input(const std::string& name, const Ints& dims) {
  const ValueId value = builder_.input({DType::Float, Shape(dims.begin(), dims.end())});
  builder_.name(value, name);
  return value;
}

void Net::output(ValueId value, const std::string& name) {
  if (!status_) return;
  builder_.name(value, name);
  outputs_.push_back(value);
}

Result<Graph> Net::finish() {
  ISOMER_CHECK(status_);
  return builder_.finish(outputs_);
}

Ints Net::extents(ValueId value) const {
  if (status_ && value != kNoValue)
    if (const auto dims = concrete(*builder_.type(value).shape)) return *dims;
  return Ints(4, 1);
}

std::vector<ValueId> Net::add_many(const char* name, const Attrs& attrs, const std::vector<ValueId>& operands,
                                   size_t count) {
  std::vector<ValueId> none(count, kNoValue);
  if (!status_) return none;
  const OpDef* definition = find_op(name);
  if (definition == nullptr) {
    status_ = fail("there is no operator {}", name);
    return none;
  }
  const auto id = builder_.node(*definition, attrs, operands, count);
  if (!id) {
    status_ = fail_in(name, id.error());
    return none;
  }
  std::vector<ValueId> results;
  for (uint32_t i = 0; i < count; ++i) results.push_back(builder_.at(*id).result(i));
  return results;
}

ValueId Net::add(const char* name, const Attrs& attrs, const std::vector<ValueId>& operands) {
  return add_many(name, attrs, operands, 1)[0];
}

ValueId Net::constant(Tensor tensor, const std::string& name) {
  if (!status_) return kNoValue;
  const ValueId value = builder_.constant(std::move(tensor));
  if (!name.empty()) builder_.name(value, name);
  return value;
}

ValueId Net::uniform(const std::string& name, const Ints& dims, float radius, float center) {
  if (!status_) return kNoValue;
  return constant(seeded_weight(name, dims, center, radius, seed_), name);
}

ValueId Net::weight(const std::string& name, const Ints& dims, int64_t fan_in, double gain) {
  return uniform(name, dims, fan_in_radius(fan_in, gain));
}

Attrs Net::window(ValueId x, Pair kernel, Pair stride, Pair pad, bool same) const {
  Ints pads{pad.height, pad.width, pad.height, pad.width};
  if (same) {
    const Ints dims = extents(x);
    const int64_t height = same_pads(dims[2], kernel.height, stride.height);
    const int64_t width = same_pads(dims[3], kernel.width, stride.width);
    pads = {height / 2, width / 2, height - height / 2, width - width / 2};
  }
  return {{"strides", Ints{stride.height, stride.width}}, {"pads", std::move(pads)}, {"dilations", Ints{1, 1}}};
}

ValueId Net::conv_with(ValueId x, ValueId weight, const ConvLayer& layer, ValueId bias) {
  const Attrs attrs = window(x, layer.kernel, layer.stride, layer.pad, layer.same).with("group", layer.group);
  if (bias == kNoValue) return add("Conv", attrs, {x, weight});
  return add("Conv", attrs, {x, weight, bias});
}

ValueId Net::conv(const std::string& name, ValueId x, const ConvLayer& layer) {
  const int64_t in = channels(x) / layer.group;
  const int64_t fan_in = in * layer.kernel.height * layer.kernel.width;
  const ValueId w =
      weight(name + ".weight", {layer.out, in, layer.kernel.height, layer.kernel.width}, fan_in, layer.gain);
  return conv_with(x, w, layer, layer.bias ? uniform(name + ".bias", {layer.out}, 0.1F) : kNoValue);
}

ValueId Net::batch_norm(const std::string& name, ValueId x, float scale, float epsilon) {
  const Ints dims{channels(x)};
  // Not close to the identity, so that folding into a convolution differs from dropping the node.
  const std::vector<ValueId> operands{x, uniform(name + ".weight", dims, 0.1F * scale, scale),
                                      uniform(name + ".bias", dims, 0.1F), uniform(name + ".running_mean", dims, 0.1F),
                                      uniform(name + ".running_var", dims, 0.2F, 1)};
  return add("BatchNormalization", {{"epsilon", epsilon}}, operands);
}

ValueId Net::layer_norm(const std::string& name, ValueId x, float epsilon) {
  const Ints dims{extents(x).back()};
  return add("LayerNormalization", {{"axis", int64_t{-1}}, {"epsilon", epsilon}},
             {x, uniform(name + ".weight", dims, 0.1F, 1), uniform(name + ".bias", dims, 0.1F)});
}

ValueId Net::linear(const std::string& name, ValueId x, int64_t out, double gain) {
  const int64_t in = extents(x).back();
  return add("Gemm", {{"transB", int64_t{1}}},
             {x, weight(name + ".weight", {out, in}, in, gain), uniform(name + ".bias", {out}, 0.1F)});
}

ValueId Net::matmul_weight(const std::string& name, ValueId x, int64_t out, double gain) {
  const int64_t in = extents(x).back();
  return matmul(x, weight(name, {in, out}, in, gain));
}

ValueId Net::project(const std::string& name, ValueId x, int64_t out, double gain) {
  return sum(matmul_weight(name + ".weight", x, out, gain), uniform(name + ".bias", {out}, 0.1F));
}

ValueId Net::max_pool(ValueId x, const PoolLayer& layer) {
  const Attrs attrs = window(x, layer.kernel, layer.stride, layer.pad, layer.same)
                          .with("kernel_shape", Ints{layer.kernel.height, layer.kernel.width})
                          .with("ceil_mode", int64_t{layer.ceil});
  return add("MaxPool", attrs, {x});
}

ValueId Net::average_pool(ValueId x, const PoolLayer& layer) {
  const Attrs attrs = window(x, layer.kernel, layer.stride, layer.pad, layer.same)
                          .with("kernel_shape", Ints{layer.kernel.height, layer.kernel.width})
                          .with("ceil_mode", int64_t{layer.ceil})
                          .with("count_include_pad", int64_t{layer.count_pad});
  return add("AveragePool", attrs, {x});
}

ValueId Net::pooled_features(ValueId x) { return flatten(add("GlobalAveragePool", {}, {x})); }

ValueId Net::relu6(ValueId x) {
  return add("Clip", {{"min", Tensor::floats({}, {0})}, {"max", Tensor::floats({}, {6})}}, {x});
}

ValueId Net::gelu(ValueId x) {
  const ValueId scaled = add("Div", {}, {x, scalar(1.41421356F)});
  const ValueId gate = sum(add("Erf", {}, {scaled}), scalar(1));
  return product(product(x, gate), scalar(0.5F));
}

ValueId Net::gelu_tanh(ValueId x) {
  const ValueId half = product(x, scalar(0.5F));
  const ValueId cube = product(add("Pow", {}, {x, scalar(3)}), scalar(0.044715F));
  const ValueId inner = product(sum(x, cube), scalar(0.79788456F));
  return product(half, sum(tanh(inner), scalar(1)));
}

}  // namespace isomer
