#include "isomer/onnx/label.h"

#include <fmt/format.h>

#include <algorithm>

#include "isomer/base/printable.h"

namespace isomer {

std::string node_label(const onnx::NodeProto& node, int position) {
  const auto named = std::ranges::find_if(node.output(), [](const std::string& output) { return !output.empty(); });
  const std::string& name = node.name().empty() && named != node.output().end() ? *named : node.name();
  const std::string shown = name.empty() ? fmt::format("#{}", position) : fmt::format("'{}'", printable(name));
  return fmt::format("node {} ({})", shown, printable(node.op_type()));
}

}  // namespace isomer
