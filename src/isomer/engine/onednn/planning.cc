#include "isomer/engine/onednn/planning.h"

#include <algorithm>
#include <utility>

#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/kernel_traits.h"
#include "isomer/engine/onednn/loop_nodes.h"
#include "isomer/engine/onednn/loss_gradient.h"
#include "isomer/engine/onednn/max_pool_gradient.h"
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
    // OneDNN's fast kernels need two axes after the channels.
    const auto& extents = graph.type(node.result()).shape;
    return extents && extents->size() > 3 && (*extents)[0].is(1) ? layouts : LayoutUse::Plain;
  }
  // Functions of each element work in any layout.
  return layouts == LayoutUse::Plain && unary_of(graph, node) ? LayoutUse::Operands : layouts;
}

/// The decisions, of the values that remain when identities are removed. Of several for one value, the first is kept.
Decisions without_removed(const Graph& graph, const Decisions& decisions) {
  Decisions out;
  add_decisions(
      decisions, [&](ValueId value) { return std::optional(remaining_value(graph, value)); }, out);
  return out;
}

/// Returns the axis that a node names, counted from the first one.
size_t axis_of(const Node& node, size_t rank) {
  const int64_t axis = node.attrs.integer("axis");
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
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
                   std::span<const Layout> inputs, const Deadline& deadline)
    : graph_(graph),
      stage_(stage),
      block_(block),
      convolutions_(convolutions),
      limit_{deadline},
      decisions_(stage == Stage::Given ? without_removed(graph, decisions) : decisions),
      concats_(graph, block, stage),
      groups_(fuse(graph, stage, convolutions.dtype() == DType::Float)),
      last_reader_(last_readers(graph, groups_)),
      forms_(graph.num_values(), kPlainForm),
      strides_(graph.num_values()),
      in_part_(graph.num_values(), false),
      wants_(graph.num_values()),
      views_(graph.num_values()) {
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

GroupForms Planning::place(size_t group) {
  const Group& whole = groups_[group];
  if (!falls_apart(whole)) return place(whole, group);
  Group piece{whole.root};
  for (const Post& post : whole.posts) {
    if (is_folded(post)) {
      piece.posts.push_back(post);
    } else {
      place(piece, group);
      piece = {post.node};
    }
  }
  return place(piece, group);
}

bool Planning::falls_apart(const Group& group) {
  const Node& root = graph_.node(group.root);
  if (layout_use(graph_, root) != LayoutUse::Chosen || std::ranges::all_of(group.posts, is_folded)) return false;
  if (std::ranges::any_of(group.posts, [](const Post& post) { return !post.inner.empty(); })) return false;
  return is_plannable(graph_, graph_.operands(root)[0]) && is_plannable(graph_, root.result()) &&
         convolutions_.of(graph_, group, decisions_, limit_).empty();
}

GroupForms Planning::place(const Group& part, size_t group) {
  now_ = group;
  if (is_max_pool_gradient(graph_, part)) return place_max_pool_gradient(part);
  if (is_loss_gradient(graph_, part)) return place_loss_gradient(part);
  if (is_loop(graph_, part)) return place_loop(part);
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
      return place_own(part);
    case LayoutUse::Factors:
      return place_product(part);
    case LayoutUse::AlongAxis:
      return place_along_axis(part);
    case LayoutUse::Plain:
      break;
  }
  return place_kernel(part, kPlainForm);
}

void Planning::correct(ValueId value, Form form, Strides strides) {
  forms_[value] = form;
  strides_[value] = std::move(strides);
}

/// Returns the strides of a value; nothing if it is in blocks or they are unknown.
std::optional<Strides> Planning::strides_of(ValueId value) const {
  if (!may_be_plannable(graph_, value) || forms_[value] > kPlainForm) return std::nullopt;
  const Shape& extents = *graph_.type(value).shape;
  if (forms_[value] == kPlainForm) return row_major(extents);
  if (forms_[value] == kLastForm) return innermost(extents, 1);
  return strides_[value].empty() ? std::nullopt : std::optional(strides_[value]);
}

/// Returns the form of a value with given strides.
Form Planning::form_of(ValueId value, const Strides& strides) const {
  const Shape& extents = *graph_.type(value).shape;
  if (same_places(extents, strides, row_major(extents))) return kPlainForm;
  const bool last = extents.size() > 2 && same_places(extents, strides, innermost(extents, 1));
  return last ? kLastForm : kStridedForm;
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
  views_[value].clear();
  in_part_[value] = false;
  return form;
}

