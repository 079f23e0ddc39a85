#include "isomer/onnx/proto_attr.h"

#include "isomer/onnx/proto_tensor.h"

namespace isomer {
namespace {

using onnx::AttributeProto;

/// The kind of an attribute. Models of the first IR version indicate it only by the field that is set.
AttributeProto::AttributeType kind_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

void write(AttributeProto& proto, int64_t value) {
  proto.set_type(AttributeProto::INT);
  proto.set_i(value);
}
void write(AttributeProto& proto, float value) {
  proto.set_type(AttributeProto::FLOAT);
  proto.set_f(value);
}
void write(AttributeProto& proto, const std::string& value) {
  proto.set_type(AttributeProto::STRING);
  proto.set_s(value);
}
void write(AttributeProto& proto, const Ints& value) {
  proto.set_type(AttributeProto::INTS);
  proto.mutable_ints()->Add(value.begin(), value.end());
}
void write(AttributeProto& proto, const Floats& value) {
  proto.set_type(AttributeProto::FLOATS);
  proto.mutable_floats()->Add(value.begin(), value.end());
}
void write(AttributeProto& proto, const Strings& value) {
  proto.set_type(AttributeProto::STRINGS);
  for (const std::string& text : value) proto.add_strings(text);
}
void write(AttributeProto& proto, const Tensor& value) {
  proto.set_type(AttributeProto::TENSOR);
  *proto.mutable_t() = tensor_proto(value);
}

}  // namespace

Result<std::optional<AttrValue>> read_attr(const AttributeProto& proto, ExternalData& external) {
  if (!proto.ref_attr_name().empty()) return std::nullopt;
  switch (kind_of(proto)) {
    case AttributeProto::FLOAT:
      return AttrValue(proto.f());
    case AttributeProto::INT:
      return AttrValue(proto.i());
    case AttributeProto::STRING:
      return AttrValue(proto.s());
    case AttributeProto::FLOATS:
      return AttrValue(Floats(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::INTS:
      return AttrValue(Ints(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::STRINGS:
      return AttrValue(Strings(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::TENSOR: {
      if (!proto.has_t()) return fail("it has no tensor");
      ISOMER_TRY(Tensor tensor, read_tensor(proto.t(), external));
      return AttrValue(std::move(tensor));
    }
    default:
      return std::nullopt;
  }
}

AttributeProto attr_proto(const std::string& name, const AttrValue& value) {
  AttributeProto proto;
  proto.set_name(name);
  std::visit([&](const auto& held) { write(proto, held); }, value);
  return proto;
}

}  // namespace isomer
