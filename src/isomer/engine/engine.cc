#include "isomer/engine/engine.h"

#include <algorithm>

#include "isomer/base/processor.h"
#include "isomer/engine/onednn/onednn.h"
#include "isomer/engine/openvino/openvino.h"
#include "isomer/engine/ort/ort.h"
#include "isomer/engine/reference/reference.h"

namespace isomer {

std::string Engine::label() const {
  return provider().empty() ? fmt::format("engine '{}'", name())
                            : fmt::format("engine '{}' with the provider {}", name(), provider());
}

std::string Engine::device() const { return processor_name(); }

Result<std::vector<Tensor>> Engine::run_traced(SessionId /*session*/, std::span<const NamedTensor> /*inputs*/,
                                               Trace& /*trace*/, size_t /*track*/) {
  return fail("engine '{}' does not report when its kernels run", name());
}

Result<std::optional<ActivationMemory>> Engine::activation_memory(const Candidate& /*candidate*/,
                                                                  std::span<const TensorType> /*inputs*/) {
  return std::nullopt;
}

std::vector<Result<KernelTime>> Engine::time_kernels(std::span<const KernelRun> runs, double overhead_us) {
  std::vector<Result<KernelTime>> times;
  for (const KernelRun& run : runs) times.push_back(time_kernel(run, overhead_us));
  return times;
}

Result<KernelTime> Engine::time_kernel(const KernelRun& /*run*/, double /*overhead_us*/) {
  return fail("engine '{}' cannot time kernels", name());
}

Result<NeighborTimes> Engine::neighbor_times() { return fail("engine '{}' has no streams", name()); }
Result<double> Engine::kernel_overhead() { return fail("engine '{}' cannot time kernels", name()); }

namespace {

struct EngineKind {
  std::string name;
  Result<std::unique_ptr<Engine>> (*make)(const EngineOptions&);
  bool optimizes = true;       ///< whether models are optimized for it
  bool has_bf16 = false;       ///< whether it computes in bf16 too
  bool has_providers = false;  ///< whether it has several execution providers
  bool has_streams = false;    ///< whether it can run several kernels at the same time
};

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kKinds = {
      {.name = "ort", .make = make_ort_engine, .has_providers = true},
      {.name = "openvino", .make = make_openvino_engine},
      {.name = "onednn", .make = make_onednn_engine, .has_bf16 = true, .has_streams = true},
      {.name = "reference", .make = make_reference_engine, .optimizes = false},
  };
  return kKinds;
}

const EngineKind* find_kind(const std::string& name) {
  const auto found = std::ranges::find(engine_kinds(), name, &EngineKind::name);
  return found == engine_kinds().end() ? nullptr : &*found;
}

std::vector<std::string> names_of(bool all) {
  std::vector<std::string> names;
  for (const EngineKind& kind : engine_kinds())
    if (all || kind.optimizes) names.push_back(kind.name);
  return names;
}

}  // namespace

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> kNames = names_of(true);
  return kNames;
}

const std::vector<std::string>& optimized_engine_names() {
  static const std::vector<std::string> kNames = names_of(false);
  return kNames;
}

namespace {

Status check_streams(const EngineKind& kind, const EngineOptions& options) {
  if (!kind.has_streams)
    return fail("engine '{}' has no streams; {} streams need the engine onednn", kind.name, options.streams);
  if (options.threads > 1)
    return fail(
        "{} streams and {} threads: with streams, leave threads at 1; large kernels have as many as "
        "there are streams",
        options.streams, options.threads);
  const int cores = available_cores();
  if (options.streams > cores)
    return fail("{} streams: this process may use {} core{}, and each stream needs one", options.streams, cores,
                cores == 1 ? "" : "s");
  return {};
}

}  // namespace

Status check_engine_options(const std::string& name, const EngineOptions& options) {
  if (options.threads < 1 || options.threads > 1024) return fail("{} threads: must be 1 to 1024", options.threads);
  if (options.streams < 1) return fail("{} streams: must be at least 1", options.streams);
  if (options.max_plans < 1) return fail("{} plans: must be at least 1", options.max_plans);
  const EngineKind* kind = find_kind(name);
  if (kind == nullptr) return fail("unknown engine '{}'; there are: {}", name, fmt::join(engine_names(), ", "));
  if (options.dtype != DType::Float && !kind->has_bf16)
    return fail("engine '{}' computes only in f32; bf16 needs the engine onednn", name);
  if (!options.provider.empty() && !kind->has_providers)
    return fail("engine '{}' has no execution providers; {} needs the engine ort", name, options.provider);
  return options.streams == 1 ? Status() : check_streams(*kind, options);
}

Result<std::unique_ptr<Engine>> make_engine(const std::string& name, const EngineOptions& options) {
  ISOMER_CHECK(check_engine_options(name, options));
  return find_kind(name)->make(options);
}

}  // namespace isomer
