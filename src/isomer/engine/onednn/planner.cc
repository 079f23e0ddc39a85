#include "isomer/engine/onednn/planner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "isomer/engine/onednn/concats.h"
#include "isomer/engine/onednn/conv_forms.h"
#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/views.h"

namespace isomer {
namespace {

using onednn::alike;
using onednn::channels_of;
using onednn::ConvForm;
using onednn::fills_blocks;
using onednn::fits_blocks;
using onednn::Form;
using onednn::Group;
using onednn::kLastForm;
using onednn::kPlainForm;
using onednn::kStridedForm;
using onednn::layout_of;
using onednn::LayoutUse;
using onednn::lies_plain;
using onednn::Post;

/// The layouts of the kernel for a node.
LayoutUse layouts_of(const Graph& graph, const Node& node) {
  const LayoutUse layouts = onednn::kernel_traits(node).layouts;
  if (layouts == LayoutUse::Window && node.num_results != 1) return LayoutUse::Plain;
  if (layouts == LayoutUse::OneImage) {
    const auto& extents = graph.type(node.result()).shape;
    return extents && (*extents)[0].is(1) ? layouts : LayoutUse::Plain;
  }
  // Functions of each element work in any layout.
  return layouts == LayoutUse::Plain && onednn::unary_of(graph, node) ? LayoutUse::Operands : layouts;
}

/// Returns whether the kernel for a node writes blocked results only if the channels fill their blocks.
bool needs_full_blocks(const Graph& graph, const Node& node) {
  const auto unary = onednn::unary_of(graph, node);
  return unary ? !onednn::preserves_zero(unary->function) : onednn::kernel_traits(node).fills_blocks;
}

/// The decisions, of the values that remain when identities are removed. Of several for one value, the first is kept.
Decisions without_removed(const Graph& graph, const Decisions& decisions) {
  Decisions out;
  for (const auto& [value, layout] : decisions.layouts) out.layouts.emplace(remaining_value(graph, value), layout);
  for (const auto& [value, algorithm] : decisions.algorithms)
    out.algorithms.emplace(remaining_value(graph, value), algorithm);
  return out;
}

class OneDnnPlanning {
 public:
  OneDnnPlanning(const Graph& graph, int64_t block, onednn::ConvForms& convolutions, const Decisions& decisions)
      : graph_(graph),
        block_(block),
        convolutions_(convolutions),
        decisions_(without_removed(graph, decisions)),
        concats_(graph, block, onednn::Stage::Given) {
    plan_.intakes.assign(graph.nodes().size(), Intake::Own);
    plan_.begins = {0};
    plan_.block = block;
    plan_.copies_outputs = true;
    forms_.assign(graph.num_values(), kPlainForm);
    in_part_.assign(graph.num_values(), false);
    wants_.resize(graph.num_values());
    strided_.resize(graph.num_values());
  }

