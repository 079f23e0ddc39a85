#pragma once
// Where measurements that choices rest on are kept from run to run.

#include <optional>
#include <string>

namespace isomer {

/// What one runtime measured on one processor with one number of threads.
class TuningStore {
 public:
  virtual ~TuningStore() = default;
  /// Microseconds of what the key describes, if they are known.
  virtual std::optional<double> find(const std::string& key) = 0;
  /// Keeps them. What cannot be kept is lost, and measured again in another run.
  virtual void store(const std::string& key, double us) = 0;
};

}  // namespace isomer
