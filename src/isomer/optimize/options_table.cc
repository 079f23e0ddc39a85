#include "isomer/optimize/options_table.h"

#include <iterator>

#include "isomer/optimize/optimize.h"
#include "isomer/search/searches.h"

namespace isomer {
namespace {

using nlohmann::json;

constexpr NumberRange kAboveZero{.min = 0, .open = true};
constexpr NumberRange kFromZero{.min = 0};

/// Returns an option whose value is stored as it is given.
template <class Value>
Option kept(const std::string& name, const Option::Domain& domain, const std::string& help, Value& target) {
  return {.name = name,
          .domain = domain,
          .help = help,
          .get = [&target] { return json(target); },
          .set =
              [&target](const json& value) {
                target = value.get<Value>();
                return Status();
              }};
}

/// The same for a number that need not be given.
Option kept_if_given(const std::string& name, const NumberRange& range, const std::string& help,
                     std::optional<double>& target) {
  return {.name = name,
          .domain = range,
          .help = help,
          .get = [&target] { return target ? json(*target) : json(); },
          .set =
              [&target](const json& value) {
                target = value.get<double>();
                return Status();
              }};
}

Option dtype_option(DType& dtype) {
  return {.name = "dtype",
          .domain = Option::Text{{"f32", "bf16"}},
          .help = "onednn: element type of convolutions and matrix products; the difference from f32 is reported",
          .get = [&dtype] { return json(dtype_name(dtype)); },
          .set = [&dtype](const json& name) -> Status {
            dtype = name.get<std::string>() == "bf16" ? DType::BFloat16 : DType::Float;
            return {};
          }};
}

Option python_option(std::string& python) {
  Option option = kept("python", Option::Text{},
                       "ort, openvino: the Python that has the engine's package; if empty, that of the checkout's "
                       ".venv, or else python3",
                       python);
  option.environment = "ISOMER_PYTHON";
  option.note = "In Python the default is the interpreter that runs the program.";
  return option;
}

Option objective_option(Objective& objective) {
  return {
      .name = "objective",
      .domain = Option::Text{},
      .help =
          "What to minimize: latency_us, critical_path_us, peak_bytes, flops, kernels, bytes, or an expression such as "
          "\"latency_us + 0.1 * kernels\"",
      .get = [&objective] { return json(objective.text()); },
      .set = [&objective](const json& text) -> Status {
        ISOMER_TRY(Objective parsed, Objective::parse(text.get<std::string>()));
        for (const std::string& limit : objective.limits()) ISOMER_CHECK(parsed.add_limit(limit));
        objective = std::move(parsed);
        return {};
      }};
}

Option limits_option(Objective& objective) {
  return {.name = "limits",
          .domain = Option::Texts{},
          .help = "A limit that the result must keep, such as \"kernels <= 100\"",
          .get = [&objective] { return json(objective.limits()); },
          .set = [&objective](const json& limits) -> Status {
            for (const json& limit : limits) ISOMER_CHECK(objective.add_limit(limit.get<std::string>()));
            return {};
          }};
}

/// Short for a limit; its value is stored among the limits.
Option memory_limit_option(Objective& objective) {
  return {.name = "memory_limit",
          .domain = kAboveZero,
          .help =
              "The same as the limit \"peak_bytes <= NUMBER\": maximum bytes of activations that are alive at the same "
              "time. With the engine onednn, values may be computed twice to keep it",
          .get = [] { return json(); },
          .set =
              [&objective](const json& bytes) {
                return objective.add_limit(fmt::format("peak_bytes <= {}", bytes.get<double>()));
              }};
}

Option tolerance_option(std::optional<double>& tolerance) {
  return kept_if_given(
      "tolerance", kFromZero,
      "Maximum difference of an output, relative to its largest element; if not given, 1e-4, or up to 0.25 if the "
      "output moves far when only the last bits of inputs change, and any if it is nothing but rounding errors",
      tolerance);
}

void append(std::vector<Option>& all, std::vector<Option> more) { std::ranges::move(more, std::back_inserter(all)); }

}  // namespace

Option profile_db_option(std::filesystem::path& path) {
  Option option =
      kept("profile_db", Option::File{}, "File that keeps the times of measured kernels between runs", path);
  option.note = "On the command line the default is isomer/profile.db in the user's cache folder.";
  return option;
}

Option shapes_option(ShapeOptions& shapes) {
  return {.name = "shapes",
          .domain = Option::Texts{},
          .help = "NAME:1,3,224,224 (extents of an input) or N=8 (value of a symbol); 1 if not given",
          .get = [&shapes] { return json(shape_texts(shapes)); },
          .set = [&shapes](const json& texts) -> Status {
            for (const json& text : texts) ISOMER_CHECK(add_shape_option(text.get<std::string>(), shapes));
            return {};
          }};
}

Option seed_option(uint64_t& seed) { return kept("seed", IntegerRange{.min = 0}, "Seed of the random inputs", seed); }

Option time_budget_option(double& seconds, const std::string& help) {
  return kept("time_budget", kTimeBudget, help, seconds);
}

Option search_memory_option(int64_t& bytes) {
  return kept(
      "search_memory", IntegerRange{.min = 1},
      "Approximate bytes of graphs and matches that enumerate, prune, dpp, sample and saturate may store for one part",
      bytes);
}

std::vector<Option> engine_options(EngineOptions& options) {
  return {
      kept("threads", IntegerRange{.min = 1, .max = 1024}, "Number of threads of the engine", options.threads),
      kept("streams", IntegerRange{.min = 1, .max = 1024},
           "onednn: number of streams, at most one per core (threads is 1); independent kernels run at the same time, "
           "and large ones have as many threads",
           options.streams),
      kept("provider", Option::Text{},
           "ort: ONNX Runtime's execution provider, such as CUDAExecutionProvider; if empty, the CPU's",
           options.provider),
      dtype_option(options.dtype), python_option(options.python)};
}

std::vector<Option> cost_options(CostOptions& options) {
  Option::Text engines{optimized_engine_names()};
  engines.values.emplace_back("roofline");
  std::vector<Option> all = {kept("engine", std::move(engines),
                                  "The engine that will run the model; roofline: a cost model without a device",
                                  options.engine)};
  all.front().note = "In C the default is onednn, which needs no Python.";
  append(all, engine_options(options.engine_options));
  RooflineOptions& roofline = options.roofline;
  append(all, {profile_db_option(options.profile_db),
               kept("peak_flops", kAboveZero, "roofline: FLOPs per second", roofline.flops_per_second),
               kept("peak_bytes", kAboveZero, "roofline: bytes per second", roofline.bytes_per_second),
               kept("kernel_overhead", kFromZero, "roofline: microseconds per kernel", roofline.kernel_overhead_us)});
  return all;
}

std::vector<Option> search_options(SearchOptions& options) {
  return {
      kept("search", Option::Text{search_names()}, "The search algorithm", options.search),
      kept("alpha", NumberRange{.min = 1}, "Backtracking keeps candidates that cost up to this many times the best",
           options.alpha),
      kept("max_uphill", IntegerRange{.min = 0},
           "Backtracking takes at most this many steps in a row without a gain; 0: any number, anywhere in the "
           "graph, and no restarts",
           options.max_uphill),
      kept("max_growth", kFromZero,
           "Graphs with more than this many times the operators of the part are dropped; 0: none", options.max_growth),
      kept("split", IntegerRange{.min = 0},
           "Backtracking searches parts of at most this many operators; 0: the complete graph", options.split),
      kept("layout", Option::Text{{"substitution", "layout", "sequential", "joint"}},
           "What searches of parts decide: substitutions, layouts of values, one after the other, or both together; "
           "layouts only for engines that obey decisions (onednn)",
           options.layout),
      kept("max_candidates", IntegerRange{.min = 1},
           "Maximum number of graphs whose cost one search of a part computes; enumerate, prune and dpp ignore it",
           options.max_candidates),
      kept("max_length", IntegerRange{.min = 0},
           "Maximum number of substitutions on the way to a graph in one part; 0: any number; greedy ignores it",
           options.max_length),
      kept("search_threads", IntegerRange{.min = 0, .max = 1024},
           "Number of threads that make candidates of greedy, compute large weights and, where the roofline predicts "
           "costs, search parts; 0: one per core, at most 8; the result is the same, unless a time limit ends a search "
           "or an extraction",
           options.search_threads),
      kept("beam_width", IntegerRange{.min = 0}, "Number of graphs that beam search keeps after each step; 0: all",
           options.beam_width),
      kept("queue", IntegerRange{.min = 2}, "Number of sequences that sample keeps after each step", options.queue),
      kept("eta", IntegerRange{.min = 0}, "Number of substitutions in a row that may increase the cost in sample",
           options.eta),
      kept("critical_path_weight", kFromZero,
           "autograph adds this many times the latency of the critical path to the cost of a graph",
           options.critical_path_weight),
      kept("beta", NumberRange{.min = 1}, "autograph keeps candidates that cost up to this many times the best",
           options.beta),
      kept("autograph_split", IntegerRange{.min = 1},
           "autograph divides the graph into parts of at most this many operators", options.autograph_split),
      kept("autograph_merge", IntegerRange{.min = 0},
           "autograph also searches neighboring parts together that have at most this many operators; 0: none",
           options.autograph_merge),
      kept("autograph_top", IntegerRange{.min = 1, .max = 1000},
           "Maximum number of graphs that autograph measures in each round", options.autograph_top),
      kept("extract", Option::Text{{"greedy", "exact"}},
           "How saturate extracts a graph: exact solves an integer program", options.extract),
      kept("extract_seconds", kFromZero, "Maximum seconds of one exact extraction in saturate",
           options.extract_seconds),
      kept("egraph_nodes", IntegerRange{.min = 1}, "Maximum number of nodes of an e-graph in saturate",
           options.egraph_nodes),
      kept("egraph_iterations", IntegerRange{.min = 1},
           "Maximum number of iterations of saturate; each applies the rules wherever they match",
           options.egraph_iterations),
      search_memory_option(options.search_memory),
      kept_if_given(
          "time_budget", kTimeBudget,
          "Maximum seconds for everything except the final confirmation; if not given, 45, and auto ends earlier when "
          "more time is not expected to pay",
          options.time_budget_seconds)};
}

std::vector<Option> optimize_options(OptimizeOptions& options) {
  std::vector<Option> all = {kept("force", Option::Flag{}, "Let the output overwrite the input", options.force),
                             kept("dry_run", Option::Flag{}, "Search and measure, but write nothing", options.dry_run)};
  append(all, cost_options(options.costs));
  append(all,
         {
             objective_option(options.objective),
             limits_option(options.objective),
             memory_limit_option(options.objective),
             kept("costs_only", Option::Flag{}, "Decide by the costs of kernels, and time no complete model",
                  options.costs_only),
             kept("locked", Option::Flag{},
                  "Like costs-only, but measure no kernel; a kernel that is not in the profile database is an error",
                  options.costs.locked),
         });
  append(all, search_options(options.search));
  append(
      all,
      {
          kept("rules", Option::File{}, "A rule file instead of the built-in rules", options.rules_file),
          kept("skip_rules", Option::Texts{}, "A rule, family or tactic that must not be used", options.skip_rules),
          kept(
              "merge_parameters", Option::Flag{},
              "In a training step, also search with parameters that read the same data as one input; if that result is "
              "faster, the output has other inputs and outputs, which the report lists",
              options.merge_parameters),
          kept("allow_tested", Option::Flag{},
               "Also accept results with applications of rules that are not proved; nothing is proved then",
               options.allow_tested),
          tolerance_option(options.tolerance),
          kept("min_speedup", kFromZero,
               "The result is returned only if it is this many times as fast as the model, if latency decides and is "
               "not "
               "that of a roofline",
               options.min_speedup),
          kept("certificate", Option::File{},
               "Write a certificate with which `isomer verify` checks the output: all steps and folded constants",
               options.certificate),
          shapes_option(options.shapes),
          seed_option(options.seed),
      });
  return all;
}

json options_json(const OptimizeOptions& options) {
  OptimizeOptions copy = options;
  json values;
  for (const Option& option : optimize_options(copy))
    if (json value = option.get(); !value.is_null()) values[option.name] = std::move(value);
  values["shapes"] = options.shapes.inputs;
  values["symbols"] = options.shapes.symbols;
  if (options.rules_file.empty()) values["rules"] = "built-in";
  return values;
}

}  // namespace isomer
