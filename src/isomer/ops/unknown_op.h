#pragma once
// Operators of ONNX that no declaration models.

#include <string>

namespace isomer {

/// Why Isomer does not model an operator at an opset of its domain ("" is the standard one), for people; empty where it
/// does. The words fit behind the operator: "If: holds graphs of its own".
std::string why_unknown(const std::string& op_type, const std::string& domain, int opset);

}  // namespace isomer
