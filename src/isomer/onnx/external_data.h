#pragma once
// Tensors whose elements are in files next to the model.

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

/// The external files of one model. Each is opened only once, and the same bytes are read only once.
class ExternalData {
 public:
  /// `folder` is the folder of the model. If it is empty, external data is not allowed.
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The `size` bytes that the tensor's external_data names. Refuses files outside of the model's folder, and offsets
  /// and lengths that do not match the file or the tensor's type.
  Result<FileBytes> find(const onnx::TensorProto& tensor, size_t size);

  /// Checks whether another `size` bytes of external data may be copied into memory. Many tensors may name the same
  /// bytes, so a small model could request any amount of memory. The total is therefore limited to the size of the
  /// files.
  Status allow_copy(size_t size);

  /// The files that tensors have used so far, by the names that the model gives them, sorted.
  std::vector<std::string> used() const;

 private:
  Result<std::shared_ptr<const InputFile>> file(const std::string& location);
  /// Reads bytes of one of these files. Errors do not contain the location.
  Result<FileBytes> read(const std::string& location, uint64_t offset, size_t size);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const InputFile>> files_;
  std::map<std::tuple<std::string, uint64_t, size_t>, FileBytes> copies_;  // of files that are not mapped
  size_t copied_ = 0;
};

}  // namespace isomer
