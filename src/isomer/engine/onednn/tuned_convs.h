#pragma once
// The ways to compute the convolutions of a plan while it is compiled, with their times if the plan measures.

#include <optional>
#include <vector>

#include "isomer/engine/onednn/conv_problem.h"

namespace isomer::onednn {

/// Keeps what the last convolution needs to be emitted.
class TunedConvs : public ConvWays {
 public:
  /// Keeps a reference.
  explicit TunedConvs(Builder& builder) : builder_(builder) {}

  std::span<const ConvForm> of(const Graph& graph, const Group& group, const Decisions& decisions) override;
  /// Reorders of measured plans cost their times. A change of element type is a reorder too.
  double cost(const Graph& graph, const ConvReorder& reorder) override;

  const ConvProblem& problem() const { return *problem_; }
  const ConvChoice& choice(size_t way) const { return choices_[way]; }

 private:
  double time(const ConvChoice& choice);

  Builder& builder_;
  std::optional<ConvProblem> problem_;
  std::vector<ConvChoice> choices_;
  std::vector<ConvForm> forms_;
};

}  // namespace isomer::onednn
