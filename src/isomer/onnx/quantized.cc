#include "isomer/onnx/quantized.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace isomer {
namespace {

bool is_dequantize(const onnx::NodeProto& node) { return node.op_type() == "DequantizeLinear"; }
bool is_quantize(const onnx::NodeProto& node) {
  return node.op_type() == "QuantizeLinear" || node.op_type() == "DynamicQuantizeLinear";
}
bool computes_quantized(const onnx::NodeProto& node) {
  const std::string_view op = node.op_type();
  return op.starts_with("QLinear") || op == "ConvInteger" || op.starts_with("MatMulInteger") || op == "QGemm" ||
         op == "QAttention" || op == "DynamicQuantizeMatMul" || op == "DynamicQuantizeLSTM";
}

}  // namespace

std::vector<bool> quantized_nodes(const onnx::GraphProto& graph) {
  const auto count = static_cast<size_t>(graph.node_size());
  std::vector<bool> marked(count, false);
  std::vector<bool> after(count, false);   // after a DequantizeLinear
  std::vector<bool> before(count, false);  // before a QuantizeLinear
  std::unordered_map<std::string, size_t> producers;
  const auto node = [&](size_t i) -> const onnx::NodeProto& { return graph.node(static_cast<int>(i)); };
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    marked[i] = is_dequantize(node(i)) || is_quantize(node(i)) || computes_quantized(node(i));
    any = any || marked[i];
  }
  if (!any) return marked;
  std::vector<bool> next(count, false);
  for (size_t i = 0; i < count; ++i) {
    for (const std::string& input : node(i).input()) {
      const auto from = producers.find(input);
      if (from == producers.end()) continue;
      const size_t p = from->second;
      after[i] = after[i] || after[p] || is_dequantize(node(p));
      if (is_dequantize(node(p))) next[i] = true;
      if (is_quantize(node(i))) next[p] = true;
    }
    for (const std::string& output : node(i).output())
      if (!output.empty()) producers.emplace(output, i);
  }
  for (size_t i = count; i-- > 0;) {
    if (!before[i] && !is_quantize(node(i))) continue;
    for (const std::string& input : node(i).input())
      // An unsorted graph is refused later; here it must only not give wrong answers.
      if (const auto from = producers.find(input); from != producers.end() && from->second < i)
        before[from->second] = true;
  }
  for (size_t i = 0; i < count; ++i) marked[i] = marked[i] || next[i] || (after[i] && before[i]);
  return marked;
}

}  // namespace isomer