/// Requests a value in a form: adds a reorder, unless the value has the form or another reader requested the same.
void Planning::want(ValueId value, Form form) {
  if (form == kGivenForm || alike(graph_, value, forms_[value], form)) return;
  if (const auto made = undecided_.find(value); made != undecided_.end() && alike(graph_, value, made->second, form))
    return;
  if (std::ranges::none_of(wants_[value], [&](Form other) { return alike(graph_, value, other, form); }))
    wants_[value].push_back(form);
}

/// Adds a kernel of all nodes of a group, which reads in one form (broadcast operands stay as they are) and writes in
/// another. Unless it needs operands in one piece, a row-major kernel reads strided ones in place.
GroupForms Planning::place_kernel(const Group& group, GroupForms forms) {
  const bool one_piece = kernel_traits(graph_.node(group.root)).one_piece;
  std::vector<NodeId> nodes = nodes_of(group);
  std::vector<NodeId> absorbed;
  for (const NodeId id : nodes) {
    const Node& node = graph_.node(id);
    const auto operands = graph_.operands(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      const ValueId operand = operands[i];
      if (!computed(operand) || std::ranges::find(nodes, graph_.producer(operand)) != nodes.end()) continue;
      const Form wanted = id != group.root ? forms.out : i == 1 ? forms.second : forms.in;
      const bool blocked = layout_of(wanted) == Layout::Blocked;
      const bool whole = !blocked || graph_.type(operand).rank() >= graph_.type(node.result()).rank();
      if (whole && blocked) plan_.intakes[id] = Intake::Blocked;
      const bool in_place = wanted == kGivenForm || (wanted == kPlainForm && !one_piece);
      const auto& views = views_[operand];
      if (in_place && !views.empty())
        absorbed.insert(absorbed.end(), views.begin(), views.end());
      else if (whole && (id == group.root || graph_.type(operand) == graph_.type(node.result())))
        want(operand, wanted);
      else if (!views.empty())
        want(operand, kPlainForm);
    }
    for (uint32_t i = 0; i < node.num_results; ++i) {
      forms_[node.result(i)] = forms.out;
      strides_[node.result(i)] = forms.strides;
    }
  }
  finish_kernel(group, std::move(nodes), absorbed, forms.out);
  return forms;
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

/// Places a kernel that works in the form of its operands; if these differ, in the blocked one.
GroupForms Planning::place_follower(const Group& group) {
  const Node& root = graph_.node(group.root);
  const LayoutUse layouts = layout_use(graph_, root);
  // A function of each element works in any order.
  const auto unary = unary_of(graph_, root);
  const bool alone = layouts == LayoutUse::Operands && graph_.operands(root).size() == 1;
  const ValueId x = unary ? unary->operand : alone ? graph_.operands(root)[0] : kNoValue;
  if (x != kNoValue && group.posts.empty() && !strides_[x].empty() && forms_[x] == kStridedForm &&
      is_packed(*graph_.type(x).shape, strides_[x]))
    return place_kernel(group, {.in = kGivenForm, .second = kGivenForm, .out = kStridedForm, .strides = strides_[x]});
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
  return place_kernel(group, follows ? *form : kPlainForm);
}

/// The kernel reads and writes rows of scores.
GroupForms Planning::place_loss_gradient(const Group& group) {
  const LossGradient read = *loss_gradient(graph_, group.root);
  for (const ValueId value : {read.scores, read.labels, read.factor})
    if (computed(value)) want(value, kPlainForm);
  const ValueId result = graph_.node(group.root).result();
  forms_[result] = kPlainForm;
  strides_[result].clear();
  finish_kernel(group, nodes_of(group), {}, kPlainForm);
  return {};
}

/// The kernel works in the image's layout, or in blocks if the image is in none; row-major if the gradient is flat.
GroupForms Planning::place_max_pool_gradient(const Group& group) {
  const MaxPoolGradient read = *max_pool_gradient(graph_, group.root);
  Form form = forms_[read.image] == kStridedForm ? block_ : forms_[read.image];
  const bool flat = graph_.type(read.gradient).rank() == 1;
  if (flat || !fits_blocks(graph_, read.image) || (form > kPlainForm && !fills_blocks(graph_, read.image, form)))
    form = kPlainForm;
  want(read.image, form);
  want(read.gradient, form);
  if (form > kPlainForm)
    for (const NodeId id : group.inner) plan_.intakes[id] = Intake::Blocked;
  std::vector<NodeId> nodes = nodes_of(group);
  const ValueId result = graph_.node(group.root).result();
  forms_[result] = form;
  strides_[result].clear();
  finish_kernel(group, std::move(nodes), {}, form);
  return {.in = form, .second = form, .out = form};
}

/// Our own kernels for moving or reducing elements: they read contiguous values.
GroupForms Planning::place_own(const Group& group) {
  const Node& root = graph_.node(group.root);
  const ValueId x = graph_.operands(root)[0];
  Form in = kPlainForm, out = kPlainForm;
  if (fits_blocks(graph_, x) && forms_[x] != kStridedForm) {
    const bool whole = forms_[x] <= kPlainForm || channels_of(graph_, x) % forms_[x] == 0;
    const LayoutUse layouts = kernel_traits(root).layouts;
    if (layouts == LayoutUse::Reduction && reduces_pixels(graph_, root) && whole && !lies_plain(graph_, x, forms_[x]))
      in = forms_[x];
    if (layouts == LayoutUse::Padding && keeps_channels(root) && (whole || !root.attrs.has("constant_value")))
      in = out = forms_[x];
  }
  return place_kernel(group, {.in = in, .second = in, .out = out});
}

/// Products read a computed factor in place if the rows or the columns of its matrices are contiguous, unless the other
/// one is a matrix of weights.
GroupForms Planning::place_product(const Group& group) {
  const auto factors = graph_.operands(graph_.node(group.root)).first(2);
  const ValueId result = graph_.node(group.last()).result();
  const auto has_rows = [&](ValueId v) { return may_be_plannable(graph_, v) && graph_.type(v).rank() > 1; };
  const bool weights = is_known(graph_, factors[1], stage_) && graph_.type(factors[1]).rank() == 2;
  GroupForms forms;
  if (weights || !std::ranges::all_of(factors, has_rows)) return place_kernel(group, forms);
  if (reads_in_place(factors[0])) forms.in = kGivenForm;
  if (reads_in_place(factors[1])) forms.second = kGivenForm;
  if (auto strides = strides_for_reader(result)) {
    forms.out = kStridedForm;
    forms.strides = std::move(*strides);
  }
  return place_kernel(group, std::move(forms));
}

bool Planning::reads_in_place(ValueId factor) const {
  if (forms_[factor] == kPlainForm) return true;
  const auto strides = strides_of(factor);
  return strides && (strides->back().is(1) || (*strides)[strides->size() - 2].is(1));
}

/// Returns the strides with which a transposition that is the only reader of a product becomes row-major; nothing if
/// there is none, or the rows would not be contiguous.
std::optional<Strides> Planning::strides_for_reader(ValueId product) const {
  const auto readers = graph_.consumers(product);
  if (readers.size() != 1 || graph_.is_output(product) || !may_be_plannable(graph_, product)) return std::nullopt;
  const Node& reader = graph_.node(readers[0]);
  if (!reader.op->has(Trait::Permutation)) return std::nullopt;
  Strides strides = packed(*graph_.type(product).shape, reader.attrs.ints("perm"));
  if (!strides.back().is(1) || form_of(product, strides) == kPlainForm) return std::nullopt;
  return strides;
}

/// The kernel needs packed elements that are adjacent along its axis, or the channels in blocks.
GroupForms Planning::place_along_axis(const Group& group) {
  const Node& root = graph_.node(group.root);
  const ValueId x = graph_.operands(root)[0];
  if (!may_be_plannable(graph_, x) || graph_.type(x).rank() == 0) return place_kernel(group, kPlainForm);
  const Shape& extents = *graph_.type(x).shape;
  const size_t axis = axis_of(root, extents.size());
  if (forms_[x] > kPlainForm && axis == 1) return place_kernel(group, forms_[x]);
  const auto lies = strides_of(x);
  GroupForms forms{.strides = row_major(extents)};
  if (lies && (*lies)[axis].is(1) && is_packed(extents, *lies)) forms.strides = *lies;
  if (!forms.strides[axis].is(1)) forms.strides = innermost(extents, axis);
  forms.out = form_of(x, forms.strides);
  forms.in = forms.out == kStridedForm && lies == forms.strides ? kGivenForm : forms.out;
  return place_kernel(group, std::move(forms));
}

GroupForms Planning::place_view(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId x = graph_.operands(node)[0];
  if (is_removed(node) || cuts_blocks(graph_, node, forms_[x])) {
    for (uint32_t i = 0; i < node.num_results; ++i) {
      forms_[node.result(i)] = forms_[x];
      strides_[node.result(i)] = strides_[x];
      views_[node.result(i)] = views_[x];
      in_part_[node.result(i)] = is_removed(node) && in_part_[x];
    }
    return {.in = forms_[x], .out = forms_[x]};
  }
  const bool moves = node.op->has(Trait::Permutation) || is_cut(node);
  // There are no strides between blocks; a kernel reads only the elements that it picks.
  if (picks_elements(node) && forms_[x] > kPlainForm && !feeds_filter_gradients(graph_, node))
    return place_kernel({id}, forms_[x]);
  if ((!moves || forms_[x] > kPlainForm || !views_[x].empty()) && feeds_filter_gradients(graph_, node)) {
    forms_[node.result()] = kStridedForm;
    views_[node.result()] = views_[x];
    views_[node.result()].push_back(id);
    return {.in = forms_[x], .out = kStridedForm};
  }
  // New extents for a value that is not contiguous: it is copied.
  if (!moves && !views_[x].empty()) return place_kernel({id}, kPlainForm);
  const auto lies = moves ? strides_of(x) : std::nullopt;
  if (!lies) want(x, kPlainForm);
  for (uint32_t i = 0; i < node.num_results; ++i) {
    const ValueId part = node.result(i);
    forms_[part] = kPlainForm;
    if (!moves || !may_be_plannable(graph_, x)) continue;
    strides_[part] = viewed(node, lies ? *lies : row_major(*graph_.type(x).shape));
    forms_[part] = form_of(part, strides_[part]);
    if (forms_[part] == kPlainForm) continue;
    if (lies) views_[part] = views_[x];
    views_[part].push_back(id);
  }
  return {.in = forms_[x], .out = forms_[node.result()]};
}

/// Operands are computed in their places, or copied there: nothing else is left to do.
GroupForms Planning::place_concat(const Group& group) {
  const Node& node = graph_.node(group.root);
  if (!concats_.joins_in_place(node)) return place_joined(group);
  const auto& whole = concats_.part(node.result());
  const auto operands = concats_.operands(node);
  for (auto at = operands.begin(); at != operands.end(); ++at) {
    const ValueId operand = *at;
    if (is_empty(graph_, operand)) continue;
    const auto& part = concats_.part(operand);
    const bool again = std::find(operands.begin(), at, operand) != at;
    if (!part || part->root != whole->root || !in_part_[operand] || again)
      plan_.reorders.push_back({operand, layout_of(whole->form)});
  }
  forms_[node.result()] = whole->form;
  in_part_[node.result()] = true;
  return {.in = whole->form, .out = whole->form, .joins = true};
}

/// Adds a concatenation by a kernel of its own, which reads operands that are all in the same order, or row-major ones.
GroupForms Planning::place_joined(const Group& group) {
  const Node& node = graph_.node(group.root);
  const auto operands = graph_.operands(node);
  const Form form = forms_[operands[0]];
  const bool whole = form <= kPlainForm || axis_of(node, graph_.type(node.result()).rank()) != 1 ||
                     std::ranges::all_of(operands, [&](ValueId v) { return fills_blocks(graph_, v, form); });
  if (form != kStridedForm && whole && std::ranges::all_of(operands, [&](ValueId v) { return forms_[v] == form; }))
    return place_kernel(group, form);
  if (may_be_plannable(graph_, node.result()))
    if (auto strides = joined(node)) {
      const Form out = form_of(node.result(), *strides);
      return place_kernel(group, {.in = kGivenForm, .second = kGivenForm, .out = out, .strides = std::move(*strides)});
    }
  return place_kernel(group, kPlainForm);
}

/// Returns the strides of the result if operands are joined as they lie: in the order of the first one, without gaps in
/// what they have along the axis and within; nothing if they lie otherwise.
std::optional<Strides> Planning::joined(const Node& concat) const {
  const Shape& extents = *graph_.type(concat.result()).shape;
  const auto operands = graph_.operands(concat);
  const auto first = strides_of(operands[0]);
  if (!first) return std::nullopt;
  const Ints order = order_of(*first);
  Strides strides = packed(extents, order);
  const auto inner = std::ranges::find(order, static_cast<int64_t>(axis_of(concat, extents.size())));
  for (const ValueId operand : operands) {
    const auto lies = strides_of(operand);
    const auto adjoins = [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      return (*graph_.type(operand).shape)[at].is(1) || (*lies)[at] == strides[at];
    };
    if (!lies || !std::all_of(inner, order.end(), adjoins)) return std::nullopt;
  }
  return strides;
}

}  // namespace isomer::onednn
