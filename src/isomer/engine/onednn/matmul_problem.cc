#include "isomer/engine/onednn/matmul_problem.h"

#include <fmt/ranges.h>

#include <utility>

namespace isomer::onednn {
namespace {

/// Returns whether a value is a vector of this extent, with any number of ones in front.
bool is_row(const Graph& graph, ValueId value, int64_t extent) {
  const Dims dims = dims_of(graph.type(value));
  return dims.back() == extent && element_count(dims) == extent;
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

/// Turns the addition of a vector to every row into a bias.
void take_bias(const Graph& graph, MatMulProblem& problem) {
  if (problem.bias != kNoValue || problem.posts.empty() || problem.posts[0].function || problem.posts[0].scale != 1)
    return;
  const ValueId added = problem.posts[0].added;
  if (!is_row(graph, added, problem.dst.back()) || problem.dst.back() == 1) return;
  problem.bias = added;
  problem.posts = problem.posts.subspan(1);
}

}  // namespace

std::optional<MatMulProblem> read_matmul(const Graph& graph, const Group& group) {
  MatMulProblem problem = problem_of(graph, group);
  if (graph.type(problem.a).rank() < 2 || graph.type(problem.b).rank() < 2) return std::nullopt;
  const Tensor* constant = graph.constant(problem.b);
  if (constant != nullptr && problem.b_dims.size() == 2) {
    problem.weights = *constant;
    join_rows(problem);
  }
  take_bias(graph, problem);
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
  take_bias(graph, problem);
  return problem;
}

void join_rows(MatMulProblem& problem) {
  const int64_t inner = problem.a_dims.back();
  const int64_t rows = element_count(problem.a_dims) / inner;
  problem.a_dims = {rows, inner};
  problem.dst = {rows, problem.b_dims.back()};
}

std::string key_of(const MatMulProblem& problem) {
  return fmt::format("matmul {} {} b{}{}{}", fmt::join(problem.a_dims, ","), fmt::join(problem.b_dims, ","),
                     problem.bias != kNoValue, problem.type == kF32 ? "" : " bf16",
                     problem.dst_type == kF32 ? "" : " to bf16");
}

Dims ones_in_front(Dims dims, size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

Desc bias_desc(const MatMulProblem& problem, size_t rank) {
  if (problem.bias == kNoValue) return {};
  return plain_desc(ones_in_front({problem.dst.back()}, rank));
}

std::optional<MatMulChoice> as_matmul(const Builder& builder, const MatMulProblem& problem, const Desc& a,
                                      const Desc& b, const Desc& dst, bool sum) {
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, sum);
  if (!posts) return std::nullopt;
  // oneDNN 2.6.3 generates code that crashes if it adds a broadcast value to a result that is not row-major.
  const auto is_broadcast = [&](const auto& operand) { return operand.layout.dims() != problem.dst; };
  if (!lies_plain(dst) && std::ranges::any_of(posts->operands, is_broadcast)) return std::nullopt;
  auto desc = attempt([&] {
    const dnnl::matmul::desc what(a, b, bias_desc(problem, problem.dst.size()), dst);
    return dnnl::matmul::primitive_desc(what, posts->attr, builder.engine(), true);
  });
  if (!desc || is_reference(desc->impl_info_str())) return std::nullopt;
  return MatMulChoice{std::move(*desc), std::move(*posts)};
}

}  // namespace isomer::onednn
