#include "isomer/cli/common.h"

namespace isomer {

int finish(const Result<int>& outcome) {
  if (outcome) return *outcome;
  fmt::print(stderr, "isomer: {}\n", outcome.error().message);
  return kBadInput;
}

void print_json(const nlohmann::json& report) {
  fmt::print("{}\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void EngineChoice::add_to(CLI::App& command) {
  command.add_option("--engine", name, "What runs the model")
      ->check(CLI::IsMember(engine_names()))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of the engine")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void InputChoice::add_to(CLI::App& command) {
  command.add_option("--shape", shapes, "NAME:1,3,224,224 (extents of an input) or N=8 (value of a symbol); else 1")
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "Seed of the random inputs")->capture_default_str();
}

Result<ShapeOptions> InputChoice::shape_options() const {
  ShapeOptions options;
  for (const std::string& text : shapes) ISOMER_CHECK(add_shape_option(text, options));
  return options;
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the report as JSON, and nothing else, on stdout");
}

}  // namespace isomer
