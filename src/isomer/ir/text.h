#pragma once
// Graphs as text: what tests write and people read. `parse_graph(print_graph(g))` gives g back when nothing was elided.
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
  /// Constants with more elements than this are printed as `f32[64,3,3,3]{#hash}`, which does not parse.
  int64_t max_elements = 1 << 20;
  bool types = false;  ///< adds ": type" comments behind each node
};

std::string print_graph(const Graph& graph, const PrintOptions& options = {});
/// The operators are looked up by `find_op` (name and domain), so that ir needs no registry.
using FindOp = const OpDef* (*)(std::string_view name, std::string_view domain);
/// Fails with the line number and reason.
Result<Graph> parse_graph(std::string_view text, FindOp find_op);
/// A dimension expression of integers, symbols, + - and *; anything with parentheses is one symbol, as Dim::str prints
/// it. Fails where an operand is missing.
Result<Dim> parse_dim(const std::string& text);

/// Shortest text that reads back as the same float.
std::string float_str(double value, bool single = true);
/// With quotes and escapes.
std::string quoted(std::string_view text);
/// "f32[2]{0.5,1}"; elided as {#hash} above max_elements.
std::string tensor_str(const Tensor& tensor, int64_t max_elements = 1 << 20);

}  // namespace isomer
