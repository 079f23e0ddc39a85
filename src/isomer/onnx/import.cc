#include "isomer/onnx/import.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "isomer/base/printable.h"
#include "isomer/onnx/fixed_extents.h"
#include "isomer/onnx/importer.h"
#include "isomer/onnx/input_file.h"
#include "isomer/onnx/label.h"
#include "isomer/onnx/parameters.h"
#include "isomer/onnx/proto_tensor.h"
#include "isomer/onnx/quantized.h"
#include "isomer/onnx/sort_nodes.h"
#include "isomer/onnx/subgraphs.h"

namespace isomer {
namespace {

tl::unexpected<Error> fail_at(const char* kind, const std::string& name, const Error& error) {
  return fail_in(fmt::format("{} '{}'", kind, printable(name)), error);
}

/// Removes the elements of an initializer; ModelInfo keeps the rest.
void strip(onnx::TensorProto& proto) {
  onnx::TensorProto rest;
  rest.set_name(proto.name());
  if (proto.has_doc_string()) rest.set_doc_string(proto.doc_string());
  *rest.mutable_metadata_props() = proto.metadata_props();
  proto = std::move(rest);
}

/// Whether a tensor can be a value of this type. Symbols may have any value.
bool may_be(const Tensor& tensor, const TensorType& type) {
  if (type.dtype != DType::Undefined && type.dtype != tensor.dtype()) return false;
  if (!type.shape) return true;
  const auto fits = [](const Dim& dim, int64_t extent) { return !dim.is_const() || dim.is(extent); };
  return std::ranges::equal(*type.shape, tensor.dims(), fits);
}

}  // namespace

Status Importer::define(const std::string& name, ValueId value) {
  if (name.empty()) return fail("a value has no name");
  if (!values_.emplace(name, value).second) return fail("the value '{}' is defined twice", printable(name));
  names_->names.push_back(name);
  builder_.set_origin(value, static_cast<Origin>(names_->names.size() - 1));
  return {};
}

Status Importer::define_constant(const std::string& name, Tensor tensor) {
  info_->constant_names.emplace(tensor.hash(), name);
  return define(name, builder_.constant(std::move(tensor)));
}

Status Importer::define_trained(const std::string& name, const Tensor& tensor) {
  Attrs attrs{{"@op_type", std::string(kTrainedInitializer)},
              {"@domain", std::string(kOwnDomain)},
              {"@opset", int64_t{1}},
              {"@instance", opaque_nodes_++},
              {"@captures", int64_t{0}},
              {"@node", name}};
  const NodeId id = builder_.opaque(std::move(attrs), {}, {tensor.type()});
  return define(name, builder_.at(id).result());
}

Status Importer::read_opsets() {
  if (model_.ir_version() < 1) return fail("it is not an ONNX model: it has no IR version");
  if (!model_.has_graph()) return fail("it is not an ONNX model: it has no graph");
  for (const auto& import : model_.opset_import()) {
    const std::string domain = import.domain().empty() ? "ai.onnx" : printable(import.domain());
    if (import.version() < 1 || import.version() > std::numeric_limits<int>::max())
      return fail("the opset version {} of domain '{}' is invalid", import.version(), domain);
    const auto [known, is_new] =
        info_->opsets.emplace(normal_domain(import.domain()), static_cast<int>(import.version()));
    if (!is_new && known->second != import.version())
      return fail("the domain '{}' is imported at versions {} and {}", domain, known->second, import.version());
  }
  if (model_.ir_version() < 3) info_->opsets.emplace("", 1);
  if (info_->opsets.empty()) return fail("it imports no opset");
  for (const auto& function : model_.functions())
    functions_.insert(normal_domain(function.domain()) + '\0' + function.name());
  return {};
}

void Importer::read_names() {
  collect_names(model_.graph(), info_->names);
  for (const auto& training : model_.training_info()) {
    collect_names(training.initialization(), info_->names);
    collect_names(training.algorithm(), info_->names);
    for (std::string& name : trained_names(training)) trained_.insert(std::move(name));
  }
  for (std::string& name : annotated_names(model_.graph())) trained_.insert(std::move(name));
}

Status Importer::sort() {
  ISOMER_CHECK(sort_nodes(*model_.mutable_graph()->mutable_node()));
  for (auto& function : *model_.mutable_functions())
    if (auto status = sort_nodes(*function.mutable_node()); !status)
      return fail_at("function", function.name(), status.error());
  return {};
}

Status Importer::read_declared_types() {
  const onnx::GraphProto& graph = model_.graph();
  for (const auto* infos : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto& info : *infos) types_.reserve(info.type());
  for (const auto* infos : {&graph.value_info(), &graph.output()}) {
    for (const auto& info : *infos) {
      if (declared_.contains(info.name())) continue;
      auto type = types_.read(info.type());
      if (!type) return fail_at("value", info.name(), type.error());
      declared_.emplace(info.name(), std::move(*type));
    }
  }
  return {};
}

Status Importer::read_initializer(onnx::TensorProto& proto) {
  ISOMER_TRY(Tensor tensor, take_tensor(proto, external_));
  const bool overridable = model_.ir_version() >= 4 && inputs_.contains(proto.name());
  if (overridable || trained_.contains(proto.name())) {
    if (!overridable) ISOMER_CHECK(define_trained(proto.name(), tensor));
    if (!info_->defaults.emplace(proto.name(), std::move(tensor)).second) return fail("it is defined twice");
  } else {
    ISOMER_CHECK(define_constant(proto.name(), std::move(tensor)));
  }
  strip(proto);
  return {};
}

Status Importer::read_initializers() {
  for (const auto& input : model_.graph().input()) inputs_.insert(input.name());
  for (auto& proto : *model_.mutable_graph()->mutable_initializer())
    if (auto status = read_initializer(proto); !status) return fail_at("initializer", proto.name(), status.error());
  return {};
}

Status Importer::read_inputs() {
  std::unordered_set<std::string> seen;
  for (const auto& input : model_.graph().input()) {
    if (!seen.insert(input.name()).second) return fail("the input '{}' is listed twice", printable(input.name()));
    if (values_.contains(input.name())) continue;  // an initializer of an old model
    auto type = types_.read(input.type());
    if (!type) return fail_at("input", input.name(), type.error());
    const auto preset = info_->defaults.find(input.name());
    if (preset != info_->defaults.end() && !may_be(preset->second, *type))
      return fail("input '{}' is {}, but its initializer is {}", printable(input.name()), type->str(),
                  preset->second.type().str());
    const bool parameter = preset != info_->defaults.end();
    ISOMER_CHECK(
        define(input.name(), parameter ? builder_.parameter(std::move(*type)) : builder_.input(std::move(*type))));
    info_->inputs.push_back(input.name());
  }
  return {};
}

Status Importer::read_sparse_initializers() {
  for (auto& proto : *model_.mutable_graph()->mutable_sparse_initializer())
    if (auto status = add_opaque_sparse(proto); !status)
      return fail_at("sparse initializer", proto.values().name(), status.error());
  model_.mutable_graph()->clear_sparse_initializer();
  return {};
}

Status Importer::read_nodes() {
  const std::vector<bool> quantized = quantized_nodes(model_.graph());
  auto& nodes = *model_.mutable_graph()->mutable_node();
  for (int i = 0; i < nodes.size(); ++i) {
    auto status = read_node(nodes[i], quantized[static_cast<size_t>(i)]);
    if (!status) return fail_in(node_label(nodes[i], i), status.error());
  }
  nodes.Clear();
  return {};
}

/// Parts of the model that are kept must not refer to files next to the model's old location.
Status Importer::embed_rest() {
  for (auto& function : *model_.mutable_functions())
    for (auto& node : *function.mutable_node())
      if (auto status = embed_external(node, external_); !status)
        return fail_at("function", function.name(), status.error());
  for (auto& training : *model_.mutable_training_info()) {
    if (training.has_initialization()) ISOMER_CHECK(embed_external(*training.mutable_initialization(), external_));
    if (training.has_algorithm()) ISOMER_CHECK(embed_external(*training.mutable_algorithm(), external_));
  }
  return {};
}

Result<std::vector<ValueId>> Importer::read_outputs() {
  std::vector<ValueId> outputs;
  for (const auto& output : model_.graph().output()) {
    const auto value = values_.find(output.name());
    if (value == values_.end()) return fail("the output '{}' is not defined", printable(output.name()));
    outputs.push_back(value->second);
    info_->outputs.push_back(output.name());
  }
  return outputs;
}

Result<Model> Importer::finish(std::span<const ValueId> outputs) {
  Graph graph = builder_.finish(outputs);
  info_->model.Swap(&model_);
  info_->external_files = external_.used();
  return Model{std::move(graph), std::move(info_)};
}

Result<Model> Importer::run() {
  ISOMER_CHECK(read_opsets());
  ISOMER_CHECK(sort());
  read_names();
  ISOMER_CHECK(read_declared_types());
  ISOMER_CHECK(read_initializers());
  ISOMER_CHECK(read_inputs());
  ISOMER_CHECK(read_sparse_initializers());
  ISOMER_CHECK(read_nodes());
  ISOMER_CHECK(embed_rest());
  ISOMER_TRY(const std::vector<ValueId> outputs, read_outputs());
  return finish(outputs);
}

namespace {

constexpr size_t kLargestMessage = std::numeric_limits<int>::max();

/// Gives protobuf a file piece by piece, so that the file is not in memory in addition to the message. (The bytes of
/// one large tensor are copied a few times while protobuf's string grows.)
class FileStream : public google::protobuf::io::CopyingInputStream {
 public:
  explicit FileStream(const InputFile& file) : file_(file) {}

