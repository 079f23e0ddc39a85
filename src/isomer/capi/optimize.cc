// The optimizer of the C interface.

#include <cstdlib>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "isomer/capi/border.h"
#include "isomer/capi/isomer.h"
#include "isomer/optimize/read_options.h"

namespace isomer::capi {
namespace {

Result<OptimizeOptions> read_arguments(const char* input, const char* output, const char* options) {
  ISOMER_CHECK(given(input, "input"));
  OptimizeOptions read;
  read.costs.engine = "onednn";  // the default of isomer_load; it needs no Python
  read.input = input;
  if (output != nullptr) read.output = output;
  if (options != nullptr) ISOMER_CHECK(read_options(options, read));
  if (!read.dry_run) ISOMER_CHECK(given(output, "output"));
  return read;
}

/// Returns a copy for isomer_free_text.
char* text_for_c(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace
}  // namespace isomer::capi

int isomer_optimize(const char* input, const char* output, const char* options, char** report, isomer_error* error) {
  using namespace isomer::capi;
  if (report != nullptr) *report = nullptr;
  return guarded(error, [&]() -> Outcome {
    const auto read = read_arguments(input, output, options);
    if (!read) return fail_with(ISOMER_BAD_ARGUMENT, "{}", read.error().message);
    const auto done = isomer::optimize(*read);
    if (!done) return fail_with(ISOMER_FAILED, "{}", done.error().message);
    if (report == nullptr) return {};
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // a file name may not be UTF-8
    *report = text_for_c(to_json(*done).dump(-1, ' ', false, kReplace));
    return {};
  });
}

void isomer_free_text(char* text) { std::free(text); }
