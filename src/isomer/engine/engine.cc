#include "isomer/engine/engine.h"

#include <sys/utsname.h>

#include <fstream>

#include "isomer/engine/onednn/onednn.h"
#include "isomer/engine/openvino/openvino.h"
#include "isomer/engine/ort/ort.h"
#include "isomer/engine/reference/reference.h"

namespace isomer {

std::string Engine::device() const {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  // Some kernels (those of Arm) report no model name.
  utsname name{};
  return ::uname(&name) == 0 ? name.machine : "unknown";
}

Result<std::vector<Tensor>> Engine::run_traced(SessionId /*session*/, std::span<const NamedTensor> /*inputs*/,
                                               Trace& /*trace*/, size_t /*track*/) {
  return fail("engine '{}' does not report when its kernels run", name());
}

Result<std::optional<ActivationMemory>> Engine::activation_memory(const Candidate& /*candidate*/,
                                                                  std::span<const TensorType> /*inputs*/) {
  return std::nullopt;
}

Result<KernelTime> Engine::time_kernel(const KernelRun& /*run*/, double /*overhead_us*/) {
  return fail("engine '{}' cannot time kernels", name());
}

Result<double> Engine::kernel_overhead() { return fail("engine '{}' cannot time kernels", name()); }

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> kNames = {"ort", "openvino", "onednn", "reference"};
  return kNames;
}

Result<std::unique_ptr<Engine>> make_engine(const std::string& name, const EngineOptions& options) {
  if (options.threads < 1 || options.threads > 1024) return fail("{} threads: must be 1 to 1024", options.threads);
  if (options.max_plans < 1) return fail("{} plans: must be at least 1", options.max_plans);
  if (options.dtype != DType::Float && name != "onednn")
    return fail("engine '{}' computes only in f32; bf16 needs the engine onednn", name);
  if (!options.provider.empty() && name != "ort")
    return fail("engine '{}' has no execution providers; {} needs the engine ort", name, options.provider);
  if (name == "ort") return make_ort_engine(options);
  if (name == "openvino") return make_openvino_engine(options);
  if (name == "onednn") return make_onednn_engine(options);
  if (name == "reference") return make_reference_engine();
  return fail("unknown engine '{}'; there are: {}", name, fmt::join(engine_names(), ", "));
}

}  // namespace isomer
