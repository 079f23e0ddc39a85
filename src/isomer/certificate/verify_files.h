#pragma once
// Checks a certificate against its model files. The trusted code is this folder, onnx/ import, the operators' inference
// and reference kernels, and the parser of rules; tools/check_rooms.py ensures that the matcher, the rewriter and the
// searches are not used.

#include <filesystem>

#include "isomer/certificate/certificate.h"
#include "isomer/certificate/replay.h"
#include "isomer/onnx/model.h"
#include "isomer/rules/lock.h"

namespace isomer::replay {

struct Verification {
  std::string problem = {};  ///< the first check that failed; empty if all passed
  Certificate certificate = {};
  Tally tally = {};   ///< counts of what was replayed
  Model input = {};   ///< partial if the check failed early
  Model output = {};  ///< likewise

  bool holds() const { return problem.empty(); }
};

/// Replays the certificate from the input file, and compares the result and the recorded decisions with the output
/// file. `watch` sees every application. An Error if the certificate is invalid or was changed, or a file does not
/// exist.
Result<Verification> verify_certificate(const std::filesystem::path& certificate, const std::filesystem::path& input,
                                        const std::filesystem::path& output, const Lock& lock, const Watch& watch = {});

/// Returns the digests and the graph of a model's file. An Error if it cannot be read.
Result<ModelStamp> stamp_of(const std::filesystem::path& path, const Model& model);

/// Fails if the output model differs from the input model with `graph` in place of its graph.
Status same_model(const Model& input, const Graph& graph, const Model& output);

}  // namespace isomer::replay
