#pragma once
// Convolutions in oneDNN's terms, and the ways in which it can compute one. A transposed convolution and the gradient
// for the filters of a convolution are convolutions, too.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isomer/engine/onednn/conv_ways.h"
#include "isomer/engine/onednn/depthwise.h"
#include "isomer/engine/onednn/lower.h"
#include "isomer/engine/onednn/strassen.h"
#include "isomer/engine/onednn/tuner.h"
#include "isomer/engine/onednn/winograd.h"

namespace isomer::onednn {

struct ConvProblem {
  ConvPass pass = ConvPass::Forward;
  Dims src = {}, weights = {}, dst = {};  // with several groups, the groups are the first axis of the weights
  Desc given = {};                        // the layout of the operator's weights under these extents
  Dims strides = {}, dilations = {}, begin = {}, end = {};
  bool bias = false;
  bool constant_weights = false;

  /// Returns a key that differs for problems with different latencies.
  std::string key() const;
  /// Returns the convolution for our own kernel of Winograd's algorithm; nothing if it does not support it.
  std::optional<WinogradConv> winograd() const;
  /// Returns the convolution for our own depthwise kernel, with channels in blocks or innermost; nothing if it does not
  /// support it.
  std::optional<DepthwiseConv> depthwise(bool blocked) const;
  /// Returns the product of pixels and weights that a convolution with windows of one element is, for our own kernel;
  /// nothing if that does not support it or has no advantage.
  std::optional<StrassenProduct> strassen() const;
};

/// Reads a Conv or ConvTranspose. Returns nothing if extents are unknown or 0, or if oneDNN does not support such a
/// window.
std::optional<ConvProblem> read_conv(const Graph& graph, const Node& node);
/// Reads a Conv that makes the gradient for filters (filter_gradient.h).
std::optional<ConvProblem> read_filter_gradient(const Graph& graph, const Node& node);

/// Layouts of the data; `any` lets oneDNN choose.
struct ConvLayouts {
  Desc src, dst;
};

/// What Winograd's algorithm does in each run.
enum class WinogradWork : uint8_t {
  Constant,  ///< computes a convolution with weights that were transformed before
  Weights,   ///< transforms weights, and computes a convolution with them
  Filters,   ///< computes the gradient for filters
};

/// One way to compute a convolution, with the posts that it includes.
struct ConvChoice {
  Desc src, dst;
  PostOps posts;
  Desc weights = {};                      ///< of filters, also if they are the result
  dnnl::primitive_desc_base direct = {};  ///< unless it is one of the following
  std::optional<WinogradConv> winograd = std::nullopt;
  std::optional<DepthwiseConv> depthwise = std::nullopt;
  std::optional<StrassenProduct> strassen = std::nullopt;
  OwnPosts own_posts = {};  ///< of our own kernels
  WinogradWork work = WinogradWork::Constant;

  ConvKernel kernel() const;
  /// Returns the name of the code.
  std::string implementation() const;
};
/// Returns one way to compute a convolution directly; nothing if oneDNN has only its reference code for it, unless
/// `slow` allows that. Values that posts add are in the result's layout; with `sum`, the first one with its extents is
/// in its place. Only a forward convolution can have posts.
std::optional<ConvChoice> direct_conv(const Graph& graph, const dnnl::engine& engine, const ConvProblem& problem,
                                      std::span<const Post> posts, const ConvLayouts& layouts, bool sum,
                                      bool slow = false);
/// Returns the way by Winograd's algorithm; nothing if our own kernel does not support the convolution or its posts.
std::optional<ConvChoice> winograd_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts);
/// Returns the way by our own depthwise kernel, with channels in blocks or innermost; nothing if that does not support
/// the convolution or its posts.
std::optional<ConvChoice> depthwise_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts,
                                         bool blocked);
/// Returns the way by Strassen's algorithm; nothing if our own kernel does not support the convolution or its posts.
std::optional<ConvChoice> strassen_conv(const Graph& graph, const ConvProblem& problem, std::span<const Post> posts);

/// Returns the same without oneDNN's objects.
ConvForm form_of(const ConvChoice& choice);
/// Returns a trial of a way, which must outlive the trial.
Trial trial_of(const dnnl::engine& engine, const ConvProblem& problem, const ConvChoice& choice);
/// Whether both are the same way, in whatever time.
bool same_way(const ConvForm& a, const ConvForm& b);

/// How a plan compiles its convolutions.
struct ConvSettings {
  dnnl::engine engine;
  std::vector<ElementType> types;  ///< in which to compute, best first
  bool try_own = false;            ///< our own kernels, of an algorithm that is not decided against
};

/// A convolution with its posts, and the ways to compute it that are worth comparing.
struct ConvChoices {
  ConvProblem problem = {};
  /// The preferred one first; none if the runtime has no kernel or extents are unknown.
  std::vector<ConvChoice> ways = {};
};
/// Returns the ways with a decided algorithm; or with oneDNN's choice of layouts, channels in blocks, and a decided
/// layout of the result. Batch normalizations among the posts become a bias.
ConvChoices conv_choices(const Graph& graph, const Group& group, const Decisions& decisions,
                         const ConvSettings& settings);

}  // namespace isomer::onednn
