#pragma once
// Tensors whose elements lie in files beside the model.

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/input_file.h"
#include "onnx-ml.pb.h"

namespace isomer {

/// The external files of one model; each is opened once, and the same bytes are read once.
class ExternalData {
 public:
  /// `folder` is the model's; empty: the model may have no external data.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The `size` bytes that the tensor's external_data names. Refuses files outside of the model's folder, and offsets
  /// and lengths that the file or the tensor's type do not bear out.
  Result<FileBytes> find(const onnx::TensorProto& tensor, size_t size);

  /// Asks whether `size` bytes of external data may be copied into memory. Many tensors may name the same bytes, so
  /// that a small model could ask for any amount: what is copied in all is bounded by the size of the files.
  Status allow_copy(size_t size);

  /// The files that tensors asked for so far, by the names that the model gives them, sorted.
  std::vector<std::string> used() const;

 private:
  Result<std::shared_ptr<const InputFile>> file(const std::string& location);
  /// Bytes of one of these files; fails without the location.
  Result<FileBytes> read(const std::string& location, uint64_t offset, size_t size);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const InputFile>> files_;
  std::map<std::tuple<std::string, uint64_t, size_t>, FileBytes> copies_;  // of what is not mapped
  size_t copied_ = 0;
};

}  // namespace isomer