  int Read(void* buffer, int size) override {
    const auto count = static_cast<size_t>(std::min<uint64_t>(size, file_.size() - offset_));
    status_ = file_.read(offset_, {static_cast<std::byte*>(buffer), count});
    offset_ += count;
    return status_ ? static_cast<int>(count) : -1;
  }
  const Status& status() const { return status_; }

 private:
  const InputFile& file_;
  uint64_t offset_ = 0;
  Status status_;
};

Result<Model> import_parsed(google::protobuf::io::ZeroCopyInputStream& stream, uint64_t size,
                            const std::filesystem::path& folder, const ImportOptions& options) {
  if (size == 0) return fail("it is empty");
  if (size > kLargestMessage) return fail("it is larger than 2 GB, the limit of ONNX files without external data");
  onnx::ModelProto proto;
  if (!proto.ParseFromBoundedZeroCopyStream(&stream, static_cast<int>(size)))
    return fail("it is not an ONNX model, or it is corrupt: its protobuf message cannot be read");
  fix_extents(proto, options.shapes);
  std::vector<std::string> scalars;
  if (options.parameters_as_inputs) scalars = list_parameters(proto, options.scalars, options.statistics_as_inputs);
  ExternalData external(folder);
  return Importer(proto, external, std::move(scalars)).run();
}

}  // namespace

Result<Model> import_model(const std::filesystem::path& path, const ImportOptions& options) {
  constexpr int kPiece = 1 << 20;
  const auto file = InputFile::open(path, {.read_once = true});
  if (!file) return fail_in(path.string(), file.error());
  FileStream bytes(**file);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&bytes, kPiece);
  const auto parent = path.parent_path();
  auto model = import_parsed(stream, (*file)->size(), parent.empty() ? "." : parent, options);
  if (!bytes.status()) return fail_in(path.string(), bytes.status().error());
  return in_context(path.string(), std::move(model));
}

Result<Model> import_bytes(std::string_view bytes, const std::filesystem::path& folder, const std::string& what,
                           const ImportOptions& options) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(),
                                                static_cast<int>(std::min(bytes.size(), kLargestMessage)));
  return in_context(what, import_parsed(stream, bytes.size(), folder, options));
}

}  // namespace isomer
