#pragma once
// Predicts how ONNX Runtime's CPU provider, at its highest level of optimization, groups nodes into kernels, and which
// values it keeps in its blocked layout (NCHWc). It describes the observed behaviour of ONNX Runtime 1.31 and is
// checked against the graphs that ONNX Runtime writes after optimizing (docs/reference/costs.md).

#include <unordered_map>

#include "isomer/engine/kernels.h"

namespace isomer {

class OrtPlanner : public KernelPlanner {
 public:
  /// `block`: channels per block of the blocked layout, 16 with AVX-512 and 8 with AVX; 0 if there is no such layout.
  explicit OrtPlanner(int64_t block);
  Result<KernelPlan> plan(const Graph& graph, const Boundary& boundary = {}, const Decisions& decisions = {},
                          const Deadline& deadline = Deadline::never()) const override;

  /// Kinds of nodes that the planner distinguishes.
  enum class Kind : uint8_t {
    Other,
    Identity,
    Conv,
    BatchNorm,
    Pool,
    GlobalPool,
    Concat,
    Add,
    Sum,
    Mul,
    Div,
    Pow,
    Relu,
    Sigmoid,
    Tanh,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Clip,
    Elu,
    Softplus,
    Erf,
    Sub,
    Sqrt,
    ReduceMean,
    Pad,
    MatMul,
    Gemm,
    Transpose,
    LayerNorm,
  };

 private:
  const int64_t block_;
  std::unordered_map<const OpDef*, Kind> kinds_;
};

/// Returns the channels per block on this processor.
int64_t ort_block_channels();

}  // namespace isomer
