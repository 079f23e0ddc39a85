// libFuzzer target: for any text, the parser returns a certificate or an error; and a printed certificate parses to
// itself. The digest is appended here, since no fuzzer would find a valid one.

#include <cstdlib>

#include "isomer/certificate/certificate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace isomer::replay;
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto raw = parse_certificate(text);
  text += "digest " + isomer::text_digest(text) + "\n";
  const auto certificate = parse_certificate(text);
  if (raw && print_certificate(*raw) != std::string(reinterpret_cast<const char*>(data), size)) std::abort();
  if (!certificate) return 0;
  const auto again = parse_certificate(print_certificate(*certificate));
  if (again && *again == *certificate) return 0;
  fmt::print(stderr, "does not read back ({}):\n{}\n", again ? "it differs" : again.error().message, text);
  std::abort();
}
