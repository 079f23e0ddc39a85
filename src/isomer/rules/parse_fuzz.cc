// libFuzzer target: whatever text comes in, the parser gives rules or an error; and a printed rule reads back as
// itself.

#include <cstdlib>

#include "isomer/rules/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto rules = isomer::parse_rules(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!rules) return 0;
  for (const isomer::Rule& rule : *rules) {
    const std::string text = isomer::print_rule(rule);
    const auto again = isomer::parse_rules(text);
    if (again && again->size() == 1 && again->front().hash() == rule.hash() && again->front().name == rule.name)
      continue;
    fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
    std::abort();
  }
  return 0;
}
