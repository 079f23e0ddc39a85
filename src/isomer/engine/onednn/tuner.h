#pragma once
// Chooses between kernels that compute the same, by timing them.

#include <dnnl.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "isomer/engine/noise_filter.h"
#include "isomer/engine/onednn/tuning_limit.h"
#include "isomer/engine/tuning_store.h"

namespace isomer::onednn {

/// A kernel whose arguments are zeros.
struct PreparedTrial {
  std::function<void()> run;
  std::vector<std::span<const std::byte>> flushed = {};  ///< arguments that are in no cache before a run
};
/// Prepares a kernel to be timed. May throw dnnl::error or std::bad_alloc, as may its runs.
using Trial = std::function<PreparedTrial()>;
/// Which arguments of a primitive are in no cache before a run.
enum class Cold : uint8_t { Weights, Everything };
/// A primitive; both must outlive the trial.
Trial trial_of(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, Cold cold = Cold::Weights);

/// A kernel that is timed, and what its time depends on except the number of threads.
struct Contender {
  Trial trial;
  std::string key;
};
/// Returns a primitive as a contender; both must outlive it. Its key also has the name of the implementation.
Contender contender(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, const std::string& key,
                    Cold cold = Cold::Weights);

/// Caches its measurements. Thread-safe; several plans may share it.
class Tuner {
 public:
  /// If `measure` is false, nothing is timed and the first of several candidates is used, whatever the machine. `kept`
  /// has the measurements of earlier runs, and gets new ones; nullptr: disabled.
  explicit Tuner(bool measure, std::shared_ptr<TuningStore> kept = nullptr)
      : measure_(measure), kept_(std::move(kept)) {}
  virtual ~Tuner() = default;

  bool measures() const { return measure_; }

  /// Returns the microseconds of a kernel; infinity if it cannot be made, so that another one is used. Measured once
  /// per `key`, which must include everything that the time depends on except the number of threads. If that would
  /// begin after the limit, the limit is exceeded and 0 is returned.
  double time(const Trial& trial, const std::string& key, TuningLimit& limit);
  double time(const dnnl::engine& engine, const dnnl::primitive_desc_base& desc, const std::string& key,
              TuningLimit& limit) {
    const Contender only = contender(engine, desc, key);
    return time(only.trial, only.key, limit);
  }
  /// Returns the microseconds of kernels that are compared. Those that are not known are measured in turn, so that what
  /// else the machine does slows all of them.
  std::vector<double> times(std::span<const Contender> contenders);

 protected:
  /// Returns the microseconds of kernels, of whose arguments some are in no cache, and the others not in the first two
  /// levels: the minima of a few runs in turn; infinity for those whose trials throw.
  virtual std::vector<double> measure(std::span<const Contender> contenders);

 private:
  std::vector<double> times(std::span<const Contender> contenders, TuningLimit* limit);
  /// Returns the filter for the current number of threads.
  NoiseFilter& noise_filter();

  const bool measure_;
  const std::shared_ptr<TuningStore> kept_;
  std::mutex mutex_;
  std::unordered_map<std::string, double> known_;
  std::map<int, NoiseFilter> noise_filters_;  // by number of threads
};

}  // namespace isomer::onednn
