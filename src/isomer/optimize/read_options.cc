#include "isomer/optimize/read_options.h"

#include <algorithm>

#include "isomer/optimize/options_table.h"

namespace isomer {
namespace {

using nlohmann::json;

Result<json> parse_object(std::string_view text) {
  try {
    json given = json::parse(text);
    if (given.is_object()) return given;
  } catch (const json::exception& problem) {  // its text has the position, for instance of NaN
    return fail("not a JSON object: {}", problem.what());
  }
  return fail("not a JSON object");
}

Status set(const json& given, const std::vector<Option>& known) {
  for (const auto& [name, value] : given.items()) {
    const auto option = std::ranges::find(known, name, &Option::name);
    if (option == known.end()) {
      std::vector<std::string> names;
      for (const Option& each : known) names.push_back(each.name);
      return fail("no option '{}'; there are: {}", name, fmt::join(names, ", "));
    }
    if (const Status status = option->read(value); !status) return fail_in(name, status.error());
  }
  return {};
}

Status read(std::string_view text, const std::vector<Option>& known) {
  const auto given = parse_object(text);
  if (!given) return fail_in("options", given.error());
  if (const Status status = set(*given, known); !status) return fail_in("options", status.error());
  return {};
}

}  // namespace

Status read_options(std::string_view text, OptimizeOptions& options) { return read(text, optimize_options(options)); }
Status read_options(std::string_view text, EngineOptions& options) { return read(text, engine_options(options)); }

}  // namespace isomer
