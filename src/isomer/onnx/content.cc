#include "isomer/onnx/content.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "isomer/onnx/model_info.h"

namespace isomer {
namespace {

/// The serialized message. Equal messages have equal bytes within one program.
std::string bytes_of(const google::protobuf::MessageLite& message) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

}  // namespace

std::string opaque_content(const Node& node) {
  const std::string& bytes = node.attrs.text("@node");
  onnx::NodeProto proto;
  if (is_own(node, kTrainedInitializer) || is_own(node, kSparseInitializer) || !proto.ParseFromString(bytes))
    return bytes;
  proto.clear_name();
  proto.clear_input();
  proto.clear_output();
  return bytes_of(proto);
}

std::map<std::string, std::string> functions_by_name(const Model& model) {
  std::map<std::string, std::string> out;
  for (const auto& function : model.info->model.functions()) {
    std::string name = normal_domain(function.domain()) + ":" + function.name();
    if (!function.overload().empty()) name += ":" + function.overload();
    out[name] += bytes_of(function);
  }
  return out;
}

bool same_functions_and_defaults(const Model& a, const Model& b) {
  return std::ranges::equal(a.info->model.functions(), b.info->model.functions(), {}, bytes_of, bytes_of) &&
         a.info->defaults == b.info->defaults;
}

std::vector<std::string> external_files(const Model& model) { return model.info->external_files; }

void declare_external_files(const std::filesystem::path& path, const Model& model, FileUses& uses) {
  for (const std::string& name : external_files(model))
    uses.reads_part("external data of " + path.string(), path.parent_path() / name);
}

}  // namespace isomer
