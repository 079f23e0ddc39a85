// libFuzzer target: for any text, the parser returns a lock of verdicts or an error, and a printed lock reads back.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "isomer/rules/lock.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto lock = isomer::parse_lock(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!lock) return 0;
  const std::string text = isomer::print_lock(*lock);
  const auto again = isomer::parse_lock(text);
  if (again && isomer::print_lock(*again) == text && again->entries.size() == lock->entries.size()) return 0;
  fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
  std::abort();
}
