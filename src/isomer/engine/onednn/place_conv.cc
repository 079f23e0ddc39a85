// Decides how convolutions compute.

#include <algorithm>
#include <numeric>

#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/planning.h"

namespace isomer::onednn {
namespace {

/// Returns the index of the first of the cheapest ways.
template <class Cost>
size_t cheapest(std::span<const ConvForm> ways, const Cost& cost) {
  size_t best = 0;
  double min_cost = cost(ways[0]);
  for (size_t i = 1; i < ways.size(); ++i) {
    const double other = cost(ways[i]);
    if (other >= min_cost) continue;
    best = i;
    min_cost = other;
  }
  return best;
}

}  // namespace

/// Places a convolution that computes in the cheapest way, the changes of layout around it included.
GroupForms Planning::place_conv(const Group& group) {
  const ValueId x = graph_.operands(graph_.node(group.root))[0];
  const auto ways = convolutions_.of(graph_, group, decisions_, limit_);
  if (ways.empty()) {
    // Extents are unknown; images of a few channels are read as they are.
    const Form in = fits_blocks(graph_, x) && channels_of(graph_, x) < 4 ? kPlainForm : block_;
    return place_kernel(group, {.in = in, .second = in, .out = block_});
  }
  if (ways[0].pass == ConvPass::Filters) return place_filters(group, ways);
  const ValueId result = graph_.node(group.last()).result();
  const ValueId added = summed(group);
  const size_t best = cheapest(ways, [&](const ConvForm& way) { return cost(way, x, added, result); });
  const ConvForm way = ways[best];
  const bool sums = way.sums && added != kNoValue;
  if (sums) copy_added(group, way, added);
  GroupForms forms = place_kernel(group, {.in = way.src, .second = way.src, .out = way.dst});
  forms.way = best;
  forms.conv = way;
  if (decided_form(result)) plan_.decisions.layouts[result] = *decisions_.layout(result);
  note_algorithm(graph_.node(group.root).result(), way);
  return forms;
}

/// Notes the algorithm that is decided for a convolution, if it is obeyed.
void Planning::note_algorithm(ValueId conv, const ConvForm& way) {
  const auto algorithm = decisions_.algorithm(conv);
  if (!algorithm) return;
  const bool winograd = way.kernel == ConvKernel::Winograd;
  if (winograd == (*algorithm == Algorithm::Winograd)) plan_.decisions.algorithms[conv] = *algorithm;
}

/// Places the gradient for filters. It reads what its transpositions read, and writes the filters in row-major order.
GroupForms Planning::place_filters(const Group& group, std::span<const ConvForm> ways) {
  const Node& node = graph_.node(group.root);
  const FilterGradient read = *filter_gradient(graph_, node);
  const size_t best = cheapest(ways, [&](const ConvForm& way) {
    return way.us + reorder_cost(read.image, forms_[read.image], way.src, way.dtype) +
           reorder_cost(read.gradient, forms_[read.gradient], way.dst, way.dtype);
  });
  want(read.image, ways[best].src);
  want(read.gradient, ways[best].dst);
  const auto take = [&](NodeId reader, Form form) {
    if (layout_of(form) == Layout::Blocked) plan_.intakes[reader] = Intake::Blocked;
  };
  take(read.image_reader, ways[best].src);
  take(read.gradient_reader, ways[best].dst);
  const Shape& extents = *graph_.type(node.result()).shape;
  Ints order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  Strides strides = packed(extents, order);
  const Form out = form_of(node.result(), strides);
  GroupForms forms = place_kernel(group, {kGivenForm, kGivenForm, out, std::move(strides)});
  forms.way = best;
  forms.conv = ways[best];
  note_algorithm(node.result(), ways[best]);
  return forms;
}

double Planning::cost(const ConvForm& way, ValueId x, ValueId added, ValueId result) {
  double sum = way.us + reorder_cost(x, forms_[x], way.src, way.dtype);
  if (const auto& part = concats_.part(result)) sum += reorder_cost(result, way.dst, part->form, way.dtype);
  if (const auto form = decided_form(result)) sum += reorder_cost(result, way.dst, *form, way.dtype);
  if (added != kNoValue) sum += reorder_cost(added, forms_[added], way.dst, way.dtype);
  return sum;
}

/// The added value is copied to the result's place if it is needed later and cannot be read where it is.
void Planning::copy_added(const Group& group, const ConvForm& way, ValueId added) {
  const ValueId result = graph_.node(group.last()).result();
  const auto& part = concats_.part(result);
  const bool reads =
      (part && alike(graph_, result, part->form, way.dst)) || alike(graph_, added, forms_[added], way.dst);
  if (last_reader_[added] > now_ && !reads) plan_.reorders.push_back({result, layout_of(way.dst)});
}

}  // namespace isomer::onednn
