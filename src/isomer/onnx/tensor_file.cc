#include "isomer/onnx/tensor_file.h"

#include "isomer/base/file.h"
#include "isomer/onnx/proto_tensor.h"

namespace isomer {

Result<Tensor> tensor_from_pb_file(const std::filesystem::path& path) {
  ISOMER_TRY(const std::string bytes, read_file(path));
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes)) return fail("{}: not a serialized tensor", path.string());
  ExternalData external(path.parent_path());
  auto tensor = take_tensor(proto, external);
  if (!tensor) return fail_in(path.string(), tensor.error());
  return tensor;
}

}  // namespace isomer
