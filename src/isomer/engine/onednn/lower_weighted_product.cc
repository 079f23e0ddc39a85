// Matrix products with constant weights.

#include <fmt/core.h>

#include <functional>
#include <memory>

#include "isomer/engine/onednn/matmul_problem.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/row_product.h"
#include "isomer/engine/onednn/strassen.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

struct WeightedArguments {
  const float* a = nullptr;
  const float* weights = nullptr;  ///< packed
  const float* bias = nullptr;     ///< nullptr: none
  float* result = nullptr;
  float* scratch = nullptr;
};

/// A kernel of our own for a product with constant weights.
struct OwnKind {
  const char* name = nullptr;
  int64_t weights = 0;      ///< floats of the packed weights
  int64_t scratch = 0;      ///< floats
  bool overwrites = false;  ///< whether it may write its result over a value that it adds
  Builder::Conversion pack = nullptr;
  std::function<void(const WeightedArguments&, const OwnPosts&)> run = nullptr;
};

/// Such a kernel with its posts.
struct OwnChoice {
  OwnKind kind;
  PostOps posts;
  OwnPosts own_posts;
};

OwnKind row_kind(const RowProduct& product, bool transposed) {
  return {.name = "rows",
          .weights = packed_weights(product),
          .overwrites = true,
          .pack = [=](const float* from, float* to) { pack_weights(product, transposed, from, to); },
          .run =
              [=](const WeightedArguments& arguments, const OwnPosts& posts) {
                run_row_product(product, {arguments.a, arguments.weights, arguments.bias, arguments.result}, posts);
              }};
}

OwnKind strassen_kind(const StrassenProduct& product, bool transposed) {
  const int threads = current_threads();
  return {.name = "strassen",
          .weights = strassen_weights(product),
          .scratch = strassen_scratch(product, threads),
          .pack = [=](const float* from, float* to) { pack_strassen_weights(product, transposed, from, to); },
          .run =
              [=](const WeightedArguments& arguments, const OwnPosts& posts) {
                run_strassen(product,
                             {arguments.a, arguments.weights, arguments.bias, arguments.result, arguments.scratch},
                             posts, threads);
              }};
}

std::optional<MatMulChoice> as_inner_product(const Builder& builder, const MatMulProblem& problem, bool sum) {
  const Desc dst = plain_desc(problem.dst, problem.dst_type);
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, sum);
  if (!posts) return std::nullopt;
  const Dims weights = {problem.b_dims[1], problem.b_dims[0]};
  auto desc = attempt([&] {
    const dnnl::inner_product_forward::desc what(dnnl::prop_kind::forward_inference,
                                                 plain_desc(problem.a_dims, problem.type),
                                                 any_desc(weights, problem.type), bias_desc(problem, 1), dst);
    return dnnl::inner_product_forward::primitive_desc(what, posts->attr, builder.engine(), true);
  });
  if (!desc || is_reference(desc->impl_info_str())) return std::nullopt;
  return MatMulChoice{std::move(*desc), std::move(*posts), true};
}

/// Returns the kernel of our own that may be faster than oneDNN's; nothing if none computes the product.
std::optional<OwnChoice> as_own(const Builder& builder, const MatMulProblem& problem) {
  const int64_t rows = problem.a_dims[0], inner = problem.a_dims[1], columns = problem.dst[1];
  const bool strassen = is_worth_strassen({rows, inner, columns});
  if ((rows > kMaxRows && !strassen) || problem.type != kF32 || problem.dst_type != kF32) return std::nullopt;
  const Desc dst = plain_desc(problem.dst);
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, false);
  const auto own = posts ? own_posts(*posts, dst) : std::nullopt;
  if (!own) return std::nullopt;
  OwnKind kind = strassen ? strassen_kind({rows, inner, columns}, problem.transposed)
                          : row_kind({rows, inner, columns}, problem.transposed);
  return OwnChoice{std::move(kind), std::move(*posts), *own};
}

/// Returns the fastest of oneDNN's ways for constant weights, and sets its time if times are measured.
std::optional<MatMulChoice> choose_weighted(Builder& builder, const MatMulProblem& problem, double& min_time) {
  std::optional<MatMulChoice> best;
  TuningLimit unlimited;
  const std::string key = key_of(problem);
  const auto consider = [&](std::optional<MatMulChoice> choice) {
    const bool measures = builder.tuner().measures();
    if (!choice || (best && !measures)) return;
    const double time =
        measures ? builder.tuner().time(builder.engine(), choice->desc, key + choice->posts.key, unlimited) : 0;
    if (best && time >= min_time) return;
    min_time = time;
    best = std::move(choice);
  };
  // Some kernels add into their result only before functions; after functions, they read the added value elsewhere.
  for (const bool sum : {true, false}) {
    consider(as_inner_product(builder, problem, sum));
    consider(as_matmul(builder, problem, plain_desc(problem.a_dims, problem.type),
                       any_desc(problem.b_dims, problem.type), plain_desc(problem.dst, problem.dst_type), sum));
    if (best) break;
  }
  return best;
}

/// Returns the same primitive, but reading the added value, which must be kept, from its own place; nothing if oneDNN
/// has no such code.
std::optional<MatMulChoice> reading(Builder& builder, const MatMulProblem& problem, const MatMulChoice& choice) {
  const Location added = builder.as(*choice.posts.summed,
                                    plain_desc(dims_of(builder.graph().type(*choice.posts.summed)), problem.dst_type));
  if (builder.may_overwrite(added)) return std::nullopt;
  if (choice.inner_product) return as_inner_product(builder, problem, false);
  return as_matmul(builder, problem, plain_desc(problem.a_dims, problem.type), any_desc(problem.b_dims, problem.type),
                   plain_desc(problem.dst, problem.dst_type), false);
}

