#include "isomer/engine/onednn/own_product.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "isomer/engine/onednn/own_kernel.h"
#include "isomer/engine/onednn/row_product.h"
#include "isomer/engine/onednn/threads.h"

namespace isomer::onednn {
namespace {

/// Returns the layout of a matrix of f32; nothing if neither axis is contiguous. The leading axes of row-major elements
/// are one axis.
std::optional<MatrixLayout> matrix_layout(const Desc& desc) {
  const Dims dims = desc.dims();
  if (desc.data_type() != kF32) return std::nullopt;
  if (lies_plain(desc)) return MatrixLayout{dims.back(), false};
  if (dims.size() != 2 || !is_strided(desc)) return std::nullopt;
  const Dims strides = strides_of(desc);
  if (strides[1] == 1) return MatrixLayout{strides[0], false};
  if (strides[0] == 1) return MatrixLayout{strides[1], true};
  return std::nullopt;
}

/// The arguments of a trial.
struct ProductTrial {
  MatrixProduct product;
  OwnPosts posts;
  int parts;
  TrialFloats a, b, bias, result, added, scratch;

  explicit ProductTrial(const OwnProduct& own)
      : product(own.product),
        posts(own.own_posts),
        parts(current_threads()),
        a(extent(product.a, product.rows, product.inner)),
        b(extent(product.b, product.inner, product.columns)),
        bias(product.columns),
        result(product.rows * product.columns),
        added(own.posts.operands.empty() ? 0 : product.rows * product.columns),
        scratch(matrix_product_scratch(product, parts)) {
    for (const auto& operand : own.posts.operands) posts.locate(static_cast<size_t>(operand.post), added.data());
  }
  void run() const {
    run_matrix_product(product, {a.data(), b.data(), bias.data(), result.data(), scratch.data()}, posts, parts);
  }

 private:
  static int64_t extent(const MatrixLayout& layout, int64_t rows, int64_t columns) {
    const int64_t lines = layout.transposed ? columns : rows, line = layout.transposed ? rows : columns;
    return (lines - 1) * layout.stride + line;
  }
};

std::string implementation() { return fmt::format("{}:product", own_implementation()); }

}  // namespace

int64_t sharing_change(const Builder& builder, ValueId value, const Desc& layout) {
  const Graph& graph = builder.graph();
  return std::ranges::count_if(graph.consumers(value), [&](NodeId id) {
    const Node& node = graph.node(id);
    return lies_plain(layout) || (node.op->has(Trait::Product) && graph.operands(node)[1] == value);
  });
}

std::optional<OwnProduct> own_product(Builder& builder, const MatMulProblem& given) {
  MatMulProblem problem = given;
  if (problem.type != kF32 || problem.dst_type != kF32 || problem.b_dims.size() != 2) return std::nullopt;
  join_rows(problem);
  const auto lies = [&](ValueId value) {
    const Desc desc = builder.at(value).desc;
    return matrix_layout(desc) ? desc : plain_desc(desc.dims());
  };
  OwnProduct own;
  own.a = lies(problem.a);
  own.b = lies(problem.b);
  const bool few_rows = problem.a_dims[0] <= kMaxRows;
  // A tile has many columns. Few rows are not worth packing B for, which a transposed one requires; but other products
  // may read it, too, once it is row-major.
  if (few_rows && matrix_layout(own.b)->transposed) {
    own.b = plain_desc(own.b.dims());
    if (sharing_change(builder, problem.b, own.b) == 1) return std::nullopt;
  }
  own.product = {problem.a_dims[0], problem.a_dims[1], problem.dst[1], *matrix_layout(own.a), *matrix_layout(own.b)};
  if (own.product.columns <= kMaxRows) return std::nullopt;
  const Desc dst = plain_desc(problem.dst);
  auto posts = make_posts(builder.graph(), problem.posts, problem.dst, dst, false);
  const auto own_ones = posts ? own_posts(*posts, dst) : std::nullopt;
  if (!own_ones) return std::nullopt;
  own.posts = std::move(*posts);
  own.own_posts = *own_ones;
  return own;
}

Contender contender(const OwnProduct& own, const std::string& key) {
  const auto text = [](const MatrixLayout& layout) { return fmt::format("{}{}", layout.stride, layout.transposed); };
  return {
      [&own] {
        const auto made = std::make_shared<const ProductTrial>(own);
        return PreparedTrial{[=] { made->run(); }, {made->b.bytes()}};
      },
      fmt::format("{} {} by {}{} {}", key, text(own.product.a), text(own.product.b), own.posts.key, implementation())};
}

void lower_own_product(Builder& builder, const Group& group, const MatMulProblem& problem, const OwnProduct& own) {
  const ValueId result = builder.graph().node(group.last()).result();
  const int parts = current_threads();
  const MatrixProduct product = own.product;
  const Location a = builder.as(problem.a, own.a), b = builder.as(problem.b, own.b);
  std::optional<Location> bias;
  if (problem.bias != kNoValue) bias = builder.as(problem.bias, bias_desc(problem, 1));
  const LocatedPosts posts(builder, own.posts, own.own_posts);
  const Location scratch = builder.room(static_cast<size_t>(matrix_product_scratch(product, parts)) * sizeof(float));
  const Desc whole = plain_desc(dims_of(builder.graph().type(result)));
  std::optional<Location> over;
  if (sums_at_once(product, parts)) over = posts.over(a);
  if (over && over->buffer == b.buffer) over.reset();
  if (over) over->desc = whole;  // with all axes
  OwnKernel kernel{.name = group_name(builder.graph(), group),
                   .implementation = implementation(),
                   .from = {a, b},
                   .scratch = scratch,
                   .to = builder.result(result, whole, over),
                   .result = result};
  emit_own(builder, std::move(kernel), bias, posts, [=](const Workspace& workspace, const FinishArguments& finish) {
    run_matrix_product(product,
                       {.a = elements_at(workspace, a),
                        .b = elements_at(workspace, b),
                        .bias = finish.bias,
                        .result = finish.result,
                        .scratch = mutable_elements_at(workspace, scratch)},
                       finish.posts, parts);
  });
}

}  // namespace isomer::onednn