  KernelPlan run(const Boundary& boundary) {
    for (size_t i = 0; i < boundary.inputs.size() && i < graph_.inputs().size(); ++i)
      forms_[graph_.inputs()[i]] = form_of(boundary.inputs[i]);
    const std::vector<Group> groups = onednn::fuse(graph_, onednn::Stage::Given);
    last_reader_ = onednn::last_readers(graph_, groups);
    for (now_ = 0; now_ < groups.size(); ++now_) {
      const Node& last = graph_.node(groups[now_].last());
      if (last.num_results > 0 && graph_.is_weight(last.result())) continue;
      place(groups[now_]);
      for (uint32_t i = 0; i < last.num_results; ++i) convert_as_decided(last.result(i));
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      want(graph_.outputs()[i], i < boundary.outputs.size() ? form_of(boundary.outputs[i]) : kPlainForm);
    for (ValueId value = 0; value < wants_.size(); ++value)
      for (const Form form : wants_[value]) plan_.reorders.push_back({value, layout_of(form)});
    for (const Form form : forms_) plan_.layouts.push_back(layout_of(form));
    return std::move(plan_);
  }

 private:
  Form form_of(Layout layout) const { return layout == Layout::Blocked ? block_ : kPlainForm; }

  void place(const Group& group) {
    const Node& root = graph_.node(group.root);
    if (is_removed(root) || is_onednn_view(root)) return place_view(group.root);
    if (root.op->has(Trait::Concatenation)) return place_concat(group);
    switch (layouts_of(graph_, root)) {
      case LayoutUse::Chosen:
        if (fits_blocks(graph_, root.result())) return place_conv(group);
        break;
      case LayoutUse::Window:
      case LayoutUse::Operands:
      case LayoutUse::FirstOfAll:
      case LayoutUse::OneImage:
        return place_follower(group);
      case LayoutUse::Reduction:
      case LayoutUse::Padding:
      case LayoutUse::OnePiece:
        return place_own(group);
      case LayoutUse::Plain:
        break;
    }
    place_kernel(group, kPlainForm, kPlainForm);
  }

  /// Returns the form that is decided for a value; nothing if none is or the value cannot have it.
  std::optional<Form> decided_form(ValueId value) const {
    const auto layout = decisions_.layout(value);
    if (!layout || !onednn::may_be_plannable(graph_, value) || onednn::is_empty(graph_, value)) return std::nullopt;
    if (*layout == Layout::Plain) return kPlainForm;
    return fills_blocks(graph_, value, block_) ? std::optional(block_) : std::nullopt;
  }

  void convert_as_decided(ValueId value) {
    const auto form = decided_form(value);
    if (!form || alike(graph_, value, forms_[value], *form)) return;
    plan_.reorders.push_back({value, layout_of(*form)});
    undecided_.emplace(value, std::exchange(forms_[value], *form));
    strided_[value].clear();
    in_part_[value] = false;
  }

  bool computed(ValueId value) const { return value != kNoValue && !graph_.is_weight(value); }

  /// Requests a value in a form: adds a reorder, unless the value has the form or another reader requested the same.
  void want(ValueId value, Form form) {
    if (alike(graph_, value, forms_[value], form)) return;
    if (const auto made = undecided_.find(value); made != undecided_.end() && alike(graph_, value, made->second, form))
      return;
    if (std::ranges::none_of(wants_[value], [&](Form other) { return alike(graph_, value, other, form); }))
      wants_[value].push_back(form);
  }

  std::vector<NodeId> nodes_of(const Group& group) const {
    std::vector<NodeId> nodes = {group.root};
    for (const Post& post : group.posts) {
      nodes.insert(nodes.end(), post.inner.begin(), post.inner.end());
      nodes.push_back(post.node);
    }
    return nodes;
  }

  /// Adds a kernel of all nodes of a group, which reads in one form (broadcast operands stay as they are) and writes in
  /// another. A row-major kernel reads strided operands in place.
  void place_kernel(const Group& group, Form in, Form out) {
    std::vector<NodeId> nodes = nodes_of(group);
    std::vector<NodeId> absorbed;
    for (const NodeId id : nodes) {
      const Node& node = graph_.node(id);
      for (const ValueId operand : graph_.operands(node)) {
        if (!computed(operand) || std::ranges::find(nodes, graph_.producer(operand)) != nodes.end()) continue;
        const Form wanted = id == group.root ? in : out;
        const bool whole = wanted == kPlainForm || graph_.type(operand).rank() == graph_.type(node.result()).rank();
        if (whole && layout_of(wanted) == Layout::Blocked) plan_.intakes[id] = Intake::Blocked;
        if (wanted == kPlainForm && !strided_[operand].empty()) {
          absorbed.insert(absorbed.end(), strided_[operand].begin(), strided_[operand].end());
        } else if (whole && (id == group.root || graph_.type(operand) == graph_.type(node.result()))) {
          want(operand, wanted);
        }
      }
      for (uint32_t i = 0; i < node.num_results; ++i) forms_[node.result(i)] = out;
    }
    finish_kernel(group, std::move(nodes), absorbed, out);
  }

  void finish_kernel(const Group& group, std::vector<NodeId> nodes, std::span<const NodeId> absorbed, Form out) {
    nodes.insert(nodes.end(), absorbed.begin(), absorbed.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    plan_.nodes.insert(plan_.nodes.end(), nodes.begin(), nodes.end());
    plan_.begins.push_back(static_cast<uint32_t>(plan_.nodes.size()));
    const Node& last = graph_.node(group.last());
    if (last.num_results != 1) return;
    const auto& part = concats_.part(last.result());
    // A product that adds in place leaves its result there.
    const bool sums = graph_.node(group.root).op->has(Trait::Product) && summed(group) != kNoValue;
    in_part_[last.result()] = part && !sums && alike(graph_, last.result(), part->form, out);
  }

  /// Returns the first value with the result's extents that posts add.
  ValueId summed(const Group& group) const {
    for (const Post& post : group.posts)
      if (!post.function && computed(post.added) &&
          graph_.type(post.added) == graph_.type(graph_.node(post.node).result()))
        return post.added;
    return kNoValue;
  }

  void place_conv(const Group& group) {
    const ValueId x = graph_.operands(graph_.node(group.root))[0];
    const auto ways = convolutions_.of(graph_, group, decisions_);
    if (ways.empty()) {
      // Extents are unknown; images of a few channels are read as they are.
      return place_kernel(group, fits_blocks(graph_, x) && channels_of(graph_, x) < 4 ? kPlainForm : block_, block_);
    }
    const ValueId result = graph_.node(group.last()).result();
    const ValueId added = summed(group);
    const ConvForm* best = &ways.front();
    int least = reorders_around(*best, x, added, result);
    for (const ConvForm& way : ways.subspan(1)) {
      const int reorders = reorders_around(way, x, added, result);
      if (reorders >= least) continue;
      best = &way;
      least = reorders;
    }
    const auto& part = concats_.part(result);
    const bool reads = (part && alike(graph_, result, part->form, best->dst)) ||
                       (added != kNoValue && alike(graph_, added, forms_[added], best->dst));
    place_kernel(group, best->src, best->dst);
    note_decisions(graph_.node(group.root).result(), result, *best);
    if (!best->sums) return;
    // The added value is copied to the result's place if it is needed later. Only direct convolutions can read it.
    const bool later = last_reader_[added] > now_ || (best->winograd && added == x);
    if (later && (best->winograd || !reads)) plan_.reorders.push_back({result, layout_of(best->dst)});
    if (best->winograd) in_part_[result] = false;
  }

  /// Adds the decisions that a convolution obeys to the plan.
  void note_decisions(ValueId conv, ValueId result, const ConvForm& way) {
    if (decided_form(result)) plan_.decisions.layouts[result] = *decisions_.layout(result);
    const auto algorithm = decisions_.algorithm(conv);
    if (algorithm && way.winograd == (*algorithm == Algorithm::Winograd)) plan_.decisions.algorithms[conv] = *algorithm;
  }

  int reorders_around(const ConvForm& way, ValueId x, ValueId added, ValueId result) const {
    int reorders = alike(graph_, x, forms_[x], way.src) ? 0 : 1;
    if (const auto& part = concats_.part(result)) reorders += alike(graph_, result, part->form, way.dst) ? 0 : 1;
    if (const auto form = decided_form(result)) reorders += alike(graph_, result, *form, way.dst) ? 0 : 1;
    if (way.sums) reorders += alike(graph_, added, forms_[added], way.dst) ? 0 : 1;
    return reorders;
  }

  /// Places a kernel that works in the form of its operands; if these differ, in the blocked one.
  void place_follower(const Group& group) {
    const Node& root = graph_.node(group.root);
    const LayoutUse layouts = layouts_of(graph_, root);
    std::optional<Form> form;
    for (const ValueId operand : graph_.operands(root)) {
      if (!computed(operand)) continue;
      if (layouts != LayoutUse::Window && graph_.type(operand) != graph_.type(root.result())) continue;
      const bool stays =
          !form || (*form <= kPlainForm && forms_[operand] > kPlainForm && layouts != LayoutUse::FirstOfAll);
      if (stays) form = forms_[operand];
    }
    bool follows = form && *form != kStridedForm && fits_blocks(graph_, root.result());
    if (follows && *form > kPlainForm && needs_full_blocks(graph_, root))
      follows = channels_of(graph_, root.result()) % *form == 0;
    place_kernel(group, follows ? *form : kPlainForm, follows ? *form : kPlainForm);
  }

  /// Our own kernels for moving or reducing elements: they read contiguous values.
  void place_own(const Group& group) {
    const Node& root = graph_.node(group.root);
    const ValueId x = graph_.operands(root)[0];
    Form in = kPlainForm, out = kPlainForm;
    if (fits_blocks(graph_, x) && forms_[x] != kStridedForm) {
      const bool whole = forms_[x] <= kPlainForm || channels_of(graph_, x) % forms_[x] == 0;
      const LayoutUse layouts = onednn::kernel_traits(root).layouts;
      if (layouts == LayoutUse::Reduction && is_spatial(root) && whole) in = forms_[x];
      if (layouts == LayoutUse::Padding && forms_[x] > kPlainForm && keeps_channels(root) &&
          (whole || !root.attrs.has("constant_value")))
        in = out = forms_[x];
    }
    std::vector<NodeId> nodes = nodes_of(group);
    if (computed(x)) want(x, in);
    if (layout_of(in) == Layout::Blocked) plan_.intakes[group.root] = Intake::Blocked;
    forms_[root.result()] = out;
    finish_kernel(group, std::move(nodes), {}, out);
  }
  bool is_spatial(const Node& reduction) const {
    const Ints& axes = reduction.attrs.ints("axes");
    const size_t rank = graph_.type(graph_.operands(reduction)[0]).rank();
    if (axes.size() + 2 != rank) return false;
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != static_cast<int64_t>(i) + 2) return false;
    return true;
  }
  static bool keeps_channels(const Node& pad) {
    const Ints& pads = pad.attrs.ints("pads");
    return pad.attrs.text("mode") == "constant" && pads[1] == 0 && pads[pads.size() / 2 + 1] == 0;
  }

  void place_view(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId x = graph_.operands(node)[0];
    if (is_removed(node) || cuts_blocks(graph_, node, forms_[x])) {
      for (uint32_t i = 0; i < node.num_results; ++i) {
        forms_[node.result(i)] = forms_[x];
        strided_[node.result(i)] = strided_[x];
        in_part_[node.result(i)] = is_removed(node) && in_part_[x];
      }
      return;
    }
    const bool moves = node.op->has(Trait::Permutation) || node.op->has(Trait::Cut);
    const bool last = moves && forms_[x] == kLastForm && !lies_plain(graph_, x, kLastForm);
    const bool strides = last ? !brings_channels_last(node) : makes_strides(graph_, node);
    // New extents for a value that is not contiguous: it is copied.
    if (!strides && !last && !strided_[x].empty()) {
      place_kernel({id}, kPlainForm, kPlainForm);
      return;
    }
    if (!last && forms_[x] != kStridedForm) want(x, kPlainForm);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      forms_[node.result(i)] = strides ? kStridedForm : kPlainForm;
      strided_[node.result(i)] = strided_[x];
      if (strides) strided_[node.result(i)].push_back(id);
    }
  }

