#include "isomer/engine/onednn/planning.h"

#include <algorithm>
#include <utility>

#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/views.h"

namespace isomer::onednn {
namespace {

/// Returns whether the kernel for a node writes blocked results only if the channels fill their blocks.
bool needs_full_blocks(const Graph& graph, const Node& node) {
  const auto unary = unary_of(graph, node);
  return unary ? !preserves_zero(unary->function) : kernel_traits(node).fills_blocks;
}

/// The layouts of the kernel for a node.
LayoutUse layout_use(const Graph& graph, const Node& node) {
  const LayoutUse layouts = kernel_traits(node).layouts;
  if (layouts == LayoutUse::Window && node.num_results != 1) return LayoutUse::Plain;
  if (layouts == LayoutUse::OneImage) {
    const auto& extents = graph.type(node.result()).shape;
    return extents && (*extents)[0].is(1) ? layouts : LayoutUse::Plain;
  }
  // Functions of each element work in any layout.
  return layouts == LayoutUse::Plain && unary_of(graph, node) ? LayoutUse::Operands : layouts;
}

/// The decisions, of the values that remain when identities are removed. Of several for one value, the first is kept.
Decisions without_removed(const Graph& graph, const Decisions& decisions) {
  Decisions out;
  for (const auto& [value, layout] : decisions.layouts) out.layouts.emplace(remaining_value(graph, value), layout);
  for (const auto& [value, algorithm] : decisions.algorithms)
    out.algorithms.emplace(remaining_value(graph, value), algorithm);
  return out;
}

std::vector<NodeId> nodes_of(const Group& group) {
  std::vector<NodeId> nodes = {group.root};
  for (const Post& post : group.posts) {
    nodes.insert(nodes.end(), post.inner.begin(), post.inner.end());
    nodes.push_back(post.node);
  }
  return nodes;
}

/// Returns whether exactly the axes after the channels are reduced.
bool reduces_pixels(const Graph& graph, const Node& reduction) {
  const Ints& axes = reduction.attrs.ints("axes");
  const size_t rank = graph.type(graph.operands(reduction)[0]).rank();
  if (axes.size() + 2 != rank) return false;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(i) + 2) return false;
  return true;
}

bool keeps_channels(const Node& pad) {
  const Ints& pads = pad.attrs.ints("pads");
  return pad.attrs.text("mode") == "constant" && pads[1] == 0 && pads[pads.size() / 2 + 1] == 0;
}

}  // namespace

Planning::Planning(const Graph& graph, Stage stage, int64_t block, ConvWays& convolutions, const Decisions& decisions,
                   std::span<const Layout> inputs)
    : graph_(graph),
      stage_(stage),
      block_(block),
      convolutions_(convolutions),
      decisions_(stage == Stage::Given ? without_removed(graph, decisions) : decisions),
      concats_(graph, block, stage),
      groups_(fuse(graph, stage)),
      last_reader_(last_readers(graph, groups_)),
      forms_(graph.num_values(), kPlainForm),
      in_part_(graph.num_values(), false),
      wants_(graph.num_values()),
      strided_(graph.num_values()) {
  for (size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i)
    forms_[graph.inputs()[i]] = form_of(inputs[i]);
  plan_.intakes.assign(graph.nodes().size(), Intake::Own);
  plan_.begins = {0};
  plan_.block = block;
  plan_.copies_outputs = true;
}

KernelPlan Planning::finish(std::span<const Layout> outputs) {
  for (size_t i = 0; i < graph_.outputs().size(); ++i)
    want(graph_.outputs()[i], i < outputs.size() ? form_of(outputs[i]) : kPlainForm);
  for (ValueId value = 0; value < wants_.size(); ++value)
    for (const Form form : wants_[value]) plan_.reorders.push_back({value, layout_of(form)});
  for (const Form form : forms_) plan_.layouts.push_back(layout_of(form));
  return std::move(plan_);
}

GroupForms Planning::place(const Group& part, size_t group) {
  now_ = group;
  const Node& root = graph_.node(part.root);
  if (is_removed(root) || is_onednn_view(root)) return place_view(part.root);
  if (root.op->has(Trait::Concatenation)) return place_concat(part);
  switch (layout_use(graph_, root)) {
    case LayoutUse::Chosen:
      if (fits_blocks(graph_, root.result())) return place_conv(part);
      break;
    case LayoutUse::Window:
    case LayoutUse::Operands:
    case LayoutUse::FirstOfAll:
    case LayoutUse::OneImage:
      return place_follower(part);
    case LayoutUse::Reduction:
    case LayoutUse::Padding:
    case LayoutUse::OnePiece:
      return place_own(part);
    case LayoutUse::Plain:
      break;
  }
  return place_kernel(part, kPlainForm, kPlainForm);
}

