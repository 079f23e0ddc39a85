#pragma once
// Stores finished passes of an enumeration in a file, so that an interrupted enumeration can continue.

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "isomer/base/result.h"
#include "isomer/discover/term.h"
#include "isomer/discover/universe.h"

namespace isomer {

/// A term and the first term that computes the same: an equality of two graphs with one output.
struct EqualTerms {
  TermCode term;
  TermCode least;
  friend bool operator==(const EqualTerms&, const EqualTerms&) = default;
};

/// The result of one pass over the terms of one size.
struct PassResult {
  uint64_t terms = 0;
  uint64_t values = 0;            ///< values that no smaller term has
  std::vector<EqualTerms> equal;  ///< ordered by term
};

/// Returns a hash of a universe and of the extent of its enumeration: terms have the same codes if it is equal.
uint64_t enumeration_key(const Universe& universe, size_t max_nodes, size_t passes);

/// The file begins with the key. Each pass has its own checksum, so that an incomplete pass at the end is detected.
class PassLog {
 public:
  /// Reads the existing passes. Fails if the file belongs to another enumeration, or cannot be read.
  static Result<PassLog> open(std::filesystem::path path, uint64_t key);

  /// Number of passes in the file: 0, 1, ... in order.
  size_t finished() const { return passes_.size(); }
  /// Returns the result of pass number `pass`: from the file, or from `work`, which is then stored.
  PassResult run(size_t pass, const std::function<PassResult()>& work);
  /// Returns whether all passes could be written.
  const Status& status() const { return status_; }

 private:
  PassLog(std::filesystem::path path, uint64_t key) : path_(std::move(path)), key_(key) {}
  Status append(const PassResult& pass);

  std::filesystem::path path_;
  uint64_t key_;
  std::vector<PassResult> passes_;
  size_t valid_bytes_ = 0;
  Status status_;
};

}  // namespace isomer
