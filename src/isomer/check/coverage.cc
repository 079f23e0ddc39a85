#include "isomer/check/coverage.h"

#include <algorithm>

#include "isomer/check/bounds_ladder.h"

namespace isomer {

void Coverage::add(const InstanceBounds& bounds, size_t tried) {
  add_part({bounds.element, bounds.rank, bounds.rank, bounds_text(bounds), tried});
}

void Coverage::leave_out(DType element, size_t rank) { add_part({element, rank, rank, "", 0}); }

void Coverage::add_part(Part part) {
  const auto before = std::ranges::find_if(parts_, [&](const Part& other) {
    return other.element == part.element && other.bounds == part.bounds && other.last + 1 == part.first;
  });
  if (before == parts_.end()) return parts_.push_back(std::move(part));
  before->last = part.last;
  before->tried += part.tried;
}

std::string Coverage::str() const {
  std::string out;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const bool same = i > 0 && parts_[i - 1].element == part.element;
    out += (i == 0 ? "" : same ? ", " : "; ") + (same ? "" : std::string(dtype_name(part.element)) + " ");
    out +=
        part.first == part.last ? fmt::format("rank {}", part.first) : fmt::format("rank {}-{}", part.first, part.last);
    out += part.bounds.empty() ? " left out" : fmt::format(" ({}, all {})", part.bounds, part.tried);
  }
  return out;
}

}  // namespace isomer
