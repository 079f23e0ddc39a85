#pragma once
// What every C function does at its border: no exception leaves, and what went wrong becomes a status and a text.

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

/// A Failure of this status made from a format string, ready to return.
template <class... Args>
tl::unexpected<Failure> fail_with(int status, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Failure>(Failure{status, fmt::format(format, std::forward<Args>(args)...)});
}

/// A Result whose Error, if it is one, is a Failure of this status.
template <class T>
tl::expected<T, Failure> or_fail_with(int status, Result<T> result) {
  return std::move(result).map_error([&](Error error) { return Failure{status, std::move(error.message)}; });
}

/// A Status as the Outcome of checking what the caller gave.
inline Outcome argument(Status status) { return or_fail_with(ISOMER_BAD_ARGUMENT, std::move(status)); }

/// Runs `body`; writes the text of its failure (empty when there is none) where `error` is not null.
int guarded(isomer_error* error, const std::function<Outcome()>& body);

/// An Error where a pointer is null.
Status given(const void* pointer, const char* name);

}  // namespace isomer::capi
