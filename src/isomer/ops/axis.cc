#include "isomer/ops/axis.h"

#include "isomer/ops/form_params.h"
#include "isomer/ops/indices.h"
#include "isomer/ops/infer.h"

namespace isomer {

AxisSplit axis_split(const std::vector<int64_t>& dims, int64_t axis) {
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis);
  return {extent_product(dims, 0, at), dims[at], extent_product(dims, at + 1, dims.size())};
}

Status normalize_axis(OnnxForm& form, const std::string& name, int64_t preset) {
  const Shape* shape = form_shape(form, 0);
  if (shape == nullptr) return form.leave_opaque("its rank is not known");
  const auto* given = form.get<int64_t>(name);
  if (given == nullptr && form.attrs.contains(name)) return fail("attribute '{}' must be an integer", name);
  ISOMER_TRY(const size_t axis, normal_axis(given != nullptr ? *given : preset, shape->size()));
  form.attrs[name] = static_cast<int64_t>(axis);
  return {};
}

}  // namespace isomer
