#include "isomer/optimize/read_options.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "isomer/optimize/option_ranges.h"

namespace isomer {
namespace {

using nlohmann::json;
using Reader = std::function<Status(const json&)>;

Reader text(std::string& target) {
  return [&target](const json& value) -> Status {
    if (!value.is_string()) return fail("must be a text");
    target = value.get<std::string>();
    return {};
  };
}

Reader path(std::filesystem::path& target) {
  return [&target](const json& value) {
    std::string name;
    return text(name)(value).map([&] { target = name; });
  };
}

Reader flag(bool& target) {
  return [&target](const json& value) -> Status {
    if (!value.is_boolean()) return fail("must be true or false");
    target = value.get<bool>();
    return {};
  };
}

template <class T>
Reader integer(T& target, IntegerRange range) {
  return [&target, range](const json& value) -> Status {
    // What exceeds an int64_t is stored as unsigned.
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX});
    if (!fits) return fail("must be {}", range.str());
    ISOMER_CHECK(range.check(value.get<int64_t>()));
    target = static_cast<T>(value.get<int64_t>());
    return {};
  };
}

Reader number(double& target, NumberRange range) {
  return [&target, range](const json& value) -> Status {
    if (!value.is_number()) return fail("must be {}", range.str());
    ISOMER_CHECK(range.check(value.get<double>()));
    target = value.get<double>();
    return {};
  };
}

/// Each text of a list goes to `take`.
Reader texts(std::function<Status(const std::string&)> take) {
  return [take = std::move(take)](const json& value) -> Status {
    if (!value.is_array()) return fail("must be a list of texts");
    for (const json& one : value) {
      if (!one.is_string()) return fail("must be a list of texts");
      ISOMER_CHECK(take(one.get<std::string>()));
    }
    return {};
  };
}

/// f32, bf16 or f16.
Reader precision(DType& target) {
  return [&target](const json& value) -> Status {
    std::string name;
    ISOMER_CHECK(text(name)(value));
    for (const DType dtype : {DType::Float, DType::BFloat16, DType::Half}) {
      if (name != dtype_name(dtype)) continue;
      target = dtype;
      return {};
    }
    return fail("must be f32, bf16 or f16");
  };
}

Reader objective(Objective& target) {
  return [&target](const json& value) -> Status {
    std::string expression;
    ISOMER_CHECK(text(expression)(value));
    ISOMER_TRY(target, Objective::parse(expression));
    return {};
  };
}

}  // namespace

Status read_options(std::string_view text_of_options, OptimizeOptions& options) {
  json given;
  try {
    given = json::parse(text_of_options);
  } catch (const json::exception& problem) {  // it says where: NaN, for one, is not JSON
    return fail("options: no JSON object: {}", problem.what());
  }
  if (!given.is_object()) return fail("options: no JSON object");
  std::vector<std::string> limits;  // added in the end: the objective, which holds them, may come after them
  EngineOptions& engine = options.costs.engine_options;
  const std::map<std::string, Reader> readers = {
      {"engine", text(options.costs.engine)},
      {"threads", integer(engine.threads, kThreads)},
      {"dtype", precision(engine.dtype)},
      {"python", text(engine.python)},
      {"profile_db", path(options.costs.profile_db)},
      {"objective", objective(options.objective)},
      {"limits", texts([&](const std::string& limit) {
         limits.push_back(limit);
         return Status();
       })},
      {"costs_only", flag(options.costs_only)},
      {"locked", flag(options.costs.locked)},
      {"search", text(options.search.search)},
      {"alpha", number(options.search.alpha, kAlpha)},
      {"split", integer(options.search.split, kSplit)},
      {"max_candidates", integer(options.search.max_candidates, kMaxCandidates)},
      {"time_budget", number(options.search.time_budget_seconds, kTimeBudget)},
      {"seed", integer(options.seed, kSeed)},
      {"shapes", texts([&](const std::string& shape) { return add_shape_option(shape, options.shapes); })},
      {"rules", text(options.rules_file)},
      {"skip_rules", texts([&](const std::string& rule) {
         options.skip_rules.push_back(rule);
         return Status();
       })},
      {"allow_tested", flag(options.allow_tested)},
      {"certificate", path(options.certificate)},
      {"tolerance", number(options.tolerance, kTolerance)},
      {"least_speedup", number(options.least_speedup, kLeastSpeedup)},
      {"force", flag(options.force)},
      {"dry_run", flag(options.dry_run)},
  };
  for (const auto& [key, value] : given.items()) {
    const auto reader = readers.find(key);
    if (reader == readers.end()) {
      std::vector<std::string> keys;
      keys.reserve(readers.size());
      for (const auto& [known, unused] : readers) keys.push_back(known);
      return fail("options: no option '{}'; there are: {}", key, fmt::join(keys, ", "));
    }
    if (auto status = reader->second(value); !status) return fail_in("options: " + key, status.error());
  }
  for (const std::string& limit : limits) {
    if (auto status = options.objective.add_limit(limit); !status) return fail_in("options: limits", status.error());
  }
  return {};
}

}  // namespace isomer