/// The arguments of a trial of our own kernel.
struct OwnTrial {
  OwnKind kind;
  OwnPosts posts;
  TrialFloats a, weights, bias, result, added, scratch;

  OwnTrial(const MatMulProblem& problem, const OwnChoice& choice)
      : kind(choice.kind),
        posts(choice.own_posts),
        a(element_count(problem.a_dims)),
        weights(kind.weights),
        bias(problem.dst[1]),
        result(element_count(problem.dst)),
        added(choice.posts.operands.empty() || kind.overwrites ? 0 : element_count(problem.dst)),
        scratch(kind.scratch) {
    for (const auto& operand : choice.posts.operands)
      posts.locate(static_cast<size_t>(operand.post), kind.overwrites ? result.data() : added.data());
  }
  void run() const { kind.run({a.data(), weights.data(), bias.data(), result.data(), scratch.data()}, posts); }
};

std::string implementation(const OwnKind& kind) { return fmt::format("{}:{}", own_implementation(), kind.name); }

/// Returns whether our own kernel takes less than `us`.
bool is_faster(Builder& builder, const MatMulProblem& problem, const OwnChoice& choice, double us) {
  TuningLimit unlimited;
  const Trial trial = [&] {
    const auto made = std::make_shared<const OwnTrial>(problem, choice);
    return PreparedTrial{[=] { made->run(); }, {made->weights.bytes()}};
  };
  const std::string key = fmt::format("{}{} {}", key_of(problem), choice.posts.key, implementation(choice.kind));
  return builder.tuner().time(trial, key, unlimited) < us;
}

void lower_own(Builder& builder, const Group& group, const MatMulProblem& problem, const OwnChoice& choice) {
  const OwnKind& kind = choice.kind;
  const ValueId result = builder.graph().node(group.last()).result();
  const Location a = builder.as(problem.a, plain_desc(problem.a_dims));
  // The rank tells the kernels and transposed weights apart.
  Dims packed = {kind.weights};
  if (kind.scratch > 0) packed.insert(packed.end(), 2, 1);
  if (problem.transposed) packed.push_back(1);
  const Location weights = builder.converted_constant(problem.b, plain_desc(packed), kind.pack);
  std::optional<Location> bias, scratch;
  if (problem.bias != kNoValue) bias = builder.as(problem.bias, bias_desc(problem, 1));
  if (kind.scratch > 0) scratch = builder.room(static_cast<size_t>(kind.scratch) * sizeof(float));
  const LocatedPosts posts(builder, choice.posts, choice.own_posts);
  const Desc whole = plain_desc(dims_of(builder.graph().type(result)));
  auto over = kind.overwrites ? posts.over(a) : std::nullopt;
  if (over) over->desc = whole;
  OwnKernel kernel{.name = group_name(builder.graph(), group),
                   .implementation = implementation(kind),
                   .from = {a, weights},
                   .scratch = scratch,
                   .to = builder.result(result, whole, over),
                   .result = result};
  emit_own(builder, std::move(kernel), bias, posts,
           [=, run = kind.run](const Workspace& workspace, const FinishArguments& finish) {
             run({.a = elements_at(workspace, a),
                  .weights = elements_at(workspace, weights),
                  .bias = finish.bias,
                  .result = finish.result,
                  .scratch = scratch ? mutable_elements_at(workspace, *scratch) : nullptr},
                 finish.posts);
           });
}

}  // namespace

Result<bool> lower_weighted_product(Builder& builder, const Group& group, const MatMulProblem& problem) {
  double us = 0;
  auto choice = choose_weighted(builder, problem, us);
  if (!choice) return false;
  if (builder.tuner().measures())
    if (const auto own = as_own(builder, problem); own && is_faster(builder, problem, *own, us)) {
      lower_own(builder, group, problem, *own);
      return true;
    }
  if (choice->posts.summed)
    if (auto other = reading(builder, problem, *choice)) choice = std::move(other);
  const ValueId result = builder.graph().node(group.last()).result();
  const Location a = builder.as(problem.a, plain_desc(problem.a_dims, problem.type));
  // Row-major data under swapped extents is its own transpose.
  const Desc wanted = choice->desc.weights_desc();
  const Dims given = problem.weights->dims();
  const bool swapped = problem.transposed != choice->inner_product;
  const Desc lies = swapped ? permuted(plain_desc(given), {1, 0}) : plain_desc(given);
  const Location weights = builder.constant(problem.b, lies, wanted);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, weights}};
  if (problem.bias != kNoValue)
    arguments.push_back(
        {DNNL_ARG_BIAS, builder.as(problem.bias, bias_desc(problem, choice->inner_product ? 1 : problem.dst.size()))});
  add_post_arguments(builder, choice->posts, arguments);
  const Desc whole = plain_desc(dims_of(builder.graph().type(result)), problem.dst_type);
  Location dst = place_result(builder, choice->posts, whole, arguments, result);
  dst.desc = plain_desc(problem.dst, problem.dst_type);
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(builder.graph(), group), choice->desc, arguments, {result});
  dst.desc = whole;
  builder.place(result, dst);
  return true;
}

}  // namespace isomer::onednn
