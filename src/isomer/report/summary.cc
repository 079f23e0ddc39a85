// The report for people.

#include <algorithm>
#include <set>

#include "isomer/base/printable.h"
#include "isomer/base/table.h"
#include "isomer/report/report.h"

namespace isomer {
namespace {

int64_t total(const std::map<std::string, int64_t>& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

/// "1234.5 us", "12.35 ms".
std::string time_str(double us) {
  return us < 10000 ? fmt::format("{:.1f} us", us) : fmt::format("{:.2f} ms", us / 1000);
}

std::string change_str(int64_t before, int64_t after) {
  return before == after ? "" : fmt::format("{:+}", after - before);
}

/// "1.290x, 95% [1.161, 1.857]".
std::string speedup_str(const Interval& ratio) {
  return fmt::format("{:.3f}x, 95% [{:.3f}, {:.3f}]", ratio.value, ratio.low, ratio.high);
}

/// Returns the table of figures: before and after or, if the input is returned, only those of the model.
std::string figures(const OptimizeReport& report) {
  const bool improved = report.improved;
  Table table({"<", improved ? ">before" : ">model", improved ? ">after" : ">", "<"});
  const auto row = [&](const char* name, const std::string& before, const std::string& after,
                       const std::string& change) {
    table.row({name, before, improved ? after : "", improved ? change : ""});
  };
  if (report.measured) {
    const Measured& m = *report.measured;
    row("latency", time_str(m.before_us), time_str(m.after_us), speedup_str(m.speedup));
  }
  if (report.cost_before && report.cost_after) {
    const Metrics& before = *report.cost_before;
    const Metrics& after = *report.cost_after;
    row("predicted", time_str(before.latency_us), time_str(after.latency_us),
        after.latency_us > 0 ? fmt::format("{:.3f}x", before.latency_us / after.latency_us) : "");
    const auto kernels_before = static_cast<int64_t>(before.kernels);
    const auto kernels_after = static_cast<int64_t>(after.kernels);
    row("kernels", grouped(kernels_before), grouped(kernels_after), change_str(kernels_before, kernels_after));
    const char* kind = report.memory_after ? " of activations, by the plan" : " of live activations";
    const double grown = after.peak_bytes - before.peak_bytes;
    row("memory", byte_str(before.peak_bytes), byte_str(after.peak_bytes),
        grown == 0 ? "" : (grown > 0 ? "+" : "-") + byte_str(std::abs(grown)) + kind);
  }
  const int64_t ops_before = total(report.ops_before);
  const int64_t ops_after = total(report.ops_after);
  row("operators", grouped(ops_before), grouped(ops_after), change_str(ops_before, ops_after));
  return table.str();
}

/// Returns the operators whose numbers changed; empty if none did.
std::string operators(const OptimizeReport& report) {
  Table table({"<operator", ">before", ">after"});
  std::set<std::string> names;
  for (const auto& counts : {report.ops_before, report.ops_after})
    for (const auto& [name, count] : counts) names.insert(name);
  const auto at = [](const std::map<std::string, int64_t>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? int64_t{0} : found->second;
  };
  bool changed = false;
  for (const std::string& name : names) {
    const int64_t before = at(report.ops_before, name);
    const int64_t after = at(report.ops_after, name);
    if (before == after) continue;
    changed = true;
    table.row({name, grouped(before), grouped(after)});
  }
  return changed ? "\n" + table.str() : "";
}

/// Returns the rules in the order in which they were applied, and what they changed.
std::string steps(const OptimizeReport& report) {
  if (report.search.steps.empty()) return "";
  const std::string unit = report.minimizes_latency ? ", us" : "";
  Table table({"<rule", "<verdict", ">places", ">operators", ">predicted" + unit, ">speedup"});
  for (const SearchStep& step : report.search.steps) {
    table.row({step.rule, report.verdicts.at(step.rule), std::to_string(step.nodes.size()),
               step.ops_before == step.ops_after ? std::to_string(step.ops_after)
                                                 : fmt::format("{} -> {}", step.ops_before, step.ops_after),
               step.joined      ? ""
               : step.penalized ? "limits"
                                : fmt::format("{:+.1f}", step.delta),
               step.speedup > 0 && !step.penalized ? fmt::format("{:.3f}", step.speedup) : ""});
  }
  return (report.improved ? "\n" : "\nfound, but not returned:\n") + table.str();
}

/// One line: how many candidates were rejected, and why the first ones were.
std::string rejected(const SearchReport& search) {
  constexpr size_t kShown = 2;
  if (search.rejected.empty()) return "";
  std::string line = fmt::format("rejected   {}: ", search.rejected.size());
  for (size_t i = 0; i < std::min(kShown, search.rejected.size()); ++i) {
    const auto& [rule, reason] = search.rejected[i];
    line += fmt::format("{}{}: {}", i == 0 ? "" : "; ", rule, reason.substr(0, reason.find('\n')));
  }
  return line + (search.rejected.size() > kShown ? "; ...\n" : "\n");
}

std::string notes(const SearchReport& search) {
  std::string lines;
  for (const std::string& note : search.notes) lines += fmt::format("note       {}\n", note);
  return lines;
}

std::string counted(int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

/// Up to two lines: how many applications are proved, and the rules that the search was repeated without.
std::string proofs(const OptimizeReport& report) {
  std::string lines;
  size_t applications = 0;
  for (const auto& [rule, places] : report.proofs.at_use) applications += places;
  if (report.improved && applications + report.proofs.in_general > 0)
    lines += fmt::format(
        "proofs     {}{}\n",
        counted(static_cast<int64_t>(applications), "application proved as it stands",
                "applications proved as they stand"),
        report.proofs.in_general == 0 ? "" : fmt::format(", {} by the proof of the rule", report.proofs.in_general));
  if (report.proofs.not_proved.empty()) return lines;
  lines += fmt::format(
      "proofs     searched {} times ({:.1f} s more), the last time without rules of which an application is not "
      "proved: ",
      report.proofs.searches, report.proofs.seconds);
  for (const auto& [rule, reason] : report.proofs.not_proved) lines += (lines.back() == ' ' ? "" : ", ") + rule;
  return lines + "\n";
}

/// A line with the number of decided layouts, and one with the decisions of the model that are not in the output; empty
/// if there are none.
std::string decisions(const OptimizeReport& report) {
  std::string list;
  for (const auto& [kind, decided] : report.decisions_dropped.items())
    for (const auto& [name, choice] : decided.items())
      list += fmt::format("{}{} of '{}'", list.empty() ? "" : ", ", choice.get<std::string>(), printable(name));
  std::string out;
  const auto layouts = report.decisions.find("layouts");
  if (report.improved && layouts != report.decisions.end())
    out += fmt::format("layouts    {} decided\n", layouts->size());
  return list.empty() ? out : out + fmt::format("decisions  not in the output: {}\n", list);
}

/// A line about the teams of the kernels; empty if there is one stream, or if the output is the input.
std::string teams(const OptimizeReport& report) {
  if (!report.teams || !report.improved) return "";
  const TeamsReport& teams = *report.teams;
  const std::string chosen = teams.chosen.empty() ? "left to the engine" : teams.chosen;
  if (!teams.predicted_us)
    return fmt::format("teams      {}{}\n", chosen, teams.problem.empty() ? "" : "; " + printable(teams.problem));
  const auto alone = std::ranges::count_if(teams.predicted, [](const KernelInRun& kernel) { return !kernel.stream; });
  return fmt::format("teams      {}: {} of {} on all threads; predicted to take {}\n", chosen, grouped(alone),
                     counted(std::ssize(teams.predicted), "kernel", "kernels"), time_str(*teams.predicted_us));
}

/// A line for each input that holds several of the model's.
std::string merged(const OptimizeReport& report) {
  std::string lines;
  for (const MergedInput& one : report.merged) {
    std::string parts;
    for (const std::string& part : one.parts) parts += (parts.empty() ? "" : ", ") + printable(part);
    lines += fmt::format("merged     {}: {} along axis {}\n", printable(one.input), parts, one.axis);
  }
  return lines;
}

std::string run_lines(const OptimizeReport& report) {
  const SearchReport& search = report.search;
  std::string out = fmt::format("engine     {}", report.engine);
  if (!report.engine_version.empty())
    out += fmt::format(" {}, {}{}, {}", report.engine_version, counted(report.threads, "thread", "threads"),
                       report.streams == 1 ? "" : fmt::format(", {} streams", report.streams), report.device);
  out += '\n';
  if (const auto& same = report.equivalence) {
    out += fmt::format("outputs    within {:.1e} of their largest elements, on {}\n", same->max_rel,
                       counted(same->inputs, "random input", "random inputs"));
    if (same->movement > 0)
      out +=
          fmt::format("           within {:.1e} if only the last bits of the model's inputs change\n", same->movement);
    if (same->precision) out += fmt::format("precision  {}\n", same->precision->str());
  }
  if (report.memory_after) out += fmt::format("memory     {}\n", memory_str(*report.memory_after));
  out += fmt::format("search     {}, {:.1f} s, ended by: {}; peak memory {}\n", search.algorithm, search.seconds,
                     search.stop_reason, byte_str(static_cast<double>(report.peak_rss_bytes)));
  out += fmt::format("           {}, {}, {}", counted(search.matches, "match", "matches"),
                     counted(search.candidates, "candidate", "candidates"),
                     counted(search.duplicates, "duplicate", "duplicates"));
  if (report.kernels_measured > 0)
    out += fmt::format(", {} measured", counted(static_cast<int64_t>(report.kernels_measured), "kernel", "kernels"));
  out += '\n' + rejected(search) + notes(search) + proofs(report) + merged(report) + decisions(report) + teams(report);
  return out + fmt::format("output     {}\n", report.output ? report.output->string() : "none: a dry run");
}

}  // namespace

std::string memory_str(const ActivationMemory& memory) {
  const auto bytes = [](size_t count) { return byte_str(static_cast<double>(count)); };
  std::string text = fmt::format("{}: arena {}", bytes(memory.total()), bytes(memory.arena));
  if (memory.scratch > 0) text += fmt::format(" (scratch of it up to {})", bytes(memory.scratch));
  text += fmt::format(", inputs {}, outputs {}", bytes(memory.inputs), bytes(memory.outputs));
  if (memory.results > 0) text += fmt::format(", results of reference kernels {}", bytes(memory.results));
  return text;
}

std::string summary(const OptimizeReport& report) {
  return fmt::format("{}: {}\n\n", report.input.string(), report.outcome) + figures(report) + '\n' + run_lines(report) +
         steps(report) + operators(report);
}

}  // namespace isomer
