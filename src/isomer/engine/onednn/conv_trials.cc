// Times the ways to compute convolutions.

#include <memory>

#include "isomer/engine/onednn/conv_problem.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_filters.h"

namespace isomer::onednn {
namespace {

/// The arguments of a trial of Winograd's algorithm.
struct WinogradTrial {
  WinogradConv conv;
  OwnPosts posts;
  int parts;
  bool transforms;
  TrialFloats image, given, weights, bias, result, scratch;

  explicit WinogradTrial(const ConvChoice& choice)
      : conv(*choice.winograd),
        posts(choice.own_posts),
        parts(current_threads()),
        transforms(choice.work == WinogradWork::Weights),
        image(element_count(choice.src.dims())),
        given(transforms ? given_weights(conv) : 0),
        weights(winograd_weights(conv)),
        bias(conv.out_channels),
        result(element_count(choice.dst.dims())),
        scratch(winograd_scratch(conv, parts)) {
    for (const auto& operand : choice.posts.operands) posts.locate(static_cast<size_t>(operand.post), result.data());
  }
  void run() const {
    if (transforms) transform_weights(conv, given.data(), weights.data());
    run_winograd(conv, {image.data(), weights.data(), bias.data(), result.data(), scratch.data()}, posts, parts);
  }
  std::vector<std::span<const std::byte>> flushed() const { return {(transforms ? given : weights).bytes()}; }
};

/// Those of a trial of our depthwise kernel.
struct DepthwiseTrial {
  DepthwiseConv conv;
  OwnPosts posts;
  bool packs;
  TrialFloats image, given, weights, bias, result, added;

  DepthwiseTrial(const ConvChoice& choice, bool constant_weights)
      : conv(*choice.depthwise),
        posts(choice.own_posts),
        packs(!constant_weights),
        image(element_count(choice.src.dims())),
        given(packs ? depthwise_weights(conv) : 0),
        weights(depthwise_weights(conv)),
        bias(conv.channels),
        result(element_count(choice.dst.dims())),
        added(choice.posts.operands.empty() ? 0 : element_count(choice.dst.dims())) {
    for (const auto& operand : choice.posts.operands) posts.locate(static_cast<size_t>(operand.post), added.data());
  }
  void run() const {
    if (packs) pack_depthwise_weights(conv, given.data(), weights.data());
    run_depthwise(conv, {image.data(), weights.data(), bias.data(), result.data()}, posts);
  }
  std::vector<std::span<const std::byte>> flushed() const { return {(packs ? given : weights).bytes()}; }
};

/// Those of a trial of Strassen's algorithm.
struct StrassenTrial {
  StrassenProduct product;
  OwnPosts posts;
  int parts;
  TrialFloats image, weights, bias, result, added, scratch;

  explicit StrassenTrial(const ConvChoice& choice)
      : product(*choice.strassen),
        posts(choice.own_posts),
        parts(current_threads()),
        image(element_count(choice.src.dims())),
        weights(strassen_weights(product)),
        bias(product.columns),
        result(element_count(choice.dst.dims())),
        added(choice.posts.operands.empty() ? 0 : element_count(choice.dst.dims())),
        scratch(strassen_scratch(product, parts)) {
    for (const auto& operand : choice.posts.operands) posts.locate(static_cast<size_t>(operand.post), added.data());
  }
  void run() const {
    run_strassen(product, {image.data(), weights.data(), bias.data(), result.data(), scratch.data()}, posts, parts);
  }
  std::vector<std::span<const std::byte>> flushed() const { return {weights.bytes()}; }
};

/// Those of a trial that computes filters.
struct WinogradFiltersTrial {
  WinogradConv conv;
  int parts;
  TrialFloats image, gradient, filters, scratch;

  explicit WinogradFiltersTrial(const ConvChoice& choice)
      : conv(*choice.winograd),
        parts(current_threads()),
        image(element_count(choice.src.dims())),
        gradient(element_count(choice.dst.dims())),
        filters(given_weights(conv)),
        scratch(winograd_filters_scratch(conv, parts)) {}
  void run() const {
    run_winograd_filters(conv, {image.data(), gradient.data(), filters.data(), scratch.data()}, parts);
  }
  static std::vector<std::span<const std::byte>> flushed() { return {}; }
};

template <class Arguments, class... Given>
PreparedTrial prepared(const Given&... given) {
  const auto trial = std::make_shared<const Arguments>(given...);
  return {[=] { trial->run(); }, trial->flushed()};
}

}  // namespace

Trial trial_of(const dnnl::engine& engine, const ConvProblem& problem, const ConvChoice& choice) {
  switch (choice.kernel()) {
    case ConvKernel::Winograd:
      return [&choice] {
        return choice.work == WinogradWork::Filters ? prepared<WinogradFiltersTrial>(choice)
                                                    : prepared<WinogradTrial>(choice);
      };
    case ConvKernel::Depthwise:
      return [&choice, constant = problem.constant_weights] { return prepared<DepthwiseTrial>(choice, constant); };
    case ConvKernel::Strassen:
      return [&choice] { return prepared<StrassenTrial>(choice); };
    case ConvKernel::Library:
      break;
  }
  if (problem.constant_weights) return trial_of(engine, choice.direct);
  return [direct = trial_of(engine, choice.direct)] {
    PreparedTrial trial = direct();
    trial.flushed.clear();  // a reorder has just written them
    return trial;
  };
}

}  // namespace isomer::onednn
