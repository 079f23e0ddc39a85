#pragma once
// Keeps the measurements that choices are based on from run to run.

#include <optional>
#include <string>

namespace isomer {

/// The measurements of one runtime on one processor with one number of threads.
class TuningStore {
 public:
  virtual ~TuningStore() = default;
  /// Returns the microseconds for a key, if known.
  virtual std::optional<double> find(const std::string& key) = 0;
  /// Stores a measurement. If that fails, it is lost, and repeated in another run.
  virtual void store(const std::string& key, double us) = 0;
};

}  // namespace isomer
