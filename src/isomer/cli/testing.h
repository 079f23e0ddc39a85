#pragma once
// For tests: runs the program in this process.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "isomer/cli/app.h"

namespace isomer {

struct Outcome {
  int exit_code;
  std::string out, err;
  nlohmann::json report() const { return nlohmann::json::parse(out); }
};

/// Runs `isomer ARGUMENTS...` and captures what it prints.
inline Outcome isomer_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "isomer");
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = run_program(static_cast<int>(argv.size()), argv.data());
  std::fflush(nullptr);
  std::string out = testing::internal::GetCapturedStdout();
  return {exit_code, std::move(out), testing::internal::GetCapturedStderr()};
}

}  // namespace isomer
