// Checks that operators have the properties that they declare (ir/traits.h).

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "isomer/ops/kernel.h"
#include "isomer/ops/testing.h"

namespace isomer {
namespace {

using testing::run;

/// A valid value of an attribute for operands of rank 4 with 4 channels; the preset if any value is valid.
std::optional<AttrValue> sample_value(const OpDef& op, const AttrDef& attr) {
  switch (attr.domain) {
    case AttrDomain::Axis:
    case AttrDomain::AxisOrEnd:
      return int64_t{1};
    case AttrDomain::Axes:
    case AttrDomain::ResultAxes:
      return op.has(Trait::Cut) ? Ints{3} : Ints{0};
    case AttrDomain::Permutation:
      return Ints{3, 1, 0, 2};
    case AttrDomain::Parts:
      return Ints{1, 3};
    case AttrDomain::SameSize:
      return Ints{-1, 2};
    case AttrDomain::Starts:
    case AttrDomain::Steps:
      return Ints{1};
    case AttrDomain::Ends:
      return Ints{3};
    case AttrDomain::Window:
    case AttrDomain::Strides:
      return Ints{1, 1};
    case AttrDomain::WindowPads:
      return Ints{0, 0, 0, 0};
    case AttrDomain::OutputPadding:
      return Ints{0, 0};
    case AttrDomain::Values:
      return attr.values.front();
    default:
      return attr.kind == AttrKind::Ints && !attr.optional ? std::optional<AttrValue>(Ints{1, 1}) : attr.preset;
  }
}

Attrs sample_attrs(const OpDef& op) {
  std::vector<Attrs::Entry> entries;
  for (const AttrDef& attr : op.attrs)
    if (auto value = sample_value(op, attr); value && !attr.optional)
      entries.emplace_back(attr.name, std::move(*value));
  return Attrs(std::move(entries));
}

/// 1, 2, 3, ... of any element type.
Tensor counted(DType dtype, const Ints& dims) {
  const auto n = static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
  const auto fill = [&]<class T>(T one) {
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<T>(dtype == DType::Bool ? i % 2 : i + 1) * one;
    return Tensor::of<T>(dtype, dims, values);
  };
  if (dtype == DType::Bool) return fill(uint8_t{1});
  if (dtype == DType::Uint64) return fill(uint64_t{1});
  return dtype == DType::Int64 ? fill(int64_t{1}) : fill(1.0F);
}

/// An operand: the first is [1, 4, 2, 3], others follow from their roles and traits. `data` is the element type of the
/// others.
Tensor sample_operand(const OpDef& op, size_t index, DType data) {
  switch (op.role(index)) {
    case OperandRole::Condition:
      return counted(DType::Bool, op.data_dependent ? Ints{4} : Ints{1, 4, 2, 3});
    case OperandRole::Indices:
      return Tensor::ints({2}, {0, 1});
    case OperandRole::ElementIndices:
      return Tensor::ints({1, 1, 2, 3}, {0, 1, 2, 3, 0, 1});
    case OperandRole::Coordinates:
      return Tensor::ints({2, 2}, {0, 0, 0, 3});
    case OperandRole::Labels:
      return Tensor::ints({1, 2, 3}, {0, 1, 2, 3, 0, 1});
    case OperandRole::Filters:
    case OperandRole::TransposedFilters:
      return counted(data, {4, 4, 1, 1});
    case OperandRole::FilterBias:
    case OperandRole::PerChannel:
      return counted(data, {4});
    case OperandRole::RightFactor:
      return counted(data, {3, 2});
    default:
      break;
  }
  if (op.role(1) == OperandRole::ElementIndices && index == 2) return counted(data, {1, 1, 2, 3});
  if (op.role(1) == OperandRole::Coordinates && index == 2) return counted(data, {2, 2, 3});
  if (op.name == "MaxRoiPool" && index == 1) return counted(data, {1, 5});
  if (op.has(Trait::Product)) return counted(data, index == 0 ? Ints{2, 3} : Ints{3, 2});
  return counted(data, {1, 4, 2, 3});
}

std::vector<Tensor> sample_operands(const OpDef& op, DType data = DType::Float) {
  std::vector<Tensor> out;
  const size_t n = std::max(op.min_operands, std::min<size_t>(op.max_operands, op.has(Trait::Concatenation) ? 2 : 1));
  for (size_t i = 0; i < n; ++i) out.push_back(sample_operand(op, i, data));
  return out;
}

Result<std::vector<TensorType>> inferred(const OpDef& op, const std::vector<Tensor>& operands) {
  ISOMER_TRY(const Attrs attrs, complete_attrs(op, sample_attrs(op)));
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  std::vector<const TensorType*> pointers;
  for (const TensorType& type : types) pointers.push_back(&type);
  const auto* parts = std::get_if<Ints>(attrs.find("split"));
  return op.infer(OpView{op, attrs, pointers, parts == nullptr ? std::max<size_t>(1, op.min_results) : parts->size()});
}

Result<std::vector<Tensor>> computed(const OpDef& op, const std::vector<Tensor>& operands) {
  const Attrs attrs = sample_attrs(op);
  const auto* parts = std::get_if<Ints>(attrs.find("split"));
  return run(op.name, attrs, operands, parts == nullptr ? std::max<size_t>(1, op.min_results) : parts->size());
}

std::vector<float> elements(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }

template <class Test>
void for_each_with(Trait trait, const Test& test) {
  size_t found = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->has(trait)) continue;
    SCOPED_TRACE(op->name);
    ++found;
    const auto results = computed(*op, sample_operands(*op));
    ASSERT_TRUE(results.has_value()) << results.error().message;
    test(*op, sample_operands(*op), *results);
  }
  EXPECT_GT(found, 0U);
}

