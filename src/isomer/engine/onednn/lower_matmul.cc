// Matrix products.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/row_product.h"

namespace isomer::onednn {
namespace {

/// A product: operands as the primitive sees them, and the vector that is added to every row.
struct MatMulProblem {
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  Dims a_dims = {}, b_dims = {}, dst = {};       // as the primitive sees them
  std::optional<Tensor> weights = std::nullopt;  // B, if it is a constant matrix
  bool transposed = false;                       // of `weights`: [n, k]
  ValueId bias = kNoValue;                       // a vector over the last axis
  std::span<const Post> posts = {};              // without the one that became the bias
  ElementType type = kF32;                       // of the operands
  ElementType dst_type = kF32;
};

Dims ones_in_front(Dims dims, size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

/// A strided description with axes of extent 1 in front.
Desc lifted(const Desc& desc, size_t rank) {
  const Dims dims = desc.dims();
  Dims strides = strides_of(desc);
  strides.insert(strides.begin(), rank - dims.size(), element_count(dims));
  return strided_desc(ones_in_front(dims, rank), strides, desc.data_type());
}

/// Returns whether a value is a vector over the last axis of `dims`, with any number of ones in front.
bool is_row(const Graph& graph, ValueId value, int64_t extent) {
  const Dims dims = dims_of(graph.type(value));
  return dims.back() == extent && element_count(dims) == extent;
}

/// Joins the leading axes of A and of the result to one if B is a matrix.
void join_rows(MatMulProblem& problem) {
  const int64_t inner = problem.a_dims.back();
  const int64_t rows = element_count(problem.a_dims) / inner;
  problem.a_dims = {rows, inner};
  problem.dst = {rows, problem.b_dims.back()};
}

/// Returns the operands and extents that MatMul and Gemm have in common.
MatMulProblem problem_of(const Graph& graph, const Group& group) {
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  MatMulProblem problem{operands[0], operands[1]};
  problem.a_dims = dims_of(graph.type(problem.a));
  problem.b_dims = dims_of(graph.type(problem.b));
  problem.dst = dims_of(graph.type(node.result()));
  problem.posts = group.posts;
  return problem;
}

std::optional<MatMulProblem> read_matmul(const Graph& graph, const Group& group) {
  MatMulProblem problem = problem_of(graph, group);
  if (graph.type(problem.a).rank() < 2 || graph.type(problem.b).rank() < 2) return std::nullopt;
  const Tensor* constant = graph.constant(problem.b);
  if (constant != nullptr && problem.b_dims.size() == 2) {
    problem.weights = *constant;
    join_rows(problem);
  }
  return problem;
}

std::optional<MatMulProblem> read_gemm(const Graph& graph, const Group& group) {
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  MatMulProblem problem = problem_of(graph, group);
  problem.transposed = node.attrs.integer("transB") != 0;
  const bool has_c = operands.size() > 2 && operands[2] != kNoValue;
  const Tensor* constant = graph.constant(problem.b);
  if (node.attrs.integer("transA") != 0 || node.attrs.real("alpha") != 1 || constant == nullptr) return std::nullopt;
  if (has_c) {
    if (node.attrs.real("beta") != 1 || !is_row(graph, operands[2], problem.dst.back())) return std::nullopt;
    problem.bias = operands[2];
  }
  problem.weights = *constant;
  if (problem.transposed) std::swap(problem.b_dims[0], problem.b_dims[1]);
  return problem;
}

/// Turns the addition of a vector to every row into a bias.
void take_bias(const Graph& graph, MatMulProblem& problem) {
  if (problem.bias != kNoValue || problem.posts.empty() || problem.posts[0].function) return;
  const ValueId added = problem.posts[0].added;
  if (!is_row(graph, added, problem.dst.back()) || problem.dst.back() == 1) return;
  problem.bias = added;
  problem.posts = problem.posts.subspan(1);
}

/// One way to compute a product.
struct Choice {
  dnnl::primitive_desc desc;
  PostOps posts;
  bool inner_product = false;
};

/// A product of a few rows by our own kernel.
struct OwnChoice {
  RowProduct product;
  bool bias = false;
  PostOps posts;
  OwnPosts own_posts;
};

Desc bias_desc(const MatMulProblem& problem, size_t rank) {
  if (problem.bias == kNoValue) return {};
  return plain_desc(ones_in_front({problem.dst.back()}, rank));
}

std::optional<Choice> as_matmul(const Builder& builder, const MatMulProblem& problem, const Desc& a, const Desc& b,
                                const Desc& dst, bool sum) {
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, sum);
  if (!posts) return std::nullopt;
  auto desc = attempt([&] {
    const dnnl::matmul::desc what(a, b, bias_desc(problem, problem.dst.size()), dst);
    return dnnl::matmul::primitive_desc(what, posts->attr, builder.engine(), true);
  });
  if (!desc || is_reference(desc->impl_info_str())) return std::nullopt;
  return Choice{std::move(*desc), std::move(*posts)};
}

std::optional<Choice> as_inner_product(const Builder& builder, const MatMulProblem& problem, bool sum) {
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
  return Choice{std::move(*desc), std::move(*posts), true};
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

std::string key_of(const MatMulProblem& problem) {
  return fmt::format("matmul {} {} b{}{}{}", fmt::join(problem.a_dims, ","), fmt::join(problem.b_dims, ","),
                     problem.bias != kNoValue, problem.type == kF32 ? "" : " bf16",
                     problem.dst_type == kF32 ? "" : " to bf16");
}

/// Returns the fastest of oneDNN's ways for constant weights, and sets its time if times are measured.
std::optional<Choice> choose_weighted(Builder& builder, const MatMulProblem& problem, double& min_time) {
  std::optional<Choice> best;
  TuningLimit unlimited;
  const std::string key = key_of(problem);
  const auto consider = [&](std::optional<Choice> choice) {
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
std::optional<Choice> reading(Builder& builder, const MatMulProblem& problem, const Choice& choice) {
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
  if (bias) kernel.from.push_back(*bias);
  kernel.from.insert(kernel.from.end(), posts.added().begin(), posts.added().end());
  kernel.run = [=, to = kernel.to](Workspace& workspace) -> Status {
    run_row_product(product,
                    {.a = elements_at(workspace, a),
                     .weights = elements_at(workspace, weights),
                     .bias = bias ? elements_at(workspace, *bias) : nullptr,
                     .result = mutable_elements_at(workspace, to)},
                    posts.in(workspace));
    return {};
  };
  emit_own(builder, std::move(kernel));
}

Result<bool> lower_weighted(Builder& builder, const Group& group, const MatMulProblem& problem) {
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
  Location dst = place_result(builder, choice->posts, whole, a, result);
  dst.desc = plain_desc(problem.dst, problem.dst_type);
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(builder.graph(), group), choice->desc, arguments, {result});
  dst.desc = whole;
  builder.place(result, dst);
  return true;
}

/// The layouts of operands and result.
struct Layouts {
  Desc a, b, dst;
};

/// A product of computed operands: their layouts, and how the primitive sees these.
struct Computed {
  Layouts lie, seen;
  Choice choice;
};

Layouts planned_layouts(Builder& builder, const MatMulProblem& problem, const GroupForms& planned) {
  const auto operand = [&](ValueId value, Form form) {
    const Desc lies = builder.at(value).desc;
    return form == kGivenForm ? retyped(lies, problem.type) : plain_desc(lies.dims(), problem.type);
  };
  Desc dst = plain_desc(problem.dst, problem.dst_type);
  if (planned.out == kStridedForm) {
    Dims strides = *concrete(planned.strides);
    // OneDNN requires that a row's stride is at least its extent, even for a single row.
    const size_t row = strides.size() - 2;
    if (problem.dst[row] == 1) strides[row] = std::max(strides[row], problem.dst[row + 1]);
    dst = strided_desc(problem.dst, strides, problem.dst_type);
  }
  return {operand(problem.a, planned.in), operand(problem.b, planned.second), dst};
}

/// Returns the product in the planned layouts, else in row-major ones; nothing if oneDNN has no code for either.
std::optional<Computed> as_planned(Builder& builder, const MatMulProblem& problem) {
  const size_t rank = problem.dst.size();
  for (const GroupForms& forms : {builder.planned(), GroupForms()}) {
    const Layouts lie = planned_layouts(builder, problem, forms);
    const Layouts seen{lifted(lie.a, rank), lifted(lie.b, rank), lie.dst};
    if (auto choice = as_matmul(builder, problem, seen.a, seen.b, seen.dst, false))
      return Computed{lie, seen, std::move(*choice)};
  }
  return std::nullopt;
}

/// Returns the product after a change of the layout of B, if B is a matrix, to the one that oneDNN prefers.
std::optional<Computed> with_b_changed(const Builder& builder, MatMulProblem problem, const Layouts& planned) {
  const auto is_plain = [](const Desc& desc) { return same_layout(desc, plain_desc(desc.dims(), desc.data_type())); };
  if (problem.b_dims.size() != 2 || !is_plain(planned.dst)) return std::nullopt;
  Layouts seen{planned.a, any_desc(problem.b_dims, problem.type), planned.dst};
  if (problem.dst.size() > 2) {
    if (!is_plain(planned.a)) return std::nullopt;
    join_rows(problem);
    seen.a = plain_desc(problem.a_dims, problem.type);
    seen.dst = plain_desc(problem.dst, problem.dst_type);
  }
  auto choice = as_matmul(builder, problem, seen.a, seen.b, seen.dst, false);
  if (!choice) return std::nullopt;
  seen.b = choice->desc.weights_desc();
  if (same_layout(seen.b, planned.b)) return std::nullopt;
  return Computed{{planned.a, seen.b, planned.dst}, seen, std::move(*choice)};
}

/// Returns whether a product takes less time in other layouts, changes of the layout of B included. OneDNN reads some
/// matrices slowly, such as those whose rows are a large power of two apart.
bool pays(Builder& builder, const MatMulProblem& problem, const Computed& other, const Computed& planned) {
  const Desc lies = builder.at(problem.b).desc;
  const std::string key = fmt::format("{} by {} by {}", key_of(problem), fmt::join(strides_of(planned.lie.a), ","),
                                      fmt::join(strides_of(planned.lie.b), ","));
  TuningLimit unlimited;
  const auto us = [&](const Computed& product, const std::string& what) {
    double sum =
        builder.tuner().time(builder.engine(), product.choice.desc, key + product.choice.posts.key + what, unlimited);
    if (same_layout(lies, product.lie.b)) return sum;
    const auto change =
        attempt([&] { return dnnl::reorder::primitive_desc(builder.engine(), lies, builder.engine(), product.lie.b); });
    if (!change) return std::numeric_limits<double>::infinity();
    sum += builder.tuner().time(builder.engine(), *change, key + what + " change", unlimited);
    return sum;
  };
  return us(other, " changed") < us(planned, "");
}

/// Emits a product of two computed operands.
Result<bool> lower_computed(Builder& builder, const Group& group, const MatMulProblem& problem) {
  const ValueId result = builder.graph().node(group.last()).result();
  std::optional<Computed> product = as_planned(builder, problem);
  if (!product) return false;
  if (builder.tuner().measures()) {
    auto other = with_b_changed(builder, problem, product->lie);
    if (other && pays(builder, problem, *other, *product)) product = std::move(other);
  }
  const auto& [lie, seen, choice] = *product;
  const auto location = [&](ValueId value, const Desc& lies, const Desc& sees) {
    Location operand = builder.as(value, lies);
    operand.desc = sees;
    return operand;
  };
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, location(problem.a, lie.a, seen.a)},
                                     {DNNL_ARG_WEIGHTS, location(problem.b, lie.b, seen.b)}};
  if (problem.bias != kNoValue)
    arguments.push_back({DNNL_ARG_BIAS, builder.as(problem.bias, bias_desc(problem, seen.dst.dims().size()))});
  add_post_arguments(builder, choice.posts, arguments);
  const Location to = builder.result(result, lie.dst);
  Location dst = to;
  dst.desc = seen.dst;
  arguments.push_back({DNNL_ARG_DST, dst});
  builder.emit(group_name(builder.graph(), group), choice.desc, arguments, {result});
  builder.place(result, to);
  return true;
}

}  // namespace

Result<bool> lower_matmul(Builder& builder, const Group& group) {
  const Graph& graph = builder.graph();
  const Node& node = graph.node(group.root);
  const auto operands = graph.operands(node);
  if (!is_dense(graph, operands[0]) || !is_dense(graph, operands[1]) || !is_dense(graph, node.result())) return false;
  auto problem = node.op->name == "Gemm" ? read_gemm(graph, group) : read_matmul(graph, group);
  if (!problem) return false;
  take_bias(graph, *problem);
  for (const ElementType type : builder.types()) {
    problem->type = type;
    problem->dst_type = builder.result_type(graph.node(group.last()).result(), type);
    ISOMER_TRY(const bool done,
               problem->weights ? lower_weighted(builder, group, *problem) : lower_computed(builder, group, *problem));
    if (done) return true;
  }
  return false;
}

}  // namespace isomer::onednn
