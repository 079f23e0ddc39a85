#include "isomer/onnx/wire.h"

#include <limits>

namespace isomer {
namespace {

// Keys of length-delimited protobuf fields.
constexpr char key(int field) { return static_cast<char>(field << 3 | 2); }
constexpr char kGraph = key(7);        // of ModelProto
constexpr char kInitializer = key(5);  // of GraphProto
constexpr char kRawData = key(9);      // of TensorProto

std::string field_start(char key, uint64_t size) {
  std::string out(1, key);
  for (; size >= 0x80; size >>= 7) out += static_cast<char>((size & 0x7f) | 0x80);
  return out + static_cast<char>(size);
}

bool is_raw(const Weight& weight) {
  return weight.tensor.dtype() != DType::String && weight.header.data_location() != onnx::TensorProto::EXTERNAL;
}

uint64_t message_size(const Weight& weight) {
  const uint64_t size = weight.header.ByteSizeLong();
  if (!is_raw(weight)) return size;
  const uint64_t raw = weight.tensor.bytes().size();
  return size + field_start(kRawData, raw).size() + raw;
}

Status write_text(Sink& sink, const std::string& text) { return sink.write(std::as_bytes(std::span(text))); }

Status write_weight(const Weight& weight, Sink& sink) {
  ISOMER_CHECK(write_text(sink, field_start(kInitializer, message_size(weight))));
  ISOMER_CHECK(write_text(sink, weight.header.SerializeAsString()));
  if (!is_raw(weight)) return {};
  ISOMER_CHECK(write_text(sink, field_start(kRawData, weight.tensor.bytes().size())));
  return sink.write(weight.tensor.bytes());
}

}  // namespace

Status write_model(const Draft& draft, Sink& sink) {
  onnx::ModelProto rest = draft.model;
  onnx::GraphProto graph;
  graph.Swap(rest.mutable_graph());
  rest.clear_graph();
  uint64_t graph_size = graph.ByteSizeLong();
  for (const Weight& weight : draft.weights) {
    const uint64_t size = message_size(weight);
    graph_size += field_start(kInitializer, size).size() + size;
  }
  const std::string start = field_start(kGraph, graph_size);
  if (rest.ByteSizeLong() + start.size() + graph_size > static_cast<uint64_t>(std::numeric_limits<int>::max()))
    return fail("the model is larger than 2 GB; its weights must be external data");
  ISOMER_CHECK(write_text(sink, rest.SerializeAsString()));
  ISOMER_CHECK(write_text(sink, start));
  ISOMER_CHECK(write_text(sink, graph.SerializeAsString()));
  for (const Weight& weight : draft.weights) ISOMER_CHECK(write_weight(weight, sink));
  return {};
}

}  // namespace isomer