TEST(Traits, IdentityGivesItsOperand) {
  for_each_with(Trait::Identity, [](const OpDef&, const auto& operands, const auto& results) {
    EXPECT_EQ(results[0].type(), operands[0].type());
    EXPECT_EQ(elements(results[0]), elements(operands[0]));
  });
}

TEST(Traits, ViewsKeepTheOrderOfElements) {
  for_each_with(Trait::View, [](const OpDef& op, const auto& operands, const auto& results) {
    EXPECT_EQ(elements(results[0]), elements(operands[0]));
    EXPECT_EQ(op.compute, Compute::Movement);
  });
}

TEST(Traits, PermutationsMoveAxes) {
  for_each_with(Trait::Permutation, [](const OpDef&, const auto& operands, const auto& results) {
    ASSERT_EQ(results[0].dims(), (std::vector<int64_t>{3, 4, 1, 2}));  // of [1, 4, 2, 3] by [3, 1, 0, 2]
    const auto from = elements(operands[0]);
    const auto to = elements(results[0]);
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < 4; ++b)
        for (size_t c = 0; c < 2; ++c) EXPECT_EQ(to[(a * 4 + b) * 2 + c], from[(b * 2 + c) * 3 + a]);
  });
}

TEST(Traits, CutsTakeEachElementOnce) {
  for_each_with(Trait::Cut, [](const OpDef&, const auto& operands, const auto& results) {
    std::vector<float> taken;
    for (const Tensor& part : results) {
      const auto here = elements(part);
      EXPECT_TRUE(std::ranges::is_sorted(here)) << "elements keep their order";
      taken.insert(taken.end(), here.begin(), here.end());
    }
    std::ranges::sort(taken);
    EXPECT_FALSE(taken.empty());
    EXPECT_TRUE(std::ranges::adjacent_find(taken) == taken.end());
    EXPECT_TRUE(std::ranges::includes(elements(operands[0]), taken));
  });
}

TEST(Traits, PoolsOfWindowsWithOneElementTakeIt) {
  for_each_with(Trait::Pool, [](const OpDef& op, const auto& operands, const auto&) {
    const auto results = run(
        op.name,
        {{"kernel_shape", Ints{1, 1}}, {"strides", Ints{1, 2}}, {"dilations", Ints{1, 1}}, {"pads", Ints{0, 0, 0, 0}}},
        operands);
    ASSERT_TRUE(results.has_value());
    std::vector<float> wanted;  // of rows of three elements
    const auto from = elements(operands[0]);
    for (size_t i = 0; i < from.size(); ++i)
      if (i % 3 != 1) wanted.push_back(from[i]);
    EXPECT_EQ(elements((*results)[0]), wanted);
  });
}

TEST(Traits, ConcatenationsPutOperandsOneAfterAnother) {
  for_each_with(Trait::Concatenation, [](const OpDef&, const auto& operands, const auto& results) {
    auto both = elements(operands[0]);
    const auto second = elements(operands[1]);
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(results[0].dims(), (std::vector<int64_t>{1, 8, 2, 3}));  // along axis 1
    EXPECT_EQ(elements(results[0]), both);
  });
}

