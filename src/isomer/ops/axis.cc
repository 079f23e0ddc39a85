#include "isomer/ops/axis.h"

#include "isomer/ops/infer.h"

namespace isomer {

AxisSplit axis_split(const std::vector<int64_t>& dims, int64_t axis) {
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t at = axis < 0 ? axis + rank : axis;
  AxisSplit split;
  for (int64_t i = 0; i < rank; ++i)
    (i < at ? split.outer : i == at ? split.extent : split.inner) *= dims[static_cast<size_t>(i)];
  return split;
}

std::optional<size_t> first_rank(const OnnxForm& form) {
  if (form.types.empty() || form.types[0] == nullptr || !form.types[0]->shape) return std::nullopt;
  return form.types[0]->rank();
}

Status normalize_axis(OnnxForm& form, const std::string& name, int64_t preset) {
  const auto rank = first_rank(form);
  if (!rank) return form.leave_opaque("its rank is not known");
  const auto* given = form.get<int64_t>(name);
  if (given == nullptr && form.attrs.contains(name)) return fail("attribute '{}' must be an integer", name);
  ISOMER_TRY(const size_t axis, normal_axis(given != nullptr ? *given : preset, *rank));
  form.attrs[name] = static_cast<int64_t>(axis);
  return {};
}

}  // namespace isomer
