// Matrix products with constant weights.

#include <fmt/core.h>

#include <memory>

#include "isomer/engine/onednn/matmul_problem.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/row_product.h"

namespace isomer::onednn {
namespace {

/// A product of a few rows by our own kernel.
struct OwnChoice {
  RowProduct product;
  bool bias = false;
  PostOps posts;
  OwnPosts own_posts;
};

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

std::optional<OwnChoice> as_row_product(const Builder& builder, const MatMulProblem& problem) {
  const RowProduct product{problem.a_dims[0], problem.a_dims[1], problem.dst[1]};
  if (product.rows > kMaxRows || problem.type != kF32 || problem.dst_type != kF32) return std::nullopt;
  const Desc dst = plain_desc(problem.dst);
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, false);
  const auto own = posts ? own_posts(*posts, dst) : std::nullopt;
  if (!own) return std::nullopt;
  return OwnChoice{product, problem.bias != kNoValue, std::move(*posts), *own};
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
struct RowTrial {
  RowProduct product;
  OwnPosts posts;
  TrialFloats a, weights, bias, result;

  explicit RowTrial(const OwnChoice& choice)
      : product(choice.product),
        posts(choice.own_posts),
        a(product.rows * product.inner),
        weights(packed_weights(product)),
        bias(product.columns),
        result(product.rows * product.columns) {
    for (const auto& operand : choice.posts.operands) posts.locate(static_cast<size_t>(operand.post), result.data());
  }
  void run() const { run_row_product(product, {a.data(), weights.data(), bias.data(), result.data()}, posts); }
};

/// Returns whether our own kernel takes less than `us`.
bool is_faster(Builder& builder, const MatMulProblem& problem, const OwnChoice& choice, double us) {
  TuningLimit unlimited;
  const Trial trial = [&] {
    const auto made = std::make_shared<const RowTrial>(choice);
    return PreparedTrial{[=] { made->run(); }, {made->weights.bytes()}};
  };
  const std::string key = fmt::format("{}{} {}:rows", key_of(problem), choice.posts.key, own_implementation());
  return builder.tuner().time(trial, key, unlimited) < us;
}

void lower_rows(Builder& builder, const Group& group, const MatMulProblem& problem, const OwnChoice& choice) {
  const RowProduct product = choice.product;
  const ValueId result = builder.graph().node(group.last()).result();
  const Location a = builder.as(problem.a, plain_desc(problem.a_dims));
  // The rank tells transposed weights from others.
  Dims packed = {packed_weights(product)};
  if (problem.transposed) packed.push_back(1);
  const auto pack = [product, transposed = problem.transposed](const float* from, float* to) {
    pack_weights(product, transposed, from, to);
  };
  const Location weights = builder.converted_constant(problem.b, plain_desc(packed), pack);
  std::optional<Location> bias;
  if (choice.bias) bias = builder.as(problem.bias, bias_desc(problem, 1));
  const LocatedPosts posts(builder, choice.posts, choice.own_posts);
  const Desc whole = plain_desc(dims_of(builder.graph().type(result)));
  auto over = posts.over(a);
  if (over) over->desc = whole;
  OwnKernel kernel{.name = group_name(builder.graph(), group),
                   .implementation = fmt::format("{}:rows", own_implementation()),
                   .from = {a, weights},
                   .to = builder.result(result, whole, over),
                   .result = result};
  emit_own(builder, std::move(kernel), bias, posts, [=](const Workspace& workspace, const FinishArguments& finish) {
    run_row_product(product,
                    {.a = elements_at(workspace, a),
                     .weights = elements_at(workspace, weights),
                     .bias = finish.bias,
                     .result = finish.result},
                    finish.posts);
  });
}

}  // namespace

Result<bool> lower_weighted_product(Builder& builder, const Group& group, const MatMulProblem& problem) {
  double us = 0;
  auto choice = choose_weighted(builder, problem, us);
  if (!choice) return false;
  if (builder.tuner().measures())
    if (const auto own = as_row_product(builder, problem); own && is_faster(builder, problem, *own, us)) {
      lower_rows(builder, group, problem, *own);
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
