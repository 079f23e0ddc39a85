#pragma once
// Assigns names to the values of an exported model.

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/onnx/model_info.h"

namespace isomer {

/// Some values must have certain names: the model's inputs and outputs, captured values of subgraphs, and values that
/// training_info names. If one value must have two names, the second is an alias, made by an Identity node. All other
/// values keep their names from the model if possible. Otherwise they get new names that occur nowhere in the model.
class ExportNames {
 public:
  /// Fails if two values must have the same name.
  static Result<ExportNames> assign(const Graph& graph, const ModelInfo& info);

  const std::string& of(ValueId value) const { return names_[value]; }
  /// Additional names of a value.
  const std::vector<std::string>& aliases(ValueId value) const;
  /// New names for captured values of an opaque node, if other values have their original names. Empty for most nodes.
  const std::map<std::string, std::string>& renamed_captures(NodeId node) const;

  bool taken(const std::string& name) const { return owners_.contains(name); }
  /// Reserves `name` for something other than a value of the graph (a parameter). Returns false if it is already taken.
  bool take(const std::string& name) { return owners_.emplace(name, kNoValue).second; }
  /// Reserves and returns a new name.
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
