// Matrix products of two computed operands.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "isomer/engine/onednn/matmul_problem.h"
#include "isomer/engine/onednn/own_product.h"

namespace isomer::onednn {
namespace {

/// A strided description with axes of extent 1 in front.
Desc lifted(const Desc& desc, size_t rank) {
  const Dims dims = desc.dims();
  Dims strides = strides_of(desc);
  strides.insert(strides.begin(), rank - dims.size(), element_count(dims));
  return strided_desc(ones_in_front(dims, rank), strides, desc.data_type());
}

/// The layouts of operands and result.
struct Layouts {
  Desc a, b, dst;
};

/// A product of computed operands: their layouts, and how the primitive sees these.
struct Computed {
  Layouts lie, seen;
  MatMulChoice choice;
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
  if (problem.b_dims.size() != 2 || !lies_plain(planned.dst)) return std::nullopt;
  Layouts seen{planned.a, any_desc(problem.b_dims, problem.type), planned.dst};
  if (problem.dst.size() > 2) {
    if (!lies_plain(planned.a)) return std::nullopt;
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

/// Ways to compute a product that are compared by time. OneDNN reads some matrices slowly, such as those whose rows are
/// a large power of two apart.
class Contest {
 public:
  Contest(Builder& builder, const MatMulProblem& problem, const Layouts& planned)
      : builder_(builder),
        problem_(problem),
        key_(fmt::format("{} by {} by {}", key_of(problem), fmt::join(strides_of(planned.a), ","),
                         fmt::join(strides_of(planned.b), ","))) {}

  /// Adds a way of oneDNN, with the change of the layout of B and the kernels that scale what it adds. `what` names it.
  /// Those that read the changed B share the time of the change.
  void add(const Computed& product, const std::string& what) {
    ways_.emplace_back();
    add(product.choice.desc, key_ + product.choice.posts.key + what);
    for (const auto& operand : product.choice.posts.operands) {
      if (operand.scale == 1) continue;
      add(attempt([&] { return scaling_of(builder_.engine(), operand); }),
          fmt::format("scale {} {}", fmt::join(operand.layout.dims(), ","), layout_str(operand.layout)));
    }
    add_change(product.lie.b, what);
  }
  /// Adds our own kernel. Must outlive this.
  void add(const OwnProduct& own) {
    ways_.push_back({Part{contenders_.size(), 1}});
    contenders_.push_back(contender(own, key_of(problem_)));
    add_change(own.b, " own");
  }

  /// Returns the index of the fastest way.
  size_t fastest() const {
    const std::vector<double> us = builder_.tuner().times(contenders_);
    std::vector<double> sums;
    for (const auto& way : ways_) {
      double sum = 0;
      for (const auto& [kernel, share] : way)
        sum += kernel == kNone ? std::numeric_limits<double>::infinity() : share * us[kernel];
      sums.push_back(sum);
    }
    return static_cast<size_t>(std::ranges::min_element(sums) - sums.begin());
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  /// A contender, and the share of its time that counts.
  using Part = std::pair<size_t, double>;

  /// Adds the change of the layout of B, if it is in another one. B is in no cache, and neither is its copy: in a run,
  /// other kernels come between.
  void add_change(const Desc& to, const std::string& what) {
    const Desc lies = builder_.at(problem_.b).desc;
    if (same_layout(lies, to)) return;
    add(attempt([&] { return dnnl::reorder::primitive_desc(builder_.engine(), lies, builder_.engine(), to); }),
        key_ + what + " change", 1.0 / static_cast<double>(sharing_change(builder_, problem_.b, to)), Cold::Everything);
  }
  void add(const std::optional<dnnl::primitive_desc_base>& desc, const std::string& key, double share = 1,
           Cold cold = Cold::Weights) {
    ways_.back().emplace_back(desc ? contenders_.size() : kNone, share);
    if (!desc) return;
    descs_.push_back(*desc);
    contenders_.push_back(contender(builder_.engine(), descs_.back(), key, cold));
  }

  Builder& builder_;
  const MatMulProblem& problem_;
  const std::string key_;
  std::list<dnnl::primitive_desc_base> descs_;
  std::vector<Contender> contenders_;
  std::vector<std::vector<Part>> ways_;
};

}  // namespace

Result<bool> lower_computed_product(Builder& builder, const Group& group, const MatMulProblem& problem) {
  const ValueId result = builder.graph().node(group.last()).result();
  std::optional<Computed> product = as_planned(builder, problem);
  if (!product) return false;
  if (builder.tuner().measures()) {
    const auto own = lies_plain(product->lie.dst) ? own_product(builder, problem) : std::nullopt;
    auto other = with_b_changed(builder, problem, product->lie);
    if (own || other) {
      Contest contest(builder, problem, product->lie);
      contest.add(*product, "");
      if (own) contest.add(*own);
      if (other) contest.add(*other, " changed");
      const size_t fastest = contest.fastest();
      if (own && fastest == 1) {
        lower_own_product(builder, group, problem, *own);
        return true;
      }
      if (fastest > 0) product = std::move(other);
    }
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

}  // namespace isomer::onednn
