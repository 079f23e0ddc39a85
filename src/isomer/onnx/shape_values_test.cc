// Tests the shape arithmetic that import evaluates, by importing models.

#include "isomer/onnx/shape_values.h"

#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

OnnxForm reshape_form(const GraphBuilder& builder, ValueId x, ValueId target) {
  return {.op_type = "Reshape",
          .domain = "",
          .opset = 17,
          .operands = {{x, {}}, {target, {}}},
          .types = {&builder.type(x), &builder.type(target)}};
}

/// An operator with a name that ShapeValues knows, and a type given by its attribute.
OpDef stub(const std::string& name, InferFn infer) {
  return {.name = name, .attrs = {}, .min_operands = 1, .max_operands = OpDef::kVariadic, .infer = infer};
}

Result<std::vector<TensorType>> infer_vector(const OpView& view) {
  int64_t size = view.op.name == "Shape" ? static_cast<int64_t>(view.rank(0)) : 0;
  if (view.op.name == "Gather" || view.op.name == "Mul") size = (*view.operands.back()->shape)[0].value();
  if (view.op.name == "Concat")
    for (const TensorType* type : view.operands) size += (*type->shape)[0].value();
  return std::vector<TensorType>{{DType::Int64, {size}}};
}

class ShapeValuesTest : public testing::Test {
 protected:
  ValueId add(const OpDef& op, std::vector<ValueId> operands) {
    const NodeId id = *builder_.node(op, {}, operands);
    learned_ = shapes_.learn(builder_, id);
    return builder_.at(id).result();
  }
  ValueId ints(const Ints& elements) {
    return builder_.constant(Tensor::ints({static_cast<int64_t>(elements.size())}, elements));
  }
  std::optional<Ints> expressed(ValueId x, ValueId target) {
    OnnxForm form = reshape_form(builder_, x, target);
    shapes_.express(builder_, form);
    if (form.operands[1].constant.empty()) return std::nullopt;
    return *int_elements(form.operands[1].constant);
  }

  const OpDef shape_ = stub("Shape", infer_vector);
  const OpDef gather_ = stub("Gather", infer_vector);
  const OpDef concat_ = stub("Concat", infer_vector);
  const OpDef mul_ = stub("Mul", infer_vector);
  GraphBuilder builder_;
  ShapeValues shapes_;
  bool learned_ = false;
  const Dim n_ = Dim::symbol("N");
  const Dim s_ = Dim::symbol("S");
};

TEST_F(ShapeValuesTest, FollowsExtentsIntoReshape) {
  const ValueId x = builder_.input({DType::Float, {n_, s_, 768}});
  const ValueId shape = add(shape_, {x});
  ASSERT_TRUE(learned_);
  const ValueId batch = add(gather_, {shape, ints({0})});
  const ValueId length = add(gather_, {shape, ints({-2})});
  EXPECT_EQ(expressed(x, add(concat_, {batch, length, ints({12, 64})})), (Ints{0, 0, 12, 64}));
  EXPECT_EQ(expressed(x, add(concat_, {length, batch, ints({768})})), std::nullopt);
  const ValueId product = add(mul_, {batch, length});
  EXPECT_EQ(expressed(x, add(concat_, {product, ints({768})})), (Ints{-1, 768}));
  EXPECT_EQ(expressed(x, add(concat_, {product, ints({-1})})), std::nullopt);
  EXPECT_EQ(expressed(x, add(concat_, {product, ints({24, 16})})), std::nullopt);
}

TEST_F(ShapeValuesTest, RefusesWhatItCannotKnow) {
  const ValueId x = builder_.input({DType::Float, {n_, s_}});
  const ValueId runtime = builder_.input({DType::Int64, {2}});
  const ValueId shape = add(shape_, {x});
  add(gather_, {shape, ints({2})});
  EXPECT_FALSE(learned_);
  add(concat_, {shape, runtime});
  EXPECT_FALSE(learned_);
  EXPECT_EQ(expressed(x, runtime), std::nullopt);
}

}  // namespace
}  // namespace isomer
