#pragma once
// Shared code of the operator tests: type inference and kernels without a graph or an executor.

#include <gtest/gtest.h>

#include "isomer/ir/builder.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"

namespace isomer::testing {

/// "N" as a dimension.
inline Dim symbol(const std::string& name) { return Dim::symbol(name); }
inline const Dim kN = symbol("N");
inline TensorType f32(Shape shape) { return {DType::Float, std::move(shape)}; }
inline TensorType i64(Shape shape) { return {DType::Int64, std::move(shape)}; }

/// Result types of a node as GraphBuilder infers them, printed ("f32[N,3] i64[2]"), or "error: ...".
inline std::string infer(const std::string& name, const Attrs& attrs, const std::vector<TensorType>& operands,
                         size_t num_results = 0) {
  GraphBuilder builder;
  std::vector<ValueId> values;
  values.reserve(operands.size());
  for (const TensorType& type : operands) values.push_back(type.known() ? builder.input(type) : kNoValue);
  const auto node = builder.node(op(name), attrs, values, num_results);
  if (!node) return "error: " + node.error().message;
  std::string out;
  for (uint32_t i = 0; i < builder.at(*node).num_results; ++i)
    out += (i > 0 ? " " : "") + builder.type(builder.at(*node).result(i)).str();
  return out;
}
/// As above, but only whether inference fails.
inline bool refused(const std::string& name, const Attrs& attrs, const std::vector<TensorType>& operands) {
  return infer(name, attrs, operands).starts_with("error: ");
}

/// Results of a reference kernel. The operands must have the element types on which it computes.
inline Result<std::vector<Tensor>> run(const std::string& name, const Attrs& given, const std::vector<Tensor>& operands,
                                       size_t num_results = 1) {
  const OpDef& def = op(name);
  ISOMER_TRY(const Attrs attrs, complete_attrs(def, given));
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const Tensor& operand : operands) types.push_back(operand.type());
  std::vector<const TensorType*> pointers;
  for (size_t i = 0; i < types.size(); ++i) pointers.push_back(operands[i].empty() ? nullptr : &types[i]);
  ISOMER_TRY(const auto results, def.infer(OpView{def, attrs, pointers, num_results}));
  KernelContext context{attrs, operands, results};
  ISOMER_CHECK(def.kernel(context));
  return std::move(context.results);
}
/// The elements of the first result. Empty after an Error, which also fails the test.
template <class T>
std::vector<T> run_to(const std::string& name, const Attrs& attrs, const std::vector<Tensor>& operands) {
  const auto results = run(name, attrs, operands);
  if (!results) {
    ADD_FAILURE() << results.error().message;
    return {};
  }
  const auto data = results->front().template data<T>();
  return {data.begin(), data.end()};
}

/// A node in ONNX form: operands of known types, some with known elements.
struct Written {
  std::string op_type;
  int opset;
  std::map<std::string, AttrValue> attrs = {};
  std::vector<TensorType> operands = {};
  std::map<size_t, Tensor> constants = {};
  size_t num_results = 1;
};
/// Its normalized form printed as "Op {a=1, b=2}", "opaque: ..." or "error: ...".
inline std::string normalized(const Written& node) {
  OnnxForm form;
  form.op_type = node.op_type;
  form.opset = node.opset;
  form.attrs = node.attrs;
  form.num_results = node.num_results;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const auto data = node.constants.find(i);
    form.operands.push_back({static_cast<ValueId>(i), data == node.constants.end() ? Tensor() : data->second});
    form.types.push_back(&node.operands[i]);
  }
  const auto normal = normalize(form);
  if (!normal) return "error: " + normal.error().message;
  if (!*normal) return "opaque: " + form.obstacle;
  std::string out = (*normal)->op->name + " {";
  for (const auto& [name, value] : (*normal)->attrs.entries())
    out += (out.back() == '{' ? "" : ", ") + name + "=" + attr_str(value);
  return out + "}";
}

}  // namespace isomer::testing
