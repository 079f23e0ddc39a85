// Times the ways to compute convolutions.

#include <functional>
#include <memory>

#include "isomer/engine/onednn/conv_problem.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/threads.h"
#include "isomer/engine/onednn/winograd_filters.h"

namespace isomer::onednn {
namespace {

/// What a trial of a kernel of our own needs.
struct TrialNeeds {
  int64_t given = 0;    ///< floats of the operator's weights, if they are converted in each run
  int64_t weights = 0;  ///< floats as the kernel reads them
  int64_t scratch = 0;
  bool overwrites = true;  ///< whether an added value is where the result will be
};

/// The arguments of such a trial.
struct OwnConvTrial {
  OwnPosts posts;
  TrialFloats image, given, weights, bias, result, added, scratch;

  OwnConvTrial(const ConvChoice& choice, const TrialNeeds& needs)
      : posts(choice.own_posts),
        image(element_count(choice.src.dims())),
        given(needs.given),
        weights(needs.weights),
        bias(choice.dst.dims()[1]),
        result(element_count(choice.dst.dims())),
        added(choice.posts.operands.empty() || needs.overwrites ? 0 : element_count(choice.dst.dims())),
        scratch(needs.scratch) {
    for (const auto& operand : choice.posts.operands)
      posts.locate(static_cast<size_t>(operand.post), needs.overwrites ? result.data() : added.data());
  }
};

PreparedTrial prepared(const ConvChoice& choice, const TrialNeeds& needs,
                       const std::function<void(const OwnConvTrial&)>& run) {
  const auto trial = std::make_shared<const OwnConvTrial>(choice, needs);
  return {[=] { run(*trial); }, {(needs.given > 0 ? trial->given : trial->weights).bytes()}};
}

PreparedTrial winograd_trial(const ConvChoice& choice) {
  const WinogradConv conv = *choice.winograd;
  const int parts = current_threads();
  const bool transforms = choice.work == WinogradWork::Weights;
  const TrialNeeds needs{.given = transforms ? given_weights(conv) : 0,
                         .weights = winograd_weights(conv),
                         .scratch = winograd_scratch(conv, parts)};
  return prepared(choice, needs, [=](const OwnConvTrial& with) {
    if (transforms) transform_weights(conv, with.given.data(), with.weights.data());
    run_winograd(conv,
                 {with.image.data(), with.weights.data(), with.bias.data(), with.result.data(), with.scratch.data()},
                 with.posts, parts);
  });
}

PreparedTrial depthwise_trial(const ConvChoice& choice, bool packs) {
  const DepthwiseConv conv = *choice.depthwise;
  const int64_t weights = depthwise_weights(conv);
  const TrialNeeds needs{.given = packs ? weights : 0, .weights = weights, .overwrites = !computes_twice(conv)};
  return prepared(choice, needs, [=](const OwnConvTrial& with) {
    if (packs) pack_depthwise_weights(conv, with.given.data(), with.weights.data());
    run_depthwise(conv, {with.image.data(), with.weights.data(), with.bias.data(), with.result.data()}, with.posts);
  });
}

PreparedTrial strassen_trial(const ConvChoice& choice) {
  const StrassenProduct product = *choice.strassen;
  const int threads = current_threads();
  const TrialNeeds needs{
      .weights = strassen_weights(product), .scratch = strassen_scratch(product, threads), .overwrites = false};
  return prepared(choice, needs, [=](const OwnConvTrial& with) {
    run_strassen(product,
                 {with.image.data(), with.weights.data(), with.bias.data(), with.result.data(), with.scratch.data()},
                 with.posts, threads);
  });
}

/// The arguments of a trial that computes filters.
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
};

PreparedTrial filters_trial(const ConvChoice& choice) {
  const auto trial = std::make_shared<const WinogradFiltersTrial>(choice);
  return {[=] { trial->run(); }};
}

}  // namespace

Trial trial_of(const dnnl::engine& engine, const ConvProblem& problem, const ConvChoice& choice) {
  switch (choice.kernel()) {
    case ConvKernel::Winograd:
      return
          [&choice] { return choice.work == WinogradWork::Filters ? filters_trial(choice) : winograd_trial(choice); };
    case ConvKernel::Depthwise:
      return [&choice, packs = !problem.constant_weights] { return depthwise_trial(choice, packs); };
    case ConvKernel::Strassen:
      return [&choice] { return strassen_trial(choice); };
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
