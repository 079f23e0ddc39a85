#include "isomer/ops/unknown_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isomer/base/printable.h"
#include "isomer/ir/opaque.h"
#include "isomer/ops/registry.h"

namespace isomer {

std::string why_unknown(const std::string& op_type, const std::string& domain, int opset) {
  if (const OpDef* op = find_op(op_type, domain); op != nullptr) {
    if (opset >= op->since) return "";
    return fmt::format("Isomer knows {} from opset {} on, the model imports opset {}", op_type, op->since, opset);
  }
  if (domain == kOwnDomain) return "an initializer that is sparse or that training changes";
  constexpr std::array<std::string_view, 4> kWithGraphs = {"If", "Loop", "Scan", "SequenceMap"};
  if (domain.empty() && std::ranges::find(kWithGraphs, op_type) != kWithGraphs.end()) return "holds graphs of its own";
  if (domain.empty() && op_type == "Constant") return "a sparse constant";
  return domain.empty() ? "not an operator that Isomer knows"
                        : fmt::format("Isomer knows no operators of the domain '{}'", printable(domain));
}

}  // namespace isomer
