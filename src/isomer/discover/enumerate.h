#pragma once
// Enumeration of terms, size by size, and what is found equal (TASO, Algorithm 1, step 1).

#include <functional>

#include "isomer/discover/pass_log.h"
#include "isomer/discover/term_bank.h"

namespace isomer {

struct EnumerateOptions {
  size_t max_nodes = 3;
  int threads = 2;
  /// The last size is gone through this often, with the terms of a part of the fingerprints each time, so that the
  /// memory for it is divided by as much.
  size_t passes = 1;
  /// Where finished passes are kept, so that an interrupted run goes on behind them.
  PassLog* log = nullptr;
  /// Told what is being done.
  std::function<void(const std::string&)> progress = {};
};

struct EnumerateCounts {
  std::vector<uint64_t> terms;   ///< by size
  std::vector<uint64_t> values;  ///< by size: that no smaller term has
};

/// All terms with up to max_nodes nodes, as graphs: what is used twice counts once. Of the equalities, those are left
/// out that say of some operands what another one says of the first terms equal to these; and of terms that differ in
/// the names of interchangeable inputs, only those in canonical order are kept. Deterministic at any number of threads.
class Enumeration {
 public:
  Enumeration(TermBank& bank, const EnumerateOptions& options) : bank_(bank), options_(options) {}
  void run();

  const std::vector<EqualTerms>& equal() const { return equal_; }
  const EnumerateCounts& counts() const { return counts_; }

 private:
  PassResult run_pass(size_t nodes, size_t pass);

  TermBank& bank_;
  EnumerateOptions options_;
  std::vector<EqualTerms> equal_;
  EnumerateCounts counts_;
};

}  // namespace isomer