TEST(Traits, ConversionsGiveTheTypeThatTheyAreAskedFor) {
  for_each_with(Trait::Conversion, [](const OpDef& op, const auto& operands, const auto&) {
    const auto results = run(op.name, {{"to", static_cast<int64_t>(DType::Double)}}, operands);
    ASSERT_TRUE(results.has_value());
    EXPECT_EQ((*results)[0].dtype(), DType::Double);
    EXPECT_EQ((*results)[0].template data<double>()[5], 6);
  });
}

TEST(Traits, ProductsMultiplyMatrices) {
  for_each_with(Trait::Product, [](const OpDef&, const auto&, const auto& results) {
    // 1 2 3   1 2
    // 4 5 6 * 3 4
    //         5 6
    EXPECT_EQ(results[0].dims(), (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(elements(results[0]), (std::vector<float>{22, 28, 49, 64}));
  });
}

/// The element of an operand for position `at` of a result with extents `dims`.
Tensor element_at(const Tensor& operand, const Ints& at) {
  size_t offset = 0;
  const size_t shift = at.size() - operand.dims().size();
  for (size_t i = 0; i < operand.dims().size(); ++i)
    offset = offset * static_cast<size_t>(operand.dims()[i]) +
             (operand.dims()[i] == 1 ? 0 : static_cast<size_t>(at[i + shift]));
  if (operand.dtype() == DType::Bool) return Tensor::of<uint8_t>(DType::Bool, {}, {operand.data<uint8_t>()[offset]});
  return Tensor::floats({}, {operand.data<float>()[offset]});
}

TEST(Traits, BroadcastOperatorsInferTheBroadcastShapeAndWorkByElement) {
  size_t found = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->has(Trait::Broadcast)) continue;
    SCOPED_TRACE(op->name);
    ++found;
    const std::vector<Ints> shapes = {{2, 1, 3}, {4, 1}, {3}};
    std::vector<Tensor> operands;
    for (size_t i = 0; i < std::min<size_t>(op->max_operands, 3); ++i)
      operands.push_back(counted(op->role(i) == OperandRole::Condition ? DType::Bool : DType::Float, shapes[i]));
    ASSERT_GE(operands.size(), 2U);
    const auto whole = run(op->name, {}, operands);
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    ASSERT_EQ((*whole)[0].dims(), (std::vector<int64_t>{2, 4, 3}));
    const size_t width = (*whole)[0].bytes().size() / 24;
    for (int64_t i = 0; i < 24; ++i) {
      std::vector<Tensor> scalars;
      for (const Tensor& operand : operands) scalars.push_back(element_at(operand, {i / 12, i / 3 % 4, i % 3}));
      const auto one = run(op->name, {}, scalars);
      ASSERT_TRUE(one.has_value());
      EXPECT_TRUE(
          std::ranges::equal((*one)[0].bytes(), (*whole)[0].bytes().subspan(static_cast<size_t>(i) * width, width)));
    }
  }
  EXPECT_GE(found, 10U);
}

TEST(Traits, WhatWorksInPlaceFitsThere) {
  for_each_with(Trait::InPlace, [](const OpDef&, const auto& operands, const auto& results) {
    EXPECT_EQ(results[0].type(), operands[0].type());
  });
}

TEST(Traits, OperatorsOnRealsRefuseIntegers) {
  for_each_with(Trait::RealsOnly, [](const OpDef& op, const auto&, const auto&) {
    EXPECT_FALSE(computed(op, sample_operands(op, DType::Int64)).has_value());
  });
}

/// The positions at which two tensors of one type differ.
std::vector<size_t> differences(const Tensor& a, const Tensor& b) {
  const size_t elements = static_cast<size_t>(a.element_count()), width = a.bytes().size() / elements;
  std::vector<size_t> out;
  for (size_t i = 0; i < elements; ++i)
    if (!std::ranges::equal(a.bytes().subspan(i * width, width), b.bytes().subspan(i * width, width))) out.push_back(i);
  return out;
}

/// Returns a tensor with the last element also at another position.
Tensor with_last_at(const Tensor& tensor, size_t position) {
  Tensor out = Tensor::zeros(tensor.dtype(), tensor.dims());
  std::ranges::copy(tensor.bytes(), out.mutable_bytes().begin());
  const size_t width = tensor.bytes().size() / static_cast<size_t>(tensor.element_count());
  std::ranges::copy(tensor.bytes().last(width), out.mutable_bytes().begin() + static_cast<ptrdiff_t>(position * width));
  return out;
}

