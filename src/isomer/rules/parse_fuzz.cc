// libFuzzer target: for any text, the parser returns rules and tactics or an error, and printed rules and
// families parse to the same rules.

#include <algorithm>
#include <cstdlib>

#include "isomer/rules/testing.h"

namespace {

bool equal(const isomer::RuleFile& a, const isomer::RuleFile& b) {
  const auto same = [](const isomer::Rule& x, const isomer::Rule& y) {
    return x.name == y.name && x.family == y.family && x.hash() == y.hash();
  };
  const auto same_family = [&](const isomer::RuleFamily& x, const isomer::RuleFamily& y) {
    return same(x.written, y.written) && x.variable == y.variable && x.ops == y.ops;
  };
  return std::ranges::equal(a.rules, b.rules, same) && std::ranges::equal(a.families, b.families, same_family) &&
         a.tactics == b.tactics;
}

/// Every rule by itself, without families.
std::string expanded(const isomer::RuleFile& file) {
  std::string text;
  for (const isomer::Rule& rule : file.rules) text += print_rule(rule) + "\n";
  for (const isomer::Tactic& tactic : file.tactics) text += print_tactic(tactic) + "\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = isomer::parse_rule_file(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!file) return 0;
  const std::string text = isomer::print_rule_file(*file);
  const auto again = isomer::parse_rule_file(text);
  const auto alone = isomer::parse_rule_file(expanded(*file));
  if (again && equal(*file, *again) && alone && expanded(*alone) == expanded(*file)) return 0;
  fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
  std::abort();
}
