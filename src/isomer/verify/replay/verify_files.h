#pragma once
// Checking a certificate against the files that it is of. Together with onnx/ import, the operators' inference and
// reference kernels and the parser of rules, this folder is all that has to be believed; tools/check_rooms.py keeps the
// matcher, the rewriter and the searches out of it.

#include <filesystem>

#include "isomer/onnx/model.h"
#include "isomer/verify/lock.h"
#include "isomer/verify/replay/certificate.h"
#include "isomer/verify/replay/replay.h"

namespace isomer::replay {

struct Verification {
  std::string problem = {};  ///< the first thing that does not hold; empty: all does
  Certificate certificate = {};
  Tally tally = {};   ///< what was replayed
  Model input = {};   ///< as far as it came
  Model output = {};  ///< likewise

  bool holds() const { return problem.empty(); }
};

/// Replays the certificate from the input file and compares what comes out with the output file. An Error where the
/// certificate is none or was changed, or a file is not there.
Result<Verification> verify_certificate(const std::filesystem::path& certificate, const std::filesystem::path& input,
                                        const std::filesystem::path& output, const Lock& lock);

/// The digests and the graph of a model's file. An Error where it cannot be read.
Result<ModelStamp> stamp_of(const std::filesystem::path& path, const Model& model);

/// Fails where the output model differs from the input model with `graph` in its place.
Status same_model(const Model& input, const Graph& graph, const Model& output);

}  // namespace isomer::replay
