#pragma once
// Shared code of the tests of ir.

#include <gtest/gtest.h>

#include "isomer/ir/text.h"
#include "isomer/ir/verify_testing.h"

namespace isomer {

inline Result<std::vector<TensorType>> equal_types(const OpView& view) {
  if (view.type(0) == view.type(1)) return std::vector{view.type(0)};
  return fail("operands of different types");
}

/// Operators for tests, so that ir is tested without ops.
inline const OpDef* find_test_op(std::string_view name, std::string_view) {
  static const OpDef kAdd{.name = "Add", .min_operands = 2, .max_operands = 2, .infer = equal_types};
  static const OpDef kMax{
      .name = "Max", .min_operands = 2, .max_operands = 2, .infer = equal_types, .commutative = true};
  static const OpDef kScale{
      .name = "Scale",
      .attrs = {{.name = "by", .kind = AttrKind::Float, .preset = 2.0F}},
      .infer = [](const OpView& view) { return Result<std::vector<TensorType>>(std::vector{view.type(0)}); }};
  // Returns one result more than requested.
  static const OpDef kMany{.name = "Many", .max_results = 3, .infer = [](const OpView& view) {
                             return Result<std::vector<TensorType>>(std::vector(view.num_results + 1, view.type(0)));
                           }};
  if (name == "Add") return &kAdd;
  if (name == "Many") return &kMany;
  if (name == "Max") return &kMax;
  if (name == "Scale") return &kScale;
  return nullptr;
}

/// Parses the text and expects a valid graph.
inline Graph parsed(std::string_view text) {
  auto graph = parse_graph(text, find_test_op);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  EXPECT_TRUE(verify_graph(*graph).has_value());
  return std::move(*graph);
}

}  // namespace isomer
