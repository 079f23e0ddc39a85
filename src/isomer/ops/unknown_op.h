#pragma once
// ONNX operators that Isomer does not declare.

#include <string>

namespace isomer {

/// Why Isomer does not support an operator at an opset of its domain ("" is the standard domain); empty if it does. The
/// text is meant to follow the operator's name: "If: holds graphs of its own".
std::string why_unknown(const std::string& op_type, const std::string& domain, int opset);

}  // namespace isomer
