#pragma once
// Chooses between primitives that compute the same by timing them.

#include <dnnl.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "isomer/runtime/tuning_store.h"

namespace isomer::onednn {

/// Remembers what it measured; may serve several plans at a time.
class Tuner {
 public:
  /// Without `measure` nothing is timed and the first of several candidates is taken, whatever the machine. `kept`
  /// knows what earlier runs measured, and gets what this one does; null: nobody.
  explicit Tuner(bool measure, std::shared_ptr<TuningStore> kept = nullptr)
      : measure_(measure), kept_(std::move(kept)) {}
  virtual ~Tuner() = default;

  bool measures() const { return measure_; }

  /// Microseconds of a primitive whose arguments are zeros and not in the first two levels of cache: the least of a
  /// few runs. Measured once for each `key`, which must tell all that the time depends on but the number of threads.
  virtual double time(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, const std::string& key);

 private:
  const bool measure_;
  const std::shared_ptr<TuningStore> kept_;
  std::mutex mutex_;
  std::unordered_map<std::string, double> known_;
};

}  // namespace isomer::onednn
