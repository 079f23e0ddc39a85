#pragma once
// Training steps of benchmark networks in PyTorch, with which an experiment compares ours.

#include <string>
#include <vector>

#include "isomer/repro/contenders.h"

namespace isomer {

/// Contenders that run a network's training step in PyTorch: eager mode, one thread, SGD with momentum. Networks that
/// read images have two, the second with channels last. Their names have PyTorch's version.
///
/// `python` (found on PATH) needs torch and onnx. `step` is the training step that they are compared with: all have the
/// same random data. Runs one step of each. An Error if Python or PyTorch fails (it has the end of their output), or if
/// the
/// loss of PyTorch's first step differs by more than 0.1%.
Result<std::vector<Contender>> torch_contenders(const std::string& python, const std::string& network, int batch,
                                                const WrittenNetwork& step);

}  // namespace isomer
