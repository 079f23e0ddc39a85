#pragma once
// What runs a graph: the reference executor, or an engine that is given the exported model.

#include <memory>
#include <string>
#include <vector>

#include "isomer/base/temp_dir.h"
#include "isomer/engine/engine.h"

namespace isomer::differential {

class Executor {
 public:
  /// "reference", or an engine; "ort-plain" is ONNX Runtime without its own optimizations.
  static Result<Executor> make(const std::string& name);

  const std::string& name() const { return name_; }
  /// Whether it should run whatever the reference executor runs.
  bool runs_all() const { return name_ == "onednn"; }
  /// The same engine without its own optimizations; null but for ort.
  const Executor* plain() const { return plain_.get(); }
  /// `inputs` in the graph's order.
  Result<std::vector<Tensor>> run(const Graph& graph, const std::vector<Tensor>& inputs) const;

 private:
  Result<std::vector<Tensor>> try_run(const Graph& graph, const std::vector<Tensor>& inputs) const;
  Executor(std::string name, TempDir folder) : name_(std::move(name)), folder_(std::move(folder)) {}

  std::string name_;
  std::unique_ptr<Engine> engine_;  // null: the reference executor
  std::unique_ptr<Executor> plain_;
  TempDir folder_;
};

}  // namespace isomer::differential
