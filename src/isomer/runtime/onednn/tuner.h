#pragma once
// Chooses between primitives that compute the same by timing them.

#include <dnnl.hpp>
#include <mutex>
#include <string>
#include <unordered_map>

namespace isomer::onednn {

/// Remembers what it measured; may serve several plans at a time.
class Tuner {
 public:
  /// Without `measure` nothing is timed and the first of several candidates is taken, whatever the machine.
  explicit Tuner(bool measure) : measure_(measure) {}
  virtual ~Tuner() = default;

  bool measures() const { return measure_; }

  /// Microseconds of a primitive whose arguments are zeros and not in the first two levels of cache: the least of a
  /// few runs. Measured once for each `key`, which must tell all that the time depends on but the number of threads.
  virtual double time(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, const std::string& key);

 private:
  const bool measure_;
  std::mutex mutex_;
  std::unordered_map<std::string, double> known_;
};

}  // namespace isomer::onednn
