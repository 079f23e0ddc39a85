// Decides in which layout a loop computes.

#include <algorithm>

#include "isomer/engine/onednn/loop_nodes.h"
#include "isomer/engine/onednn/planning.h"

namespace isomer::onednn {

/// Loops read strided operands in place if their rows are contiguous and the loop is row-major itself; operands with
/// the loop's extents that are in another form are converted.
GroupForms Planning::place_loop(const Group& group) {
  std::vector<NodeId> nodes = nodes_of(group);
  const ValueId domain = loop_domain(graph_, group);
  const std::vector<ValueId> operands = loop_operands(graph_, group);
  const Form form = loop_form(group, operands);
  std::vector<NodeId> absorbed;
  for (const ValueId operand : operands) {
    if (!computed(operand)) continue;
    const bool whole = graph_.type(operand).shape == graph_.type(domain).shape;
    if (whole && form != kPlainForm) {
      want(operand, form);
    } else if (forms_[operand] == kPlainForm || (forms_[operand] == kStridedForm && !strides_[operand].empty() &&
                                                 has_rows(*graph_.type(operand).shape, strides_[operand]))) {
      absorbed.insert(absorbed.end(), views_[operand].begin(), views_[operand].end());
    } else {
      want(operand, kPlainForm);
    }
    for (const NodeId id : nodes)
      if (whole && layout_of(form) == Layout::Blocked && reads_value(id, operand)) plan_.intakes[id] = Intake::Blocked;
  }
  const bool sums = domain != graph_.node(group.last()).result();
  for (const NodeId id : nodes) {
    // Conditions, which are only within the loop, are never in blocks elsewhere: as inputs of a part, say.
    const ValueId inner = graph_.node(id).result();
    forms_[inner] = graph_.type(inner).dtype == DType::Float ? form : kPlainForm;
    strides_[inner].clear();
  }
  const Form out = sums ? kPlainForm : form;
  forms_[graph_.node(group.last()).result()] = out;
  finish_kernel(group, std::move(nodes), absorbed, out);
  return {.in = form, .second = form, .out = out};
}

bool Planning::reads_value(NodeId node, ValueId value) const {
  const auto operands = graph_.operands(graph_.node(node));
  return std::ranges::find(operands, value) != operands.end();
}

/// Returns the form in which the fewest operands must be converted; of several, blocks are preferred.
Form Planning::loop_form(const Group& group, std::span<const ValueId> operands) const {
  if (!loops_over_blocks(graph_, group, operands)) return kPlainForm;
  const ValueId domain = loop_domain(graph_, group);
  std::vector<Form> found;
  for (const ValueId operand : operands)
    if (computed(operand) && graph_.type(operand).shape == graph_.type(domain).shape)
      found.push_back(lies_plain(graph_, operand, forms_[operand]) ? kPlainForm : forms_[operand]);
  // Row-major loops also read most strided operands in place.
  auto kept = std::ranges::count_if(found, [](Form form) { return form == kPlainForm || form == kStridedForm; });
  Form best = kPlainForm;
  for (const Form form : found) {
    if (form == kPlainForm || form == kStridedForm) continue;
    if (form > kPlainForm && !fills_blocks(graph_, domain, form)) continue;
    const auto as_it_is = std::ranges::count(found, form);
    if (as_it_is < kept || (as_it_is == kept && best > kPlainForm)) continue;
    kept = as_it_is;
    best = form;
  }
  return best;
}

}  // namespace isomer::onednn
