#pragma once
// Layers over a GraphBuilder. A network is written like its authors' code, and results in the graph that an exporter
// would write. BatchNormalization remains a separate node.

#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/ir/builder.h"

namespace isomer {

/// Height and width. A single number sets both.
struct Pair {
  int64_t height;
  int64_t width;
  Pair(int64_t both) : height(both), width(both) {}  // NOLINT(google-explicit-constructor): so that layers read well
  Pair(int64_t h, int64_t w) : height(h), width(w) {}
};

/// A convolution without its input. `same` replaces `pad`: it pads so that the extents become ceil(extent / stride),
/// with the extra pixel at the end, as TensorFlow does.
struct ConvLayer {
  int64_t out;
  Pair kernel = 1;
  Pair stride = 1;
  Pair pad = 0;
  bool same = false;
  int64_t group = 1;
  bool bias = false;
  double gain = 2;
};

/// A max or average pool without its input.
struct PoolLayer {
  Pair kernel = 1;
  Pair stride = 1;
  Pair pad = 0;
  bool same = false;
  bool ceil = false;
  bool count_pad = true;  // for average pools: the padding counts as zeros
};

/// A network under construction. After the first error, every call does nothing, and finish() returns that error. The
/// weights are seeded by their names.
class Net {
 public:
  Net(int64_t batch, uint64_t seed) : batch_(batch), seed_(seed) {}

  int64_t batch() const { return batch_; }
  uint64_t seed() const { return seed_; }

  /// Adds the next input, of floats.
  ValueId input(const std::string& name, const Ints& dims);
  /// Adds the next output.
  void output(ValueId value, const std::string& name);
  /// The graph, or the first error.
  Result<Graph> finish();

  /// The extents of a value. After an error, these are ones, so that arithmetic on them still works.
  Ints extents(ValueId value) const;
  int64_t channels(ValueId value) const { return extents(value)[1]; }

  /// Adds a node of any operator and returns its first result.
  ValueId add(const char* op, const Attrs& attrs, const std::vector<ValueId>& operands);
  /// The same with `count` results.
  std::vector<ValueId> add_many(const char* op, const Attrs& attrs, const std::vector<ValueId>& operands, size_t count);

  /// A weight with elements from [center - radius, center + radius).
  ValueId uniform(const std::string& name, const Ints& dims, float radius, float center = 0);
  /// A weight of a sum over `fan_in` elements (see fan_in_radius).
  ValueId weight(const std::string& name, const Ints& dims, int64_t fan_in, double gain);
  ValueId constant(Tensor tensor, const std::string& name = "");
  ValueId scalar(float value) { return constant(Tensor::floats({}, {value})); }

  // Layers. `name` is the name of the module, such as "layer1.0.conv1". Its weights are NAME.weight and so on.
  ValueId conv(const std::string& name, ValueId x, const ConvLayer& layer);
  /// The same with the given weight.
  ValueId conv_with(ValueId x, ValueId weight, const ConvLayer& layer, ValueId bias = kNoValue);
  /// Batch normalization. `scale` is the center of its factors.
  ValueId batch_norm(const std::string& name, ValueId x, float scale = 1, float epsilon = 1e-5F);
  ValueId layer_norm(const std::string& name, ValueId x, float epsilon);
  /// The layer of a classifier: Gemm with a bias.
  ValueId linear(const std::string& name, ValueId x, int64_t out, double gain = 1);
  /// The layer of a transformer: MatMul and Add.
  ValueId project(const std::string& name, ValueId x, int64_t out, double gain = 1);
  /// MatMul with a weight of `out` columns.
  ValueId matmul_weight(const std::string& name, ValueId x, int64_t out, double gain = 1);

  ValueId max_pool(ValueId x, const PoolLayer& layer);
  ValueId average_pool(ValueId x, const PoolLayer& layer);
  /// Mean over the image, flattened to [batch, channels].
  ValueId pooled_features(ValueId x);

  ValueId relu(ValueId x) { return add("Relu", {}, {x}); }
  ValueId relu6(ValueId x);
  ValueId sigmoid(ValueId x) { return add("Sigmoid", {}, {x}); }
  ValueId tanh(ValueId x) { return add("Tanh", {}, {x}); }
  /// x/2 (1 + erf(x / sqrt 2)), decomposed as exporters do at opset 17.
  ValueId gelu(ValueId x);
  /// The approximation by tanh, also decomposed.
  ValueId gelu_tanh(ValueId x);
  ValueId sum(ValueId a, ValueId b) { return add("Add", {}, {a, b}); }
  ValueId product(ValueId a, ValueId b) { return add("Mul", {}, {a, b}); }
  ValueId matmul(ValueId a, ValueId b) { return add("MatMul", {}, {a, b}); }
  ValueId softmax(ValueId x) { return add("Softmax", {{"axis", int64_t{-1}}}, {x}); }
  ValueId concat(const std::vector<ValueId>& parts, int64_t axis = 1) { return add("Concat", {{"axis", axis}}, parts); }
  ValueId reshape(ValueId x, Ints dims) { return add("Reshape", {{"shape", std::move(dims)}}, {x}); }
  ValueId transpose(ValueId x, Ints perm) { return add("Transpose", {{"perm", std::move(perm)}}, {x}); }
  ValueId flatten(ValueId x) { return add("Flatten", {{"axis", int64_t{1}}}, {x}); }

 private:
  Attrs window(ValueId x, Pair kernel, Pair stride, Pair pad, bool same) const;

  GraphBuilder builder_;
  int64_t batch_;
  uint64_t seed_;
  std::vector<ValueId> outputs_;
  Status status_;
};

}  // namespace isomer
