#pragma once
// Graphs as text, for tests and for people. `parse_graph(print_graph(g))` returns g if no constant was elided.
//
//     input x: f32[1,3,N,8]
//     w = f32[4,3,1,1]{seed 7}
//     b = f32[4]{0.5,1,-2,3}
//     y = Conv(x, w, b) {strides=[2,2]}
//     p, q = Split(y) {axis=1, split=[2,2]}
//     return p, q
//
// `_` stands for an absent operand, `{seed N}` for elements drawn uniformly from [-1, 1) (integers: from [0, 8)),
// `{fill X}` for equal elements. `#` starts a comment. An opaque node is written with its "@"-attributes and its types:
// `y = Opaque(x) {@op_type="If", ...}: f32[3]`.

#include <string>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"

namespace isomer {

struct PrintOptions {
  /// Larger constants are printed as `f32[64,3,3,3]{#hash}`, which cannot be parsed.
  int64_t max_elements = 1 << 20;
  bool types = false;  ///< adds the types as a comment to each node
};

std::string print_graph(const Graph& graph, const PrintOptions& options = {});
/// Looks an operator up by name and domain. Passed as a parameter so that ir does not depend on a registry.
using FindOp = const OpDef* (*)(std::string_view name, std::string_view domain);
/// Parses a graph. An Error has the line number and the reason.
Result<Graph> parse_graph(std::string_view text, FindOp find_op);
/// Parses a dimension expression of integers, symbols, + - and *. Anything with parentheses is one symbol, as Dim::str
/// prints it. Fails if an operand is missing.
Result<Dim> parse_dim(const std::string& text);

/// Shortest text that parses to the same float.
std::string float_str(double value, bool single = true);
/// The text with quotes and escapes.
std::string quoted(std::string_view text);
/// The text of a tensor, "f32[2]{0.5,1}"; elided as {#hash} above max_elements.
std::string tensor_str(const Tensor& tensor, int64_t max_elements = 1 << 20);

}  // namespace isomer