  /// Operands are computed in their places, or copied there: nothing else is left to do.
  void place_concat(const Group& group) {
    const Node& node = graph_.node(group.root);
    if (!concats_.joins_in_place(node)) return place_joined(group);
    const auto& whole = concats_.part(node.result());
    for (const ValueId operand : concats_.operands(node)) {
      if (onednn::is_empty(graph_, operand)) continue;
      const auto& part = concats_.part(operand);
      if (!part || part->root != whole->root || !in_part_[operand])
        plan_.reorders.push_back({operand, layout_of(whole->form)});
    }
    forms_[node.result()] = whole->form;
    in_part_[node.result()] = true;
  }

  /// Adds a concatenation by a kernel of its own.
  void place_joined(const Group& group) {
    const Node& node = graph_.node(group.root);
    const auto operands = graph_.operands(node);
    const auto whole_blocks = [&](ValueId v) { return fills_blocks(graph_, v, block_); };
    const bool blocked = fits_blocks(graph_, node.result()) && node.attrs.integer("axis") == 1 &&
                         std::ranges::all_of(operands, whole_blocks) &&
                         std::ranges::any_of(operands, [&](ValueId v) { return computed(v) && forms_[v] == block_; });
    place_kernel(group, blocked ? block_ : kPlainForm, blocked ? block_ : kPlainForm);
  }

  const Graph& graph_;
  const int64_t block_;
  onednn::ConvForms& convolutions_;
  const Decisions decisions_;
  const onednn::ConcatPlaces concats_;
  KernelPlan plan_;
  size_t now_ = 0;                            // group
  std::vector<size_t> last_reader_;           // group, by value
  std::vector<Form> forms_;                   // form in which each value is made, or into which it is converted
  std::map<ValueId, Form> undecided_;         // form in which a value is made that is converted as decided
  std::vector<bool> in_part_;                 // whether a value is made in the place in its concatenation
  std::vector<std::vector<Form>> wants_;      // other requested forms, by value
  std::vector<std::vector<NodeId>> strided_;  // by value: the views that make it from a contiguous value
};

}  // namespace

OnednnPlanner::OnednnPlanner(int64_t block) : block_(block), convolutions_(std::make_unique<onednn::ConvForms>()) {}
OnednnPlanner::~OnednnPlanner() = default;

KernelPlan OnednnPlanner::plan(const Graph& graph, const Boundary& boundary, const Decisions& decisions) const {
  return OneDnnPlanning(graph, block_, *convolutions_, decisions).run(boundary);
}

}  // namespace isomer
