#include "isomer/ops/registry.h"

#include <gtest/gtest.h>

#include <set>

namespace isomer {
namespace {

TEST(Registry, EveryOperatorIsDeclaredWhole) {
  std::set<std::pair<std::string, std::string>> names;
  size_t kernels = 0;
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(op->name);
    EXPECT_TRUE(names.insert({op->domain, op->name}).second) << "declared twice";
    EXPECT_EQ(find_op(op->name, op->domain), op);
    EXPECT_EQ(op->hash(), op->name_hash());
    EXPECT_NE(op->infer, nullptr);
    EXPECT_GE(op->since, 1);
    EXPECT_LE(op->min_operands, op->max_operands);
    EXPECT_LE(op->min_results, op->max_results);
    kernels += op->kernel != nullptr ? 1 : 0;
    for (const AttrDef& attr : op->attrs) {
      SCOPED_TRACE(attr.name);
      EXPECT_TRUE(!attr.preset || static_cast<AttrKind>(attr.preset->index()) == attr.kind);
      EXPECT_FALSE(attr.preset && attr.optional) << "what has a preset is always there";
    }
    for (const ParamOperand& param : op->params) EXPECT_NE(op->find_attr(param.attr), nullptr) << param.attr;
  }
  EXPECT_GE(names.size(), 150U);
  EXPECT_GE(kernels, 150U);
  RecordProperty("operators", static_cast<int>(names.size()));
  RecordProperty("kernels", static_cast<int>(kernels));
}

TEST(Registry, UnknownOperatorsAreNull) {
  EXPECT_EQ(find_op("NoSuchOperator"), nullptr);
  EXPECT_EQ(find_op("Relu", "com.example"), nullptr);
}

}  // namespace
}  // namespace isomer
