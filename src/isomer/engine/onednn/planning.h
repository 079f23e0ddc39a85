#pragma once
// Decides how the built-in runtime computes a graph: in which layouts its kernels read and write, how its convolutions
// compute, which concatenations are filled in place, and where layouts change. A plan that is compiled follows it
// (lower.cc), and the planner prices it without compiling anything (planner.h).

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "isomer/engine/kernels.h"
#include "isomer/engine/onednn/concats.h"
#include "isomer/engine/onednn/conv_ways.h"
#include "isomer/engine/onednn/forms.h"
#include "isomer/engine/onednn/fusion.h"
#include "isomer/engine/onednn/strides.h"

namespace isomer::onednn {

/// What is decided about one group.
struct GroupForms {
  Form in = kPlainForm;            ///< of the operands
  Form second = kPlainForm;        ///< of the second operand
  Form out = kPlainForm;           ///< of the result
  Strides strides = {};            ///< of the result of a product in the strided form, or of AlongAxis without blocks
  bool joins = false;              ///< a concatenation whose operands are in their places, or are copied there
  std::optional<size_t> way = {};  ///< of a convolution: the index of what ConvWays::of returned
  ConvForm conv = {};              ///< the way itself
};

/// Decides group by group, in the order of the groups.
class Planning {
 public:
  /// Keeps references to the graph and to the convolutions. `block`: channels per block. Inputs are in the given
  /// layouts, or row-major. After the deadline, nothing is measured.
  Planning(const Graph& graph, Stage stage, int64_t block, ConvWays& convolutions, const Decisions& decisions,
           std::span<const Layout> inputs = {}, const Deadline& deadline = Deadline::never());

  std::span<const Group> groups() const { return groups_; }
  const ConcatPlaces& concats() const { return concats_; }
  const Decisions& decisions() const { return decisions_; }
  /// Returns the last group that reads a value; kReadAtEnd for outputs.
  size_t last_reader(ValueId value) const { return last_reader_[value]; }

  /// Decides about a group. If oneDNN cannot compute a convolution together with its posts, each of them becomes a
  /// kernel of its own, and the forms are those of the last one.
  GroupForms place(size_t group);
  /// Decides about a part of a group that becomes a kernel of its own.
  GroupForms place(const Group& part, size_t group);
  /// Sets the form in which a value was made, and its strides if the form is strided: oneDNN may lack the kernel that
  /// was planned.
  void correct(ValueId value, Form form, Strides strides);
  /// Returns the decided form of a result, if the value must be converted to it; from then on that is its form.
  std::optional<Form> conversion(ValueId value);
  /// Returns whether times that decide were not measured because of the deadline: the planning is then of no use.
  bool lacks_times() const { return limit_.exceeded; }

  /// Returns the kernels and the reorders; outputs are wanted in the given layouts, or row-major. The planning is over.
  KernelPlan finish(std::span<const Layout> outputs = {});

 private:
  Form form_of(Layout layout) const { return layout == Layout::Blocked ? block_ : kPlainForm; }
  bool computed(ValueId value) const { return value != kNoValue && !is_known(graph_, value, stage_); }
  std::optional<Form> decided_form(ValueId value) const;
  ValueId summed(const Group& group) const;
  std::optional<Strides> strides_of(ValueId value) const;
  Form form_of(ValueId value, const Strides& strides) const;
  void want(ValueId value, Form form);

  bool falls_apart(const Group& group);
  GroupForms place_conv(const Group& group);
  GroupForms place_filters(const Group& group, std::span<const ConvForm> ways);
  double cost(const ConvForm& way, ValueId x, ValueId added, ValueId result);
  double reorder_cost(ValueId value, Form from, Form to, DType dtype) {
    return convolutions_.cost(graph_, {value, from, to, dtype}, limit_);
  }
  void copy_added(const Group& group, const ConvForm& way, ValueId added);
  void note_algorithm(ValueId conv, const ConvForm& way);
  GroupForms place_follower(const Group& group);
  GroupForms place_own(const Group& group);
  GroupForms place_max_pool_gradient(const Group& group);
  GroupForms place_loss_gradient(const Group& group);
  GroupForms place_loop(const Group& group);
  Form loop_form(const Group& group, std::span<const ValueId> operands) const;
  bool reads_value(NodeId node, ValueId value) const;
  GroupForms place_product(const Group& group);
  bool reads_in_place(ValueId factor) const;
  std::optional<Strides> strides_for_reader(ValueId product) const;
  GroupForms place_along_axis(const Group& group);
  GroupForms place_view(NodeId id);
  GroupForms place_concat(const Group& group);
  GroupForms place_joined(const Group& group);
  std::optional<Strides> joined(const Node& concat) const;
  GroupForms place_kernel(const Group& group, Form form) { return place_kernel(group, {form, form, form}); }
  GroupForms place_kernel(const Group& group, GroupForms forms);
  void finish_kernel(const Group& group, std::vector<NodeId> nodes, std::span<const NodeId> absorbed, Form out);

  const Graph& graph_;
  const Stage stage_;
  const int64_t block_;
  ConvWays& convolutions_;
  TuningLimit limit_;
  const Decisions decisions_;
  const ConcatPlaces concats_;
  const std::vector<Group> groups_;
  const std::vector<size_t> last_reader_;  // group, by value
  size_t now_ = 0;                         // group
  std::vector<Form> forms_;                // form in which each value is made, or into which it is converted
  std::vector<Strides> strides_;           // of values in the strided form; none if they are unknown

  // For prices.
  KernelPlan plan_;
  std::map<ValueId, Form> undecided_;       // form in which a value is made that is converted as decided
  std::vector<bool> in_part_;               // whether a value is made in the place in its concatenation
  std::vector<std::vector<Form>> wants_;    // other requested forms, by value
  std::vector<std::vector<NodeId>> views_;  // by value that is not row-major: the views that make it
};

}  // namespace isomer::onednn
