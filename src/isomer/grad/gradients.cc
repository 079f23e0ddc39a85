#include "isomer/grad/gradients.h"

#include <algorithm>

#include "isomer/base/printable.h"
#include "isomer/grad/copied.h"
#include "isomer/ir/label.h"
#include "isomer/ops/backward.h"

namespace isomer {
namespace {

/// One run of add_gradients. All tables are by values of the graph before the gradients.
class Differentiation {
 public:
  Differentiation(GraphBuilder& builder, ValueId loss, std::span<const ValueId> wanted)
      : builder_(builder),
        loss_(loss),
        wanted_(wanted),
        depends_(builder.peek().num_values(), false),
        leads_(builder.peek().num_values(), false),
        gradients_(builder.peek().num_values(), kNoValue) {}

  Result<std::vector<ValueId>> run() {
    ISOMER_CHECK(check_loss());
    ISOMER_CHECK(find_dependent());
    if (depends_[loss_]) {
      find_leading();
      ISOMER_CHECK(check_path());
      gradients_[loss_] = gradient_of_loss(builder_, TensorType(graph().type(loss_)));
      for (NodeId id = graph().producer(loss_) + 1; id-- > 0;) ISOMER_CHECK(step(id));
    }
    std::vector<ValueId> found;
    for (const ValueId value : wanted_) found.push_back(gradients_[value]);
    return found;
  }

 private:
  const Graph& graph() const { return builder_.peek(); }
  bool on_path(ValueId value) const { return value != kNoValue && depends_[value] && leads_[value]; }

  Status check_loss() const {
    const TensorType& type = graph().type(loss_);
    if (!type.known() || !is_real(type.dtype) || !element_count(*type.shape).is(1))
      return fail("the loss must be one real number; {} is {}", node_label(graph(), graph().producer(loss_)),
                  type.str());
    return {};
  }

  /// Marks the values that depend on wanted ones.
  Status find_dependent() {
    for (const ValueId value : wanted_) {
      if (!is_real(graph().type(value).dtype))
        return fail("{} is {}; there are gradients only for real numbers", node_label(graph(), graph().producer(value)),
                    graph().type(value).str());
      depends_[value] = true;
    }
    for (const Node& node : graph().nodes()) {
      if (node.op->gradient == zero_gradient) continue;
      const bool any = std::ranges::any_of(graph().operands(node),
                                           [&](ValueId operand) { return operand != kNoValue && depends_[operand]; });
      for (uint32_t i = 0; any && i < node.num_results; ++i) depends_[node.result(i)] = true;
    }
    return {};
  }

  /// Marks the values on which the loss depends.
  void find_leading() {
    leads_[loss_] = true;
    for (NodeId id = graph().producer(loss_) + 1; id-- > 0;) {
      const Node& node = graph().node(id);
      bool any = false;
      for (uint32_t i = 0; i < node.num_results; ++i) any = any || on_path(node.result(i));
      if (!any) continue;
      for (const ValueId operand : graph().operands(node))
        if (operand != kNoValue) leads_[operand] = true;
    }
  }

  /// Between wanted values and the loss, there must be only real numbers.
  Status check_path() const {
    for (ValueId value = 0; value < depends_.size(); ++value) {
      if (!on_path(value) || is_real(graph().type(value).dtype)) continue;
      const NodeId id = graph().producer(value);
      if (graph().node(id).is_opaque()) return no_gradient(id, "Isomer does not interpret this node");
      const std::string name(graph().name(value));
      const bool one_of_many = graph().node(id).num_results > 1 && !name.empty();
      return no_gradient(id, fmt::format("its result{} is {}", one_of_many ? " '" + printable(name) + "'" : "",
                                         graph().type(value).str()));
    }
    return {};
  }

  tl::unexpected<Error> no_gradient(NodeId id, const std::string& reason) const {
    return fail("{}: no gradient: {}", node_label(graph(), id), reason);
  }

  /// Adds the gradients of a node's operands.
  Status step(NodeId id) {
    const Node& node = graph().node(id);
    std::vector<ValueId> of_results;
    for (uint32_t i = 0; i < node.num_results; ++i) of_results.push_back(gradients_[node.result(i)]);
    if (std::ranges::all_of(of_results, [](ValueId value) { return value == kNoValue; })) return {};
    const std::vector<ValueId> operands(graph().operands(node).begin(), graph().operands(node).end());
    std::vector<bool> needed;
    for (const ValueId operand : operands) needed.push_back(on_path(operand));
    if (std::ranges::find(needed, true) == needed.end()) return {};
    if (node.is_opaque()) return no_gradient(id, "Isomer does not interpret this node");
    const auto found = Backward(builder_, id, of_results, std::move(needed)).run();
    if (!found) return no_gradient(id, found.error().message);
    for (size_t i = 0; i < operands.size(); ++i)
      if ((*found)[i] != kNoValue) ISOMER_CHECK(accumulate(operands[i], (*found)[i]));
    return {};
  }

  Status accumulate(ValueId value, ValueId gradient) {
    ValueId& sum = gradients_[value];
    if (sum == kNoValue) {
      sum = gradient;
      return {};
    }
    // Nodes are visited in reverse, so the terms are in the order of the nodes: sums of products then join to one of
    // matrices that are in this order, too, as parameters are that are merged.
    ISOMER_TRY(sum, gradient_sum(builder_, gradient, sum));
    return {};
  }

  GraphBuilder& builder_;
  const ValueId loss_;
  const std::span<const ValueId> wanted_;
  std::vector<bool> depends_;
  std::vector<bool> leads_;
  std::vector<ValueId> gradients_;
};

}  // namespace

Result<std::vector<ValueId>> add_gradients(GraphBuilder& builder, ValueId loss, std::span<const ValueId> wanted) {
  return Differentiation(builder, loss, wanted).run();
}

Result<GradientGraph> with_gradients(const Graph& graph, ValueId loss, std::span<const ValueId> wanted) {
  GraphBuilder builder(graph.name_table());
  ISOMER_TRY(const std::vector<ValueId> copies, copy_named(builder, graph));
  std::vector<ValueId> of;
  for (const ValueId value : wanted) of.push_back(copies[value]);
  ISOMER_TRY(const std::vector<ValueId> found, add_gradients(builder, copies[loss], of));
  std::vector<ValueId> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(copies[output]);
  GradientGraph out;
  for (const ValueId gradient : found) {
    out.outputs.push_back(gradient == kNoValue ? std::nullopt : std::optional(outputs.size()));
    if (gradient != kNoValue) outputs.push_back(gradient);
  }
  out.graph = builder.finish(outputs);
  return out;
}

}  // namespace isomer
