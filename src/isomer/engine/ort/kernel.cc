#include "isomer/engine/ort/kernel.h"

#include <vector>

#include "isomer/engine/kernel_model.h"
#include "isomer/ir/copy.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

constexpr int64_t kBlock = 16;  // a multiple of every block size

/// Returns the attributes of a window with stride 1 and without pads.
Attrs ort_window(const Attrs& attrs) {
  return attrs.with("strides", Ints{1, 1}).with("dilations", Ints{1, 1}).with("pads", Ints{0, 0, 0, 0});
}

Tensor equal_elements(const std::vector<int64_t>& dims) {
  return Tensor::floats(dims, std::vector<float>(Tensor::byte_size(DType::Float, dims) / sizeof(float), 0.125F));
}

class OrtHarness {
 public:
  explicit OrtHarness(const KernelRun& run) : run_(run), graph_(run.graph) {}

  Result<Graph> build() {
    ISOMER_TRY(const auto outputs, copy_nodes(builder_, graph_, [&](ValueId value) { return input(value); }));
    return builder_.finish(outputs);
  }

 private:
  bool taken(ValueId value, Intake intake) const {
    for (const NodeId reader : graph_.consumers(value))
      if (reader < run_.intakes.size() && run_.intakes[reader] == intake) return true;
    return false;
  }

  Result<ValueId> input(ValueId value) {
    const TensorType& type = graph_.type(value);
    Result<ValueId> made = kNoValue;
    if (run_.reorder_to == Layout::Blocked) {
      made = depthwise(builder_.input(type));
    } else if (run_.reorder_to == Layout::Plain || taken(value, Intake::Blocked)) {
      made = blocked(type);
    } else if (taken(value, Intake::Plain)) {
      made = builder_.add(*find_op("Neg"), {}, {builder_.input(type)});
    } else {
      return builder_.input(type);
    }
    if (made) builder_.name(*made, fmt::format("{}_{}", kHarness, value));
    return made;
  }

  /// Makes a blocked value of this type: by pooling or, if the channels do not fill whole blocks, by a convolution.
  Result<ValueId> blocked(const TensorType& type) {
    if (type.rank() != 4) return fail("a value of type {} cannot be blocked", type.str());
    const int64_t channels = (*type.shape)[1].value();
    if (channels % kBlock == 0)
      return builder_.add(*find_op("MaxPool"), ort_window(Attrs{{"kernel_shape", Ints{1, 1}}}), {builder_.input(type)});
    Shape extents = *type.shape;
    extents[1] = kBlock;
    ISOMER_TRY(const ValueId conv,
               builder_.add(*find_op("Conv"), ort_window({}),
                            {builder_.input({type.dtype, extents}), weight({channels, kBlock, 1, 1})}));
    // A convolution with an activation cannot absorb the kernel.
    return builder_.add(*find_op("Relu"), {}, {conv});
  }

  /// Adds a reader that requires a blocked operand.
  Result<ValueId> depthwise(ValueId x) {
    const int64_t channels = (*builder_.type(x).shape)[1].value();
    return builder_.add(*find_op("Conv"), ort_window(Attrs{{"group", channels}}), {x, weight({channels, 1, 1, 1})});
  }

  ValueId weight(const std::vector<int64_t>& dims) { return builder_.constant(equal_elements(dims)); }

  const KernelRun& run_;
  const Graph& graph_;
  GraphBuilder builder_;
};

}  // namespace

Result<Model> kernel_model(const KernelRun& run) {
  ISOMER_TRY(const Graph graph, OrtHarness(run).build());
  return kernel_model_of(graph);
}

Result<Model> warming_model() {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, {1, kBlock, 2, 2}});
  const ValueId kernel = builder.constant(equal_elements({kBlock, kBlock, 1, 1}));
  ISOMER_TRY(const ValueId conv, builder.add(*find_op("Conv"), ort_window({}), {x, kernel}));
  ISOMER_TRY(const ValueId relu, builder.add(*find_op("Relu"), {}, {conv}));
  ISOMER_TRY(const ValueId flat, builder.add(*find_op("Reshape"), {{"shape", Ints{1, 4 * kBlock}}}, {relu}));
  const ValueId weight = builder.constant(equal_elements({4 * kBlock, kBlock}));
  ISOMER_TRY(const ValueId product, builder.add(*find_op("MatMul"), {}, {flat, weight}));
  ISOMER_TRY(const ValueId y, builder.add(*find_op("Tanh"), {}, {product}));
  return kernel_model_of(builder.finish(std::vector{y}));
}

Result<Model> chain_model(int length) {
  GraphBuilder builder;
  ValueId x = builder.input({DType::Float, {1, 64}});
  for (int i = 0; i < length; ++i) {
    ISOMER_TRY(x, builder.add(*find_op(i % 2 == 0 ? "Neg" : "Abs"), {}, {x}));
  }
  return kernel_model_of(builder.finish(std::vector{x}));
}

}  // namespace isomer
