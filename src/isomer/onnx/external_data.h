#pragma once
// Tensors whose elements lie in files beside the model.

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/mapped_file.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// Bytes inside a mapped file.
struct ExternalBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;
};

/// The external files of one model; each is mapped once.
class ExternalData {
 public:
  /// `folder` is the model's; empty: the model may have no external data.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The `size` bytes that the tensor's external_data names. Refuses files outside of the model's folder, and offsets
  /// and lengths that the file or the tensor's type do not bear out.
  Result<ExternalBytes> find(const onnx::TensorProto& tensor, size_t size);

  /// Asks whether `size` bytes of external data may be copied into memory. Many tensors may name the same bytes, so
  /// that a small model could ask for any amount: what is copied in all is bounded by the size of the files.
  Status allow_copy(size_t size);

  /// The files that tensors asked for so far, by the names that the model gives them, sorted.
  std::vector<std::string> used() const;

 private:
  Result<std::shared_ptr<const MappedFile>> file(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
  size_t copied_ = 0;
};

}  // namespace isomer
