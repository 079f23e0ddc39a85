#include "isomer/onnx/export.h"

#include <algorithm>

#include "isomer/base/hash.h"
#include "isomer/base/output_file.h"
#include "isomer/ir/label.h"
#include "isomer/onnx/draft.h"
#include "isomer/onnx/names.h"
#include "isomer/onnx/node_form.h"
#include "isomer/onnx/wire.h"

namespace isomer {
namespace {

/// Above this size, weights must be external: a protobuf message is limited to 2 GB, which includes the rest of the
/// model.
constexpr uint64_t kMaxInside = uint64_t{1900} << 20;
/// Smaller tensors stay in the model, because engines read them (shapes, axes) before external files.
constexpr size_t kMinOutside = 1024;
constexpr uint64_t kPage = 4096;

class StringSink : public Sink {
 public:
  Status write(std::span<const std::byte> bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  std::string text;
};

void add_entry(onnx::TensorProto& header, const std::string& name, const std::string& value) {
  auto* entry = header.add_external_data();
  entry->set_key(name);
  entry->set_value(value);
}

/// Aligns large tensors to pages, so that readers can map them.
uint64_t next_offset(uint64_t offset, size_t size) {
  const uint64_t alignment = size >= kPage ? kPage : 64;
  return (offset + alignment - 1) / alignment * alignment;
}

bool goes_outside(const Weight& weight) {
  return weight.tensor.dtype() != DType::String && weight.tensor.bytes().size() >= kMinOutside;
}

/// A name for the external data of the model at `path`. Data of other content has another name.
std::filesystem::path data_path_of(const std::filesystem::path& path, const std::vector<Weight>& weights) {
  uint64_t hash = 0;
  for (const Weight& weight : weights)
    if (goes_outside(weight)) hash = hash_mix(hash, weight.tensor.hash());
  auto data_path = path;
  data_path += fmt::format(".{:016x}.data", hash);
  return data_path;
}

/// Writes the larger weights to `sink`, and their locations to their headers.
Status write_outside(std::vector<Weight>& weights, const std::string& location, Sink& sink) {
  static constexpr std::byte kPadding[kPage] = {};
  uint64_t offset = 0;
  for (Weight& weight : weights) {
    if (!goes_outside(weight)) continue;
    const auto bytes = weight.tensor.bytes();
    const uint64_t start = next_offset(offset, bytes.size());
    ISOMER_CHECK(sink.write(std::span(kPadding).first(start - offset)));
    ISOMER_CHECK(sink.write(bytes));
    offset = start + bytes.size();
    weight.header.set_data_location(onnx::TensorProto::EXTERNAL);
    add_entry(weight.header, "location", location);
    add_entry(weight.header, "offset", std::to_string(start));
    add_entry(weight.header, "length", std::to_string(bytes.size()));
  }
  return {};
}

Status write_files(const Model& model, const std::filesystem::path& path, const ExportOptions& options) {
  ISOMER_TRY(Draft draft, make_draft(model));
  uint64_t total = 0;
  for (const Weight& weight : draft.weights) total += weight.tensor.bytes().size();
  ISOMER_TRY(OutputFile file, OutputFile::open(path));
  if (total <= (file.is_stream() ? kMaxInside : std::min(options.external_above, kMaxInside))) {
    ISOMER_CHECK(write_model(draft, file));
    return file.commit();
  }
  if (file.is_stream()) return fail("its weights need a separate file, which a device or pipe cannot have");
  const auto data_path = data_path_of(path, draft.weights);
  ISOMER_TRY(OutputFile data, OutputFile::open(data_path));
  ISOMER_CHECK(write_outside(draft.weights, data_path.filename().string(), data));
  ISOMER_CHECK(write_model(draft, file));
  ISOMER_CHECK(file.close());
  // An existing model stays intact until the last step, because the new data has another name than the old.
  ISOMER_CHECK(data.commit());
  return file.commit();
}

}  // namespace

Status export_model(const Model& model, const std::filesystem::path& path, const ExportOptions& options) {
  return in_context(path.string(), write_files(model, path, options));
}

Result<std::string> export_bytes(const Model& model) {
  ISOMER_TRY(const Draft draft, make_draft(model));
  StringSink sink;
  ISOMER_CHECK(write_model(draft, sink));
  return std::move(sink.text);
}

Result<std::vector<std::string>> export_names(const Model& model) {
  ISOMER_TRY(const ExportNames names, ExportNames::assign(model.graph, *model.info));
  std::vector<std::string> out;
  for (ValueId value = 0; value < model.graph.num_values(); ++value) out.push_back(names.of(value));
  return out;
}

Status exportable(const Model& model, const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.is_input() || node.is_constant() || node.is_opaque()) return {};
  if (auto form = onnx_form_of(graph, node, *model.info); !form) return fail_in(node_label(graph, id), form.error());
  return {};
}

Status exportable(const Model& model, const Graph& graph) {
  for (NodeId id = 0; id < graph.nodes().size(); ++id) ISOMER_CHECK(exportable(model, graph, id));
  return {};
}

}  // namespace isomer
