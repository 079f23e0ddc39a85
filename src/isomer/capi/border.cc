#include "isomer/capi/border.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "isomer/base/printable.h"

namespace isomer::capi {
namespace {

/// Writes as much of a message as fits. A character that does not fit is left out completely.
void write_message(isomer_error* error, std::string_view message) {
  if (error == nullptr) return;
  const std::string text = printable_lines(message);
  size_t size = std::min(text.size(), sizeof(error->message) - 1);
  const auto continues = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  if (size < text.size()) {
    while (size > 0 && continues(size)) --size;
  }
  error->message[text.copy(error->message, size)] = '\0';
}

}  // namespace

int guarded(isomer_error* error, const std::function<Outcome()>& body) {
  try {
    const Outcome outcome = body();
    write_message(error, outcome ? std::string_view() : outcome.error().message);
    return outcome ? ISOMER_OK : outcome.error().status;
  } catch (const std::bad_alloc&) {
    write_message(error, "out of memory");
    return ISOMER_NO_MEMORY;
  } catch (const std::exception& exception) {
    write_message(error, exception.what());
  } catch (...) {
    write_message(error, "unknown exception");
  }
  return ISOMER_BUG;
}

Status given(const void* pointer, const char* name) {
  if (pointer == nullptr) return fail("{} is NULL", name);
  return {};
}

}  // namespace isomer::capi
