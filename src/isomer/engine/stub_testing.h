#pragma once
// An engine that can do nothing, for tests and benchmarks that override what they need.

#include "isomer/engine/engine.h"

namespace isomer {

class StubEngine : public Engine {
 public:
  std::string name() const override { return "stub"; }
  std::string version() const override { return "1"; }
  int threads() const override { return 1; }
  Result<SessionId> load(const std::filesystem::path&) override { return fail("loads nothing"); }
  Status unload(SessionId) override { return {}; }
  Result<std::vector<Tensor>> run(SessionId, std::span<const NamedTensor>) override { return fail("runs nothing"); }
  Result<std::vector<std::vector<double>>> time_interleaved(std::span<const SessionId>,
                                                            std::span<const std::vector<NamedTensor>>,
                                                            const TimingOptions&) override {
    return fail("times nothing");
  }
};

}  // namespace isomer
