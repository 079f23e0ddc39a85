#pragma once
// Which name each value bears in an exported model.

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model_info.h"

namespace isomer {

/// A value must bear the names by which others know it: the model's inputs and outputs, what subgraphs capture, and
/// what training_info names. Where that makes two names for one value, the second is an alias that an Identity node
/// makes. All other values keep their names from the model where they can, and else get new ones that occur nowhere in
/// the model.
class ExportNames {
 public:
  /// Fails when two values must bear one name.
  static Result<ExportNames> assign(const Graph& graph, const ModelInfo& info);

  const std::string& of(ValueId value) const { return names_[value]; }
  /// Further names of a value.
  const std::vector<std::string>& aliases(ValueId value) const;
  /// New names for captures of an opaque node whose own names other values bear; empty for most nodes.
  const std::map<std::string, std::string>& renamed_captures(NodeId node) const;

  bool taken(const std::string& name) const { return owners_.contains(name); }
  /// Takes `name` for something that is no value of the graph (a parameter); false when it is taken.
  bool take(const std::string& name) { return owners_.emplace(name, kNoValue).second; }
  /// Takes a new name.
  std::string fresh(const std::string& wish);

 private:
  ExportNames(const Graph& graph, const ModelInfo& info);
  bool require(ValueId value, const std::string& name);
  void require_trained(const Graph& graph);
  Status require_interface(const Graph& graph, const ModelInfo& info);
  void require_captures(const Graph& graph, NodeId id);

  std::vector<std::string> names_;  // by value
  std::unordered_map<std::string, ValueId> owners_;
  std::unordered_map<ValueId, std::vector<std::string>> aliases_;
  std::unordered_map<NodeId, std::map<std::string, std::string>> renamed_;
  const ModelInfo* info_;
  std::unordered_set<std::string> graph_names_;
  std::unordered_map<std::string, size_t> counters_;
};

}  // namespace isomer
