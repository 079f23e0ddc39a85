#pragma once
// Writing a draft as one protobuf message, weights straight from where they lie.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "isomer/base/result.h"
#include "isomer/onnx/draft.h"

namespace isomer {

/// Takes bytes in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

/// Writes the ModelProto. Weights whose header says that they are external are not written. Fails above 2 GB.
Status write_model(const Draft& draft, Sink& sink);

}  // namespace isomer
