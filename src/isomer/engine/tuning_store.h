#pragma once
// Keeps the measurements that choices are based on from run to run.

#include <optional>
#include <string>

namespace isomer {

/// The measurements of one runtime on one processor with one number of threads.
class TuningStore {
 public:
  virtual ~TuningStore() = default;
  /// Returns the microseconds for a key, if known; infinity if it could not be measured.
  virtual std::optional<double> find(const std::string& key) = 0;
  /// Stores a measurement; infinity: it failed. If storing fails, the measurement is lost, and repeated in another run.
  virtual void store(const std::string& key, double us) = 0;
};

}  // namespace isomer
