// libFuzzer target: for any text, the parser returns a universe, or an error with the line.

#include <cstdlib>

#include "isomer/discover/universe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto variants = isomer::universe_variants(text);
  if (!variants) return 0;
  for (size_t i = 0; i < *variants && i < 3; ++i) {
    const auto universe = isomer::parse_universe(text, i);
    if (!universe) return 0;
    for (const isomer::UniverseOp& op : universe->ops)
      if (op.operands.empty() || op.operands.size() > 2 || op.results.empty()) std::abort();
  }
  return 0;
}