/// Returns the form that is decided for a value; nothing if none is or the value cannot have it.
std::optional<Form> Planning::decided_form(ValueId value) const {
  const auto layout = decisions_.layout(value);
  if (!layout || !is_plannable(graph_, value, stage_) || is_empty(graph_, value)) return std::nullopt;
  if (*layout == Layout::Plain) return kPlainForm;
  return fills_blocks(graph_, value, block_) ? std::optional(block_) : std::nullopt;
}

std::optional<Form> Planning::conversion(ValueId value) {
  const auto form = decided_form(value);
  if (!form || alike(graph_, value, forms_[value], *form)) return std::nullopt;
  plan_.reorders.push_back({value, layout_of(*form)});
  undecided_.emplace(value, std::exchange(forms_[value], *form));
  strided_[value].clear();
  in_part_[value] = false;
  return form;
}

/// Requests a value in a form: adds a reorder, unless the value has the form or another reader requested the same.
void Planning::want(ValueId value, Form form) {
  if (alike(graph_, value, forms_[value], form)) return;
  if (const auto made = undecided_.find(value); made != undecided_.end() && alike(graph_, value, made->second, form))
    return;
  if (std::ranges::none_of(wants_[value], [&](Form other) { return alike(graph_, value, other, form); }))
    wants_[value].push_back(form);
}

/// Adds a kernel of all nodes of a group, which reads in one form (broadcast operands stay as they are) and writes in
/// another. A row-major kernel reads strided operands in place.
GroupForms Planning::place_kernel(const Group& group, Form in, Form out) {
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
  return {.in = in, .out = out};
}

