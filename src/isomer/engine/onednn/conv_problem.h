#pragma once
// Convolutions in oneDNN's terms, and the ways in which it can compute one.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/onednn/conv_forms.h"
#include "isomer/engine/onednn/lower.h"

namespace isomer::onednn {

struct ConvProblem {
  Dims src, weights, dst;  // with several groups, the groups are the first axis of the weights
  Dims strides = {}, dilations = {}, begin = {}, end = {};
  bool bias = false;

  /// Returns a key that differs for problems with different latencies.
  std::string key() const;
  /// Returns whether Winograd's algorithm may be worth a trial.
  bool may_be_winograd() const;
};

/// Returns nothing if extents are unknown or 0, or if oneDNN does not support such a window.
std::optional<ConvProblem> read_conv(const Graph& graph, const Node& node);

/// Layouts of the data; `any` lets oneDNN choose.
struct ConvLayouts {
  Desc src, dst;
};

/// One way to compute a convolution: a primitive description with the posts that it includes.
struct ConvChoice {
  dnnl::convolution_forward::primitive_desc desc;
  PostOps posts;
  bool winograd = false;
};
/// Returns one way to compute a convolution; nothing if oneDNN has only its reference code for it. Values that posts
/// add are in the result's layout; with `sum`, the first one with its extents is in its place.
std::optional<ConvChoice> conv_candidate(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                         std::span<const Post> posts, const ConvLayouts& layouts, bool sum,
                                         dnnl::algorithm how);

/// Returns the same without oneDNN's objects.
ConvForm form_of(const ConvChoice& choice);

/// What is known about a convolution before its way is chosen.
struct ConvWishes {
  std::vector<ElementType> types = {kF32};            ///< in which to compute, best first
  bool result_in_f32 = true;                          ///< whatever the type
  std::optional<Algorithm> algorithm = std::nullopt;  ///< decided
  std::optional<Layout> layout = std::nullopt;        ///< of the result, decided
  bool try_winograd = false;                          ///< if no algorithm is decided
};
/// Returns the ways to compute a convolution that are worth comparing, the preferred one first: with a decided
/// algorithm; or with oneDNN's choice of layouts, channels in blocks, and a decided layout of the result.
std::vector<ConvChoice> conv_ways(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                  std::span<const Post> posts, const ConvWishes& wishes);

}  // namespace isomer::onednn
