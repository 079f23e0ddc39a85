// libFuzzer target: for any text, the parser returns rules and tactics or an error, and printed rules parse to the same
// rules.

#include <algorithm>
#include <cstdlib>

#include "isomer/rules/rule.h"

namespace {

bool equal(const isomer::RuleFile& a, const isomer::RuleFile& b) {
  const auto same = [](const isomer::Rule& x, const isomer::Rule& y) {
    return x.name == y.name && x.hash() == y.hash();
  };
  return std::ranges::equal(a.rules, b.rules, same) && a.tactics == b.tactics;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = isomer::parse_rule_file(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!file) return 0;
  std::string text;
  for (const isomer::Rule& rule : file->rules) text += print_rule(rule) + "\n";
  for (const isomer::Tactic& tactic : file->tactics) text += print_tactic(tactic) + "\n";
  const auto again = isomer::parse_rule_file(text);
  if (again && equal(*file, *again)) return 0;
  fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
  std::abort();
}
