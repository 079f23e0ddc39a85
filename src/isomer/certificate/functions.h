#pragma once
// The functions of the rule language as the replayer implements them: one definition each, directly from
// docs/reference/rules.md.

#include <span>
#include <string>

#include "isomer/certificate/expression.h"

namespace isomer::replay {

/// Returns the value of the function. An Error if the language has no such function, or it has no value there.
Result<Value> call_function(const std::string& name, std::span<const Value> arguments);

// Convert a value to a type; an Error if it has another type.
Result<Dim> integer(const Value& value);
Result<int64_t> known_integer(const Value& value);
Result<double> real(const Value& value);
Result<Dims> list(const Value& value);
Result<std::vector<Fact>> facts(const Value& value);

}  // namespace isomer::replay
