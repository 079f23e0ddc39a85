#pragma once
// Errors as values. Bad input never throws and never aborts; a failed assertion is a bug in Isomer.

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace isomer {

/// A message for the user. Callers put context in front as the error propagates ("model.onnx: node 'conv1' (Conv):
/// ...").
struct Error {
  std::string message;

  /// The same error with `where: ` in front.
  Error in(const std::string& where) const { return Error{where + ": " + message}; }
};

/// A value or an Error.
template <class T>
using Result = tl::expected<T, Error>;

/// Success or an Error.
using Status = tl::expected<void, Error>;

/// An Error made from a format string, ready to return from a function that returns Result or Status.
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

/// Propagates an Error with context in front.
inline tl::unexpected<Error> fail_in(const std::string& where, const Error& error) {
  return tl::unexpected<Error>(error.in(where));
}

/// The same Result or Status; an Error gets context in front.
template <class T>
tl::expected<T, Error> in_context(const std::string& where, tl::expected<T, Error> result) {
  if (!result) return fail_in(where, result.error());
  return result;
}

}  // namespace isomer

#define ISOMER_CONCAT_(a, b) a##b
#define ISOMER_CONCAT(a, b) ISOMER_CONCAT_(a, b)

/// Returns the error of a Status expression to the caller if it has one.
#define ISOMER_CHECK(expression)                                                \
  do {                                                                          \
    if (auto isomer_status = (expression); !isomer_status)                      \
      return tl::unexpected<::isomer::Error>(std::move(isomer_status).error()); \
  } while (false)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
/// `ISOMER_TRY(auto x, f());` declares x as the value of a Result, or returns its error to the caller.
#define ISOMER_TRY(declaration, expression) \
  ISOMER_TRY_(ISOMER_CONCAT(isomer_result_, __LINE__), declaration, expression)
#define ISOMER_TRY_(result, declaration, expression)                              \
  auto result = (expression);                                                     \
  if (!result) return tl::unexpected<::isomer::Error>(std::move(result).error()); \
  declaration = std::move(*result)
// NOLINTEND(bugprone-macro-parentheses)
