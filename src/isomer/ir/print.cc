// Prints a graph as text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "isomer/ir/text.h"

namespace isomer {
namespace {

std::string value_label(ValueId value) { return value == kNoValue ? "_" : fmt::format("v{}", value); }

std::string attrs_str(const Attrs& attrs) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attrs.entries()) parts.push_back(name + "=" + attr_str(value));
  return parts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(parts, ", "));
}

std::string node_str(const Graph& graph, const Node& node, const PrintOptions& options) {
  std::vector<std::string> results;
  std::vector<std::string> types;
  for (uint32_t i = 0; i < node.num_results; ++i) {
    results.push_back(value_label(node.result(i)));
    types.push_back(graph.type(node.result(i)).str());
  }
  if (node.is_input())
    return fmt::format("{} {}: {}", node.is_parameter() ? "parameter" : "input", results[0], types[0]);
  if (node.is_constant())
    return fmt::format("{} = {}", results[0], tensor_str(node.attrs.tensor("value"), options.max_elements));
  std::vector<std::string> operands;
  for (const ValueId operand : graph.operands(node)) operands.push_back(value_label(operand));
  std::string line = fmt::format("{} = {}({}){}", fmt::join(results, ", "), node.op->name, fmt::join(operands, ", "),
                                 attrs_str(node.attrs));
  if (node.is_opaque())
    line += fmt::format(": {}", fmt::join(types, ", "));
  else if (options.types)
    line += fmt::format("  # {}", fmt::join(types, ", "));
  return line;
}

template <class T>
void append_elements(std::string& out, const Tensor& tensor) {
  for (const T v : tensor.data<T>()) {
    if (out.back() != '{') out += ',';
    if constexpr (std::is_floating_point_v<T>)
      out += float_str(v, std::is_same_v<T, float>);
    else
      out += std::to_string(v);
  }
}

}  // namespace

std::string print_graph(const Graph& graph, const PrintOptions& options) {
  std::string out;
  for (const Node& node : graph.nodes()) out += node_str(graph, node, options) + "\n";
  std::vector<std::string> outputs;
  for (const ValueId value : graph.outputs()) outputs.push_back(value_label(value));
  return out + fmt::format("return {}\n", fmt::join(outputs, ", "));
}

std::string float_str(double value, bool single) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto end = single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr
                          : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string tensor_str(const Tensor& tensor, int64_t max_elements) {
  std::string out = tensor.type().str() + "{";
  if (tensor.element_count() > max_elements) return out + fmt::format("#{:016x}}}", tensor.hash());
  switch (tensor.dtype()) {
    case DType::Float:
      append_elements<float>(out, tensor);
      break;
    case DType::Double:
      append_elements<double>(out, tensor);
      break;
    case DType::Int64:
      append_elements<int64_t>(out, tensor);
      break;
    case DType::Int32:
      append_elements<int32_t>(out, tensor);
      break;
    case DType::Bool:
    case DType::Uint8:
      append_elements<uint8_t>(out, tensor);
      break;
    case DType::String:
      for (const std::string& s : tensor.string_elements()) out += (out.back() == '{' ? "" : ",") + quoted(s);
      break;
    default: {
      // Other types are printed as bytes, low byte first.
      out += "bytes \"";
      for (const std::byte b : tensor.bytes()) out += fmt::format("\\x{:02x}", static_cast<int>(b));
      out += '"';
    }
  }
  return out + "}";
}

}  // namespace isomer
