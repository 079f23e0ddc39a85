#pragma once
// The border that every C function crosses: no exception leaves it, and a failure becomes a status and a text.

#include <functional>

#include "isomer/base/result.h"
#include "isomer/capi/isomer.h"

namespace isomer::capi {

/// A status other than ISOMER_OK, with its text.
struct Failure {
  int status = ISOMER_BUG;
  std::string message = {};
};

using Outcome = tl::expected<void, Failure>;

/// Returns a Failure with this status and a formatted text.
template <class... Args>
tl::unexpected<Failure> fail_with(int status, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Failure>(Failure{status, fmt::format(format, std::forward<Args>(args)...)});
}

/// Converts a Result; an Error becomes a Failure with this status.
template <class T>
tl::expected<T, Failure> or_fail_with(int status, Result<T> result) {
  return std::move(result).map_error([&](Error error) { return Failure{status, std::move(error.message)}; });
}

/// Converts the Status of a check of the caller's arguments.
inline Outcome argument(Status status) { return or_fail_with(ISOMER_BAD_ARGUMENT, std::move(status)); }

/// Runs `body`. If `error` is not null, stores the text of the failure there (empty on success).
int guarded(isomer_error* error, const std::function<Outcome()>& body);

/// Returns an Error if a pointer is null.
Status given(const void* pointer, const char* name);

}  // namespace isomer::capi
