#pragma once
// The verdict of a rule, and its reason.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isomer {

enum class Verdict : uint8_t {
  Proved,   ///< holds for every shape and parameter
  Refuted,  ///< there is a counterexample
  Tested,   ///< exact on every instance within stated bounds
  Unknown,  ///< none of these; never counts as success
};

/// "proved", "refuted", "tested", "unknown".
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> verdict_from_name(std::string_view name);

/// Must be incremented when the checker changes in a way that could change a verdict. Verdicts of other versions are
/// ignored.
constexpr int kCheckerVersion = 11;

struct RuleVerdict {
  Verdict verdict = Verdict::Unknown;
  std::string how;             ///< one line: bounds, instances, or the reason
  std::string counterexample;  ///< for a refuted rule: both graphs, the inputs and their outputs
  size_t instances = 0;        ///< instances to which the rule applied
};

}  // namespace isomer
