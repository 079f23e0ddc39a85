// libFuzzer target: for any text, the parser returns a graph or an error, and a printed graph parses to the same graph.

#include <cstdlib>

#include "isomer/ir/text.h"
#include "isomer/ir/verify_testing.h"
#include "isomer/ops/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = isomer::parse_graph(std::string_view(reinterpret_cast<const char*>(data), size), isomer::find_op);
  if (!graph) return 0;
  const isomer::Status valid = isomer::verify_graph(*graph);
  if (!valid) {
    fmt::print(stderr, "invalid: {}\n", valid.error().message);
    std::abort();
  }
  const std::string text = isomer::print_graph(*graph, {.max_elements = int64_t{1} << 40});
  const auto again = isomer::parse_graph(text, isomer::find_op);
  if (again && again->hash() == graph->hash()) return 0;
  fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
  std::abort();
}
