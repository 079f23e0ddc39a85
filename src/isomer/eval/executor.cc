#include "isomer/eval/executor.h"

#include <algorithm>

#include "isomer/ir/label.h"
#include "isomer/ops/kernel_types.h"
#include "isomer/ops/onnx_form.h"
#include "isomer/ops/registry.h"
#include "isomer/ops/unknown_op.h"

namespace isomer {
namespace {

/// Converts the floating-point operands of a node that computes in the field.
Status enter_field(std::vector<Tensor>& operands) {
  const bool exact = std::any_of(operands.begin(), operands.end(),
                                 [](const Tensor& tensor) { return tensor.dtype() == DType::Field; });
  if (!exact) return {};
  for (Tensor& operand : operands) {
    if (operand.empty()) continue;
    ISOMER_TRY(operand, in_field(operand));
  }
  return {};
}

/// Rejects results that are too large for any machine, which can only happen for operands computed at run time.
Status check_extents(const TensorType& type) {
  const auto dims = concrete(*type.shape);
  if (!dims) return fail("the result type {} is not concrete", type.str());
  __int128 count = 1;
  for (const int64_t dim : *dims) {
    if (dim < 0) return fail("the result {} has a negative extent", type.str());
    count *= dim;
    if (count > Dim::kHuge / 64) return fail("the result {} is too large to address", type.str());
  }
  return {};
}

/// Returns the results of the kernel in their own element types. A result that differs from the inferred type is a bug
/// of Isomer.
Result<std::vector<Tensor>> take_results(const OpDef& op, KernelContext& context,
                                         std::span<const TensorType> inferred) {
  if (context.results.size() != inferred.size())
    return fail("bug: the kernel made {} results instead of {}", context.results.size(), inferred.size());
  for (size_t i = 0; i < inferred.size(); ++i) {
    Tensor& result = context.results[i];
    const bool as_inferred = op.data_dependent || result.type() == context.types[i];
    if (!as_inferred || result.dtype() != context.types[i].dtype)
      return fail("bug: the kernel made {} where {} was inferred", result.type().str(), context.types[i].str());
    result = narrowed(op.compute, result, inferred[i].dtype);
  }
  return std::move(context.results);
}

Result<std::vector<Tensor>> run_op(const OpDef& op, const Attrs& attrs, size_t num_results,
                                   std::vector<Tensor> operands, bool& undefined) {
  if (op.kernel == nullptr) return fail("there is no reference kernel");
  if (operands.size() < op.min_operands || operands.size() > op.max_operands)
    return fail("got {} operands", operands.size());
  ISOMER_CHECK(enter_field(operands));
  std::vector<TensorType> types(operands.size());
  std::vector<const TensorType*> known(operands.size(), nullptr);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].empty()) {
      if (i < op.min_operands) return fail("operand {} is missing", i);
      continue;
    }
    types[i] = operands[i].type();
    known[i] = &types[i];
  }
  ISOMER_TRY(const std::vector<TensorType> inferred,
             op.infer(OpView{op, attrs, known, std::max(num_results, op.min_results)}));
  std::vector<TensorType> wide = inferred;
  for (TensorType& type : wide) {
    if (!op.data_dependent) ISOMER_CHECK(check_extents(type));
    type.dtype = kernel_dtype(op.compute, type.dtype);
  }
  for (Tensor& operand : operands) operand = widened(op.compute, operand);
  KernelContext context{attrs, operands, wide, inferred};
  ISOMER_CHECK(op.kernel(context));
  undefined = context.undefined;
  return take_results(op, context, inferred);
}

/// Runs an opaque node of a known operator, whose parameters may depend on these operands.
Result<std::vector<Tensor>> run_opaque(const Graph& graph, const Node& node, std::span<const Tensor> operands,
                                       bool& undefined) {
  std::vector<TensorType> types(operands.size());
  OnnxForm form = opaque_form(node);
  const auto values = graph.operands(node);
  for (size_t i = 0; i < operands.size(); ++i) {
    types[i] = operands[i].type();
    form.operands.push_back({operands[i].empty() ? kNoValue : values[i], operands[i]});
    form.types.push_back(operands[i].empty() ? nullptr : &types[i]);
  }
  ISOMER_TRY(const auto normal, normalize(form));
  if (!normal) return fail("it cannot be run: {}", form.obstacle);
  std::vector<Tensor> chosen;
  for (const size_t source : normal->sources)
    chosen.push_back(source == NormalForm::kNoOperand ? Tensor() : operands[source]);
  return run_op(*normal->op, normal->attrs, node.num_results, std::move(chosen), undefined);
}

