#pragma once
// Convolutions as oneDNN wants to hear them, and the ways in which it computes one.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/runtime/onednn/lower.h"

namespace isomer::onednn {

struct ConvProblem {
  Dims src, weights, dst;  // weights with the groups in front where there are several
  Dims strides = {}, dilations = {}, begin = {}, end = {};
  bool bias = false;

  /// Tells apart what takes differently long.
  std::string key() const;
  /// Whether Winograd's algorithm may be worth a trial.
  bool may_be_winograd() const;
};

/// Nothing where extents are not known or 0, or where oneDNN knows no such window.
std::optional<ConvProblem> read_conv(const Graph& graph, const Node& node);

/// Layouts of the data, `any` for what oneDNN likes best.
struct ConvLayouts {
  Desc src, dst;
};
/// Those to try: what oneDNN likes best, and channels in blocks.
std::vector<ConvLayouts> conv_layouts(const ConvProblem& problem, int block, ElementType type, ElementType result_type);

/// A description with the posts that it takes.
struct ConvChoice {
  dnnl::convolution_forward::primitive_desc desc;
  PostOps posts;
};
/// One way; nothing where oneDNN has no code for it but its reference. Values that posts add are in the result's
/// layout, the first of its extents in its place where `sum` says so.
std::optional<ConvChoice> conv_candidate(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                         std::span<const Post> posts, const ConvLayouts& layouts, bool sum,
                                         dnnl::algorithm how);

}  // namespace isomer::onednn