TEST(Traits, ElementwiseResultsDependOnTheElementAtTheirPosition) {
  size_t found = 0, changed = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->has(Trait::Elementwise)) continue;
    SCOPED_TRACE(op->name);
    ++found;
    const auto types = {DType::Float, DType::Uint64};  // the latter for operators on bits
    const auto* const type = std::ranges::find_if(
        types, [&](DType dtype) { return computed(*op, sample_operands(*op, dtype)).has_value(); });
    ASSERT_NE(type, types.end());
    std::vector<Tensor> operands = sample_operands(*op, *type);
    const Tensor before = computed(*op, operands)->front();
    ASSERT_EQ(before.element_count(), operands[0].element_count());
    const Tensor first = operands[0];
    for (size_t i = 0; i + 1 < static_cast<size_t>(first.element_count()); ++i) {
      operands[0] = with_last_at(first, i);
      for (const size_t position : differences(before, computed(*op, operands)->front())) {
        EXPECT_EQ(position, i);
        ++changed;
      }
    }
  }
  EXPECT_GE(found, 60U);
  EXPECT_GE(changed, 15 * found) << "most elements make a difference";
}

TEST(Traits, PositionsOnLeadingAxesAreIndependent) {
  size_t found = 0, changed = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->has(Trait::Leading)) continue;
    SCOPED_TRACE(op->name);
    ++found;
    Attrs attrs = sample_attrs(*op);
    size_t positions = 3;  // those of axis 0, or of all axes but the last
    for (const auto& [name, last] : {Attrs::Entry{"axis", int64_t{3}}, Attrs::Entry{"axes", Ints{3}}}) {
      if (op->find_attr(name) != nullptr) attrs = attrs.with(name, last), positions = 24;
    }
    if (op->name == "GroupNormalization") attrs = attrs.with("num_groups", int64_t{2});
    const Tensor first = counted(DType::Float, {3, 4, 2, 4});
    std::vector<Tensor> operands(std::max<size_t>(op->min_operands, 1), counted(DType::Float, {4}));
    const auto computed = [&](const Tensor& operand) {
      operands[0] = operand;
      return run(op->name, attrs, operands, attrs.has("split") ? attrs.ints("split").size() : 1).value()[0];
    };
    const Tensor before = computed(first);
    const auto size = static_cast<size_t>(first.element_count()), results = static_cast<size_t>(before.element_count());
    for (size_t i = 0; i + 1 < size; ++i)
      for (const size_t element : differences(before, computed(with_last_at(first, i)))) {
        EXPECT_EQ(element * positions / results, i * positions / size);
        ++changed;
      }
  }
  EXPECT_GE(found, 20U);
  EXPECT_GE(changed, 10 * found) << "most elements make a difference";
}

/// Elementwise operators from one or two real numbers to a real number.
std::vector<const OpDef*> functions_of_numbers() {
  std::vector<const OpDef*> out;
  for (const OpDef* op : all_ops()) {
    const bool along_axes = std::ranges::any_of(op->attrs, [](const AttrDef& attr) {
      return attr.domain == AttrDomain::Axis || attr.domain == AttrDomain::Axes;
    });
    if (along_axes || op->min_operands == 0 || op->min_operands > 2) continue;
    const auto result = run(op->name, {}, std::vector<Tensor>(op->min_operands, Tensor::floats({}, {1})));
    if (result && (*result)[0].type() == TensorType{DType::Float, Shape{}}) out.push_back(op);
  }
  return out;
}

float value_of(const OpDef& op, float x, float y) {
  std::vector<Tensor> operands{Tensor::floats({}, {x})};
  if (op.min_operands == 2) operands.push_back(Tensor::floats({}, {y}));
  const auto result = run(op.name, {}, operands);
  return result ? (*result)[0].data<float>()[0] : std::nanf("");
}

TEST(Traits, FunctionsOfNumbersAreElementwiseOrViews) {
  for (const OpDef* op : functions_of_numbers())
    EXPECT_TRUE(op->has(Trait::Elementwise) || op->has(Trait::View)) << op->name;
}

TEST(Traits, PartialIsWhatHasNoFiniteValueSomewhere) {
  const auto functions = functions_of_numbers();
  EXPECT_GE(functions.size(), 40U);
  for (const OpDef* op : functions) {
    SCOPED_TRACE(op->name);
    bool finite = true;
    for (const float x : {-2.0F, -0.5F, 0.0F, 1.0F, 2.0F})
      for (const float y : {-2.0F, -0.5F, 0.0F, 1.0F, 2.0F}) finite = finite && std::isfinite(value_of(*op, x, y));
    EXPECT_EQ(op->has(Trait::Partial), !finite);
  }
}