Status check_input(const Graph& graph, size_t index, const Tensor& tensor) {
  const TensorType& want = graph.type(graph.inputs()[index]);
  const bool field = tensor.dtype() == DType::Field && is_real(want.dtype);
  bool fits = !tensor.empty() && (want.dtype == DType::Undefined || tensor.dtype() == want.dtype || field);
  if (fits && want.shape) {
    fits = want.rank() == tensor.dims().size();
    for (size_t i = 0; fits && i < want.rank(); ++i)
      fits = !(*want.shape)[i].is_const() || (*want.shape)[i].is(tensor.dims()[i]);
  }
  if (!fits) return fail("input {} is {}, but the graph needs {}", index, tensor.type().str(), want.str());
  return {};
}

/// The tensors of one run, each freed after its last use.
class Run {
 public:
  explicit Run(const Graph& graph) : graph_(graph), values_(graph.num_values()), kept_(graph.num_values(), false) {
    for (const ValueId output : graph.outputs()) kept_[output] = true;
  }

  Status execute(std::span<const Tensor> inputs) {
    exact_ = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.dtype() == DType::Field; });
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.is_input()) {
        values_[node.result()] = inputs[static_cast<size_t>(node.attrs.integer("index"))];
        continue;
      }
      if (auto status = step(id, node); !status) return fail_in(node_label(graph_, id), status.error());
    }
    return {};
  }

  std::vector<Tensor> outputs() const {
    std::vector<Tensor> out;
    for (const ValueId output : graph_.outputs()) out.push_back(values_[output]);
    return out;
  }

 private:
  Status step(NodeId id, const Node& node) {
    if (node.is_constant()) {
      const Tensor& data = node.attrs.tensor("value");
      if (!exact_) {
        values_[node.result()] = data;
        return {};
      }
      ISOMER_TRY(values_[node.result()], in_field(data));
      return {};
    }
    std::vector<Tensor> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? Tensor() : values_[operand]);
    ISOMER_TRY(std::vector<Tensor> results, run_node(graph_, node, operands));
    for (uint32_t i = 0; i < node.num_results; ++i)
      if (!graph_.consumers(node.result(i)).empty() || kept_[node.result(i)])
        values_[node.result(i)] = std::move(results[i]);
    for (const ValueId operand : graph_.operands(node))
      if (operand != kNoValue && !kept_[operand] && graph_.consumers(operand).back() == id) values_[operand] = Tensor();
    return {};
  }

  const Graph& graph_;
  std::vector<Tensor> values_;
  std::vector<bool> kept_;
  bool exact_ = false;
};

Status node_runnable(const Node& node) {
  if (node.is_input() || node.is_constant()) return {};
  const OpDef* op = node.op;
  if (node.is_opaque()) {
    op = find_op(node.attrs.text("@op_type"), node.attrs.text("@domain"));
    const OnnxForm form = opaque_form(node);
    if (const std::string why = why_unknown(form.op_type, form.domain, form.opset); !why.empty())
      return fail("it cannot be run: {}", why);
  }
  if (op->kernel == nullptr) return fail("there is no reference kernel");
  return {};
}

}  // namespace

Result<std::vector<Tensor>> run_node(const Graph& graph, const Node& node, std::span<const Tensor> operands,
                                     bool* undefined) {
  bool ignored = false;
  bool& is_undefined = undefined == nullptr ? ignored : *undefined;
  ISOMER_TRY(auto results, node.is_opaque()
                               ? run_opaque(graph, node, operands, is_undefined)
                               : run_op(*node.op, node.attrs, node.num_results,
                                        std::vector<Tensor>(operands.begin(), operands.end()), is_undefined));
  if (results.size() < node.num_results)
    return fail("it has {} results, {} are used", results.size(), node.num_results);
  return results;
}

Result<std::vector<Tensor>> run_reference(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs().size())
    return fail("the graph has {} inputs, got {}", graph.inputs().size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) ISOMER_CHECK(check_input(graph, i, inputs[i]));
  Run run(graph);
  ISOMER_CHECK(run.execute(inputs));
  return run.outputs();
}

Status runnable(const Graph& graph) {
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (auto status = node_runnable(node); !status) return fail_in(node_label(graph, id), status.error());
  }
  return {};
}

}  // namespace isomer
