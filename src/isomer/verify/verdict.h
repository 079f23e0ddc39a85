#pragma once
// What is known about a rule, and how it came to be known.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isomer {

enum class Verdict : uint8_t {
  Proved,   ///< holds for every shape and parameter
  Refuted,  ///< there is a counterexample
  Tested,   ///< exact on every instance within stated bounds
  Unknown,  ///< none of these: never a pass
};

/// "proved", "refuted", "tested", "unknown".
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> verdict_from_name(std::string_view name);

/// Counts up whenever the checker changes so that a verdict could come out otherwise; verdicts of other versions are
/// void.
constexpr int kCheckerVersion = 6;

struct RuleVerdict {
  Verdict verdict = Verdict::Unknown;
  std::string how;             ///< one line: bounds, instances, or the reason
  std::string counterexample;  ///< of a refuted rule: both graphs, the inputs and what they give
  size_t instances = 0;        ///< that the rule applied to
};

}  // namespace isomer
