#pragma once
// Enumerates terms, size by size, and finds those that are equal (TASO, Algorithm 1, step 1).

#include <functional>

#include "isomer/discover/term_bank.h"

namespace isomer {

/// A term and the first term that computes the same: an equality of two graphs with one output.
struct EqualTerms {
  TermCode term;
  TermCode first;
};

struct EnumerateOptions {
  size_t max_nodes = 3;
  int threads = 2;
  /// Number of passes over the largest size. Each pass keeps only a part of the fingerprints, which divides the memory
  /// by this number.
  size_t passes = 1;
  /// Called with progress messages.
  std::function<void(const std::string&)> progress = {};
};

struct EnumerateCounts {
  std::vector<uint64_t> terms;   ///< by size
  std::vector<uint64_t> values;  ///< by size: values that no smaller term has
};

/// Enumerates all terms with up to max_nodes nodes, as graphs: shared nodes count once. An equality about some operands
/// is omitted if it follows from one about the first terms equal to them. Of terms that differ only in the names of
/// interchangeable inputs, only those in canonical order are kept. The result does not depend on the number of threads.
class Enumeration {
 public:
  Enumeration(TermBank& bank, const EnumerateOptions& options) : bank_(bank), options_(options) {}
  void run();

  const std::vector<EqualTerms>& equal() const { return equal_; }
  const EnumerateCounts& counts() const { return counts_; }

 private:
  void run_pass(size_t nodes, size_t pass);

  TermBank& bank_;
  EnumerateOptions options_;
  std::vector<EqualTerms> equal_;
  EnumerateCounts counts_;
};

}  // namespace isomer
