#pragma once
// Finished passes of an enumeration in a file, so that one that was interrupted goes on where it stopped.

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

/// What one pass over the terms of one size finds.
struct PassResult {
  uint64_t terms = 0;
  uint64_t values = 0;            ///< that no smaller term has
  std::vector<EqualTerms> equal;  ///< by term
};

/// A hash of what a universe says and of how far it is gone through: terms have the same codes where it is equal.
uint64_t enumeration_key(const Universe& universe, size_t max_nodes, size_t passes);

/// The file begins with the key; each pass follows with its own checksum, so that half a pass at its end is not taken
/// for a whole one.
class PassLog {
 public:
  /// Reads what there is. Fails when the file belongs to another enumeration, or cannot be read.
  static Result<PassLog> open(std::filesystem::path path, uint64_t key);

  /// Passes that the file has: 0, 1, ... in order.
  size_t finished() const { return passes_.size(); }
  /// The result of pass number `pass`: from the file, or of `work`, and then kept there.
  PassResult run(size_t pass, const std::function<PassResult()>& work);
  /// Whether all passes could be written.
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
