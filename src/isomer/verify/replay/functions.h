#pragma once
// The functions of the rule language as the replayer reads them: one definition each, straight from docs/rules.md.

#include <span>
#include <string>

#include "isomer/verify/replay/expression.h"

namespace isomer::replay {

/// What the function comes to. An Error where the language has none of this name, or it has no value there.
Result<Value> call_function(const std::string& name, std::span<const Value> arguments, Repetition repetition);

// What a value is, or an Error.
Result<Dim> integer(const Value& value);
Result<int64_t> known_integer(const Value& value);
Result<double> real(const Value& value);
Result<Dims> list(const Value& value);
Result<std::vector<Fact>> facts(const Value& value);

}  // namespace isomer::replay
