#pragma once
// Describes what a check covered.

#include <string>
#include <vector>

#include "isomer/check/instances.h"

namespace isomer {

/// The bounds within which every instance was tried; consecutive ranks with equal bounds are joined: "f64 rank 0-2
/// (extents <= 3, lengths <= 3, all 13), rank 3 left out".
class Coverage {
 public:
  void add(const InstanceBounds& bounds, size_t tried);
  /// Records that there are instances of this element type and rank, but no bounds that could be enumerated.
  void leave_out(DType element, size_t rank);
  std::string str() const;

 private:
  struct Part {
    DType element;
    size_t first;
    size_t last;
    std::string bounds;  // empty: left out
    size_t tried;
  };
  void add_part(Part part);
  std::vector<Part> parts_;
};

}  // namespace isomer