void Planning::finish_kernel(const Group& group, std::vector<NodeId> nodes, std::span<const NodeId> absorbed,
                             Form out) {
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
ValueId Planning::summed(const Group& group) const {
  for (const Post& post : group.posts)
    if (!post.function && computed(post.added) &&
        graph_.type(post.added) == graph_.type(graph_.node(post.node).result()))
      return post.added;
  return kNoValue;
}

/// Places a convolution that computes in the cheapest way, the changes of layout around it included.
GroupForms Planning::place_conv(const Group& group) {
  const ValueId x = graph_.operands(graph_.node(group.root))[0];
  const auto ways = convolutions_.of(graph_, group, decisions_);
  if (ways.empty()) {
    // Extents are unknown; images of a few channels are read as they are.
    return place_kernel(group, fits_blocks(graph_, x) && channels_of(graph_, x) < 4 ? kPlainForm : block_, block_);
  }
  const ValueId result = graph_.node(group.last()).result();
  const ValueId added = summed(group);
  size_t best = 0;
  double least = cost(ways[0], 0, x, added, result);
  for (size_t i = 1; i < ways.size(); ++i) {
    const double other = cost(ways[i], i, x, added, result);
    if (other >= least) continue;
    best = i;
    least = other;
  }
  const ConvForm way = ways[best];
  const bool sums = way.sums && added != kNoValue;
  if (sums) copy_added(group, way, x, added);
  GroupForms forms = place_kernel(group, way.src, way.dst);
  if (sums && way.winograd) in_part_[result] = false;
  forms.way = best;
  if (decided_form(result)) plan_.decisions.layouts[result] = *decisions_.layout(result);
  const ValueId conv = graph_.node(group.root).result();
  const auto algorithm = decisions_.algorithm(conv);
  if (algorithm && way.winograd == (*algorithm == Algorithm::Winograd)) {
    forms.obeyed = algorithm;
    plan_.decisions.algorithms[conv] = *algorithm;
  }
  return forms;
}

double Planning::cost(const ConvForm& way, size_t index, ValueId x, ValueId added, ValueId result) {
  using Of = ConvReorder::Of;
  const auto reorder = [&](Of of, ValueId value, Form from, Form to) {
    return convolutions_.cost(graph_, {of, index, value, from, to});
  };
  double sum = reorder(Of::Image, x, forms_[x], way.src);
  if (const auto& part = concats_.part(result)) sum += reorder(Of::Part, result, way.dst, part->form);
  if (const auto form = decided_form(result)) sum += reorder(Of::Decided, result, way.dst, *form);
  if (way.sums && added != kNoValue) sum += reorder(Of::Added, added, forms_[added], way.dst);
  return sum + way.us;
}

/// The added value is copied to the result's place if it is needed later. Only direct convolutions can read it.
void Planning::copy_added(const Group& group, const ConvForm& way, ValueId x, ValueId added) {
  const ValueId result = graph_.node(group.last()).result();
  const auto& part = concats_.part(result);
  const bool reads = !way.winograd && ((part && alike(graph_, result, part->form, way.dst)) ||
                                       alike(graph_, added, forms_[added], way.dst));
  const bool later = last_reader_[added] > now_ || (way.winograd && added == x);
  if (later && !reads) plan_.reorders.push_back({result, layout_of(way.dst)});
}

/// Places a kernel that works in the form of its operands; if these differ, in the blocked one.
GroupForms Planning::place_follower(const Group& group) {
  const Node& root = graph_.node(group.root);
  const LayoutUse layouts = layout_use(graph_, root);
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
  return place_kernel(group, follows ? *form : kPlainForm, follows ? *form : kPlainForm);
}

/// Our own kernels for moving or reducing elements: they read contiguous values.
GroupForms Planning::place_own(const Group& group) {
  const Node& root = graph_.node(group.root);
  const ValueId x = graph_.operands(root)[0];
  Form in = kPlainForm, out = kPlainForm;
  if (fits_blocks(graph_, x) && forms_[x] != kStridedForm) {
    const bool whole = forms_[x] <= kPlainForm || channels_of(graph_, x) % forms_[x] == 0;
    const LayoutUse layouts = kernel_traits(root).layouts;
    if (layouts == LayoutUse::Reduction && reduces_pixels(graph_, root) && whole) in = forms_[x];
    if (layouts == LayoutUse::Padding && forms_[x] > kPlainForm && keeps_channels(root) &&
        (whole || !root.attrs.has("constant_value")))
      in = out = forms_[x];
  }
  std::vector<NodeId> nodes = nodes_of(group);
  if (computed(x)) want(x, in);
  if (layout_of(in) == Layout::Blocked) plan_.intakes[group.root] = Intake::Blocked;
  forms_[root.result()] = out;
  finish_kernel(group, std::move(nodes), {}, out);
  return {.in = in, .out = out};
}

GroupForms Planning::place_view(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId x = graph_.operands(node)[0];
  if (is_removed(node) || cuts_blocks(graph_, node, forms_[x])) {
    for (uint32_t i = 0; i < node.num_results; ++i) {
      forms_[node.result(i)] = forms_[x];
      strided_[node.result(i)] = strided_[x];
      in_part_[node.result(i)] = is_removed(node) && in_part_[x];
    }
    return {.in = forms_[x], .out = forms_[x]};
  }
  const bool moves = node.op->has(Trait::Permutation) || node.op->has(Trait::Cut);
  const bool last = moves && forms_[x] == kLastForm && !lies_plain(graph_, x, kLastForm);
  const bool strides = last ? !brings_channels_last(node) : makes_strides(graph_, node);
  // New extents for a value that is not contiguous: it is copied.
  if (!strides && !last && !strided_[x].empty()) return place_kernel({id}, kPlainForm, kPlainForm);
  if (!last && forms_[x] != kStridedForm) want(x, kPlainForm);
  for (uint32_t i = 0; i < node.num_results; ++i) {
    forms_[node.result(i)] = strides ? kStridedForm : kPlainForm;
    strided_[node.result(i)] = strided_[x];
    if (strides) strided_[node.result(i)].push_back(id);
  }
  return {.in = last ? kLastForm : kPlainForm, .out = strides ? kStridedForm : kPlainForm};
}

/// Operands are computed in their places, or copied there: nothing else is left to do.
GroupForms Planning::place_concat(const Group& group) {
  const Node& node = graph_.node(group.root);
  if (!concats_.joins_in_place(node)) return place_joined(group);
  const auto& whole = concats_.part(node.result());
  for (const ValueId operand : concats_.operands(node)) {
    if (is_empty(graph_, operand)) continue;
    const auto& part = concats_.part(operand);
    if (!part || part->root != whole->root || !in_part_[operand])
      plan_.reorders.push_back({operand, layout_of(whole->form)});
  }
  forms_[node.result()] = whole->form;
  in_part_[node.result()] = true;
  return {.in = whole->form, .out = whole->form, .joins = true};
}

/// Adds a concatenation by a kernel of its own.
GroupForms Planning::place_joined(const Group& group) {
  const Node& node = graph_.node(group.root);
  const auto operands = graph_.operands(node);
  const auto whole_blocks = [&](ValueId v) { return fills_blocks(graph_, v, block_); };
  const bool blocked = fits_blocks(graph_, node.result()) && node.attrs.integer("axis") == 1 &&
                       std::ranges::all_of(operands, whole_blocks) &&
                       std::ranges::any_of(operands, [&](ValueId v) { return computed(v) && forms_[v] == block_; });
  return place_kernel(group, blocked ? block_ : kPlainForm, blocked ? block_ : kPlainForm);
}

}  // namespace isomer::onednn
