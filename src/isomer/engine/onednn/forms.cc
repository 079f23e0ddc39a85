#include "isomer/engine/onednn/forms.h"

#include <algorithm>

#include "isomer/engine/onednn/fusion.h"

namespace isomer::onednn {

Layout layout_of(Form form) { return form == kLastForm || form > kPlainForm ? Layout::Blocked : Layout::Plain; }

bool fits_blocks(const Graph& graph, ValueId value) {
  if (!may_be_plannable(graph, value)) return false;
  const Shape& extents = *graph.type(value).shape;
  return extents.size() >= 3 && extents.size() <= 5 && extents[1].is_const();
}

int64_t channels_of(const Graph& graph, ValueId value) { return (*graph.type(value).shape)[1].value(); }

bool fills_blocks(const Graph& graph, ValueId value, Form block) {
  return fits_blocks(graph, value) && channels_of(graph, value) % block == 0;
}

bool is_empty(const Graph& graph, ValueId value) {
  const auto& extents = graph.type(value).shape;
  return extents && std::ranges::any_of(*extents, [](const Dim& extent) { return extent.is(0); });
}

bool lies_plain(const Graph& graph, ValueId value, Form form) {
  if (form == kPlainForm || form == kStridedForm) return form == kPlainForm;
  if (!fits_blocks(graph, value)) return false;
  const Shape& extents = *graph.type(value).shape;
  return std::all_of(extents.begin() + 2, extents.end(), [](const Dim& extent) { return extent.is(1); }) &&
         (form == kLastForm || channels_of(graph, value) % form == 0);
}

bool alike(const Graph& graph, ValueId value, Form a, Form b) {
  return (a == b && a != kStridedForm) || (lies_plain(graph, value, a) && lies_plain(graph, value, b));
}

}  // namespace isomer::onednn
