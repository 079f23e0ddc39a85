#include "isomer/check/attr_domains.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/ops/registry.h"

namespace isomer {
namespace {

/// Returns the choices for an attribute of a node that reads f64 with these extents.
std::vector<AttrChoice> choices_for(const OpDef& op, const AttrDef& attr, const Shape& shape, const Attrs& chosen) {
  const TensorType type{DType::Double, shape};
  const TensorType* operands[] = {&type};
  const Ints extents = {2, 3};
  return attr_domain({op, attr, operands, chosen, DType::Double, extents});
}

bool offers(const std::vector<AttrChoice>& choices, const std::optional<AttrValue>& value) {
  return std::ranges::any_of(choices, [&](const AttrChoice& choice) { return choice.value == value; });
}

bool offers(const std::string& name, const std::string& attr, const Ints& value) {
  return offers(choices_for(op(name), *op(name).find_attr(attr), {2, 3, 1}, {{"axes", Ints{0}}}), value);
}

TEST(AttrDomains, ContainPresetsAndAbsence) {
  size_t presets = 0;
  for (const OpDef* op : all_ops()) {
    for (const AttrDef& attr : op->attrs) {
      SCOPED_TRACE(op->name + " " + attr.name);
      const auto choices = choices_for(*op, attr, {1, 4, 2, 3}, {{"axes", Ints{0}}});
      EXPECT_EQ(offers(choices, std::nullopt), attr.optional);
      const bool empty =
          attr.preset && std::holds_alternative<Ints>(*attr.preset) && std::get<Ints>(*attr.preset).empty();
      // The values of k omit its preset 0. An empty list represents one whose length depends on the operands. A tensor
      // has the element type of the instance.
      if (!attr.preset || empty || attr.name == "k" || attr.kind == AttrKind::Tensor) continue;
      ++presets;
      EXPECT_TRUE(offers(choices, attr.preset));
    }
  }
  EXPECT_GE(presets, 50U);
}

TEST(AttrDomains, FitTheOperator) {
  EXPECT_TRUE(offers("Unsqueeze", "axes", {3})) << "an axis of the result";
  EXPECT_FALSE(offers("Squeeze", "axes", {3}));
  EXPECT_TRUE(offers("Reshape", "shape", {3, 2}));
  EXPECT_FALSE(offers("Reshape", "shape", {3, 3})) << "another number of elements";
  EXPECT_TRUE(offers("Expand", "shape", {3, 3}));
  EXPECT_TRUE(offers("Pad", "pads", {0, 0, 0, -1, 0, 0}));
  EXPECT_TRUE(offers("MaxPool", "pads", {0, 1}));
  EXPECT_FALSE(offers("MaxPool", "pads", {0, -1}));
  EXPECT_TRUE(offers("Slice", "starts", {-1}));
  EXPECT_TRUE(offers("Transpose", "perm", {2, 0, 1}));
  EXPECT_FALSE(offers("Transpose", "perm", {0, 1}));
  const OpDef& flatten = op("Flatten");
  EXPECT_TRUE(offers(choices_for(flatten, flatten.attrs[0], {2, 3, 1}, {}), int64_t{3})) << "the end";
  const OpDef& softmax = op("Softmax");
  EXPECT_FALSE(offers(choices_for(softmax, softmax.attrs[0], {2, 3, 1}, {}), int64_t{3}));
}

}  // namespace
}  // namespace isomer