TEST(Traits, ExponentialIsWhatMakesLargeNumbers) {
  for (const OpDef* op : functions_of_numbers()) {
    SCOPED_TRACE(op->name);
    const float y = value_of(*op, 20, 20);
    EXPECT_EQ(op->has(Trait::Exponential), std::isfinite(y) && y > 1e8F);
  }
}

/// Expects that inference accepts operand `index`, and fails if it is replaced by `wrong`.
void expect_wanted(const OpDef& op, size_t index, const Tensor& wrong) {
  std::vector<Tensor> operands = sample_operands(op);
  while (operands.size() <= index) operands.push_back(sample_operand(op, operands.size(), DType::Float));
  const auto right = inferred(op, operands);
  EXPECT_TRUE(right.has_value()) << right.error().message;
  operands[index] = wrong;
  EXPECT_FALSE(inferred(op, operands).has_value());
}

TEST(Traits, RolesOfOperandsAreWanted) {
  size_t found = 0;
  for (const OpDef* op : all_ops()) {
    EXPECT_LE(op->roles.size(), op->max_operands);
    for (size_t i = 0; i < op->roles.size(); ++i) {
      SCOPED_TRACE(op->name + " operand " + std::to_string(i));
      if (op->role(i) == OperandRole::Data) continue;
      ++found;
      switch (op->role(i)) {
        case OperandRole::Condition:
        case OperandRole::Indices:
        case OperandRole::ElementIndices:
        case OperandRole::Coordinates:
        case OperandRole::Labels: {
          const auto dims = sample_operand(*op, i, DType::Float).dims();
          expect_wanted(*op, i, counted(DType::Float, {dims.begin(), dims.end()}));
          break;
        }
        case OperandRole::Image:
          // Global pools take images without spatial axes, too.
          expect_wanted(*op, i, counted(DType::Float, op->find_attr("strides") == nullptr ? Ints{4} : Ints{1, 4}));
          break;
        case OperandRole::Filters:
        case OperandRole::TransposedFilters:
          expect_wanted(*op, i, counted(DType::Float, {3, 3, 1, 1}));
          expect_wanted(*op, i, counted(DType::Float, {4, 4, 1}));
          break;
        case OperandRole::FilterBias:
        case OperandRole::PerChannel:
          expect_wanted(*op, i, counted(DType::Float, {3}));
          break;
        case OperandRole::RightFactor:
          expect_wanted(*op, i, counted(DType::Float, {2, 3}));
          break;
        case OperandRole::Data:
          break;
      }
    }
  }
  EXPECT_GE(found, 20U);
}

TEST(Traits, DomainsSuitTheKindsOfTheirAttributes) {
  for (const OpDef* op : all_ops()) {
    for (const AttrDef& attr : op->attrs) {
      SCOPED_TRACE(op->name + " " + attr.name);
      switch (attr.domain) {
        case AttrDomain::Any:
          break;
        case AttrDomain::Values: {
          ASSERT_FALSE(attr.values.empty());
          for (const AttrValue& value : attr.values) EXPECT_EQ(static_cast<AttrKind>(value.index()), attr.kind);
          // The values of k do not include the preset 0, which no rule needs.
          if (attr.preset && attr.name != "k") {
            EXPECT_EQ(std::ranges::count(attr.values, *attr.preset), 1);
          }
          continue;
        }
        case AttrDomain::Scalar:
          EXPECT_EQ(attr.kind, AttrKind::Tensor);
          ASSERT_FALSE(attr.values.empty());
          for (const AttrValue& value : attr.values) EXPECT_TRUE(std::holds_alternative<float>(value));
          continue;
        case AttrDomain::Fixed:
          EXPECT_TRUE(attr.preset.has_value());
          break;
        case AttrDomain::Axis:
        case AttrDomain::AxisOrEnd:
        case AttrDomain::Groups:
        case AttrDomain::Divisor:
          EXPECT_EQ(attr.kind, AttrKind::Int);
          break;
        default:
          EXPECT_EQ(attr.kind, AttrKind::Ints);
      }
      EXPECT_TRUE(attr.values.empty());
    }
  }
}

TEST(Traits, InfixOperatorsHaveTwoOperandsAndNoAttributes) {
  size_t found = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->infix) continue;
    SCOPED_TRACE(op->name);
    ++found;
    EXPECT_EQ(op->min_operands, 2U);
    EXPECT_TRUE(op->attrs.empty());
    EXPECT_TRUE(op->infix->sign.starts_with(' ') && op->infix->sign.ends_with(' '));
  }
  EXPECT_EQ(found, 5U);
}

}  // namespace
}  // namespace isomer
