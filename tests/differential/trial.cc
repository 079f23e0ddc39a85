#include "trial.h"

#include <algorithm>
#include <functional>

#include "isomer/base/hash.h"
#include "isomer/check/graph_pair.h"
#include "isomer/eval/executor.h"
#include "isomer/ir/text.h"
#include "reduce.h"
#include "truth.h"

namespace isomer::differential {
namespace {

using Outcome = PairComparison::Outcome;

constexpr size_t kMaxSteps = 8;
constexpr uint64_t kDraws = 20;

std::vector<Tensor> inputs_of(const Graph& graph, uint64_t seed) { return draw_inputs(graph, seed % 2 == 0, seed); }

std::string text_of(const Graph& graph) { return print_graph(graph, {.max_elements = 64}); }

/// Compares in the field and in double precision.
PairComparison compare(const Graph& before, const Graph& after) {
  const auto a = in_double(before);
  const auto b = in_double(after);
  if (a && b) return compare_graphs(*a, *b);
  return compare_graphs(before, after);
}

/// Whether the target may have a constant that is not a dyadic number: 1 / 9 in a pooling kernel.
bool has_rounded_constants(const Rule& rule) { return rule.name == "average-pool-as-convolution"; }

/// Messages that differ only in names and numbers count as one.
std::string kind_of(const std::string& message) {
  std::string out = message;
  std::ranges::replace(out, '\n', ' ');
  if (const size_t at = out.find(".onnx: "); at != std::string::npos) out = out.substr(at + 7);
  std::erase_if(out, [](char c) { return c >= '0' && c <= '9'; });
  return out.substr(0, 400);
}

class Trial {
 public:
  Trial(const std::vector<Rule>& rules, const std::vector<Executor>& executors, uint64_t seed, Tally& tally)
      : executors_(executors), seed_(seed), tally_(tally), made_(rewritten(rules, seed)) {}

  void run() {
    ++tally_.graphs;
    tally_.steps += made_.steps.size();
    for (const Step& step : made_.steps) ++tally_.fired[step.rule->name];
    if (!made_.steps.empty()) {
      ++tally_.rewritten;
      exactly();
    }
    inputs_ = inputs_of(first(), seed_);
    const auto truth = truth_of(first(), inputs_);
    const auto spread = truth_of(last(), inputs_);
    if (!truth || !spread) {
      if (truth) found("rewriting", "what was rewritten cannot be run: " + spread.error().message);
      return;
    }
    for (const Executor& executor : executors_) {
      Tally::Runs& runs = tally_.runs[executor.name()];
      if (on(executor, first(), *truth, *truth, "", runs.refused) && !made_.steps.empty())
        on(executor, last(), *truth, *spread, ", rewritten", runs.refused_rewritten);
    }
  }

 private:
  const Graph& first() const { return made_.from.graph; }
  const Graph& last() const { return made_.steps.empty() ? first() : made_.steps.back().graph; }
  const Graph& before(size_t step) const { return step == 0 ? first() : made_.steps[step - 1].graph; }

  void found(const std::string& where, const std::string& text) { tally_.findings.push_back({seed_, where, text}); }

  void exactly() {
    const PairComparison whole = compare(first(), last());
    if (whole.outcome == Outcome::Exact) {
      ++tally_.exact;
      return;
    }
    if (whole.outcome == Outcome::Failed) {
      tally_.not_exact["not to be evaluated: " + kind_of(whole.text)].push_back(seed_);
      return;
    }
    for (size_t i = 0; i < made_.steps.size(); ++i) {
      const PairComparison one = compare(before(i), made_.steps[i].graph);
      if (one.outcome == Outcome::Differs && agree_where_finite(before(i), made_.steps[i].graph)) {
        tally_.not_exact["a value is not finite, by " + made_.steps[i].rule->name].push_back(seed_);
        return;
      }
      if (one.outcome == Outcome::Differs) return found("rule " + made_.steps[i].rule->name, one.text);
      if (one.outcome == Outcome::Close) {
        if (one.text.starts_with("values differ") && !has_rounded_constants(*made_.steps[i].rule))
          return found("rule " + made_.steps[i].rule->name, one.text);
        tally_.not_exact[kind_of(one.text) + ", by " + made_.steps[i].rule->name].push_back(seed_);
        return;
      }
    }
    if (whole.outcome == Outcome::Differs) return found("rules together", whole.text);
    tally_.not_exact[kind_of(whole.text) + ", though every step is exact"].push_back(seed_);
  }

  /// Whether graphs that differ agree in all outputs that depend only on finite values of the first graph, for inputs
  /// of either sign and for positive ones.
  bool agree_where_finite(const Graph& a, const Graph& b) const {
    std::vector<bool> finite(a.outputs().size(), true);
    for (const bool positive : {false, true}) {
      const auto some = finite_outputs(a, draw_inputs(a, positive, seed_));
      for (size_t i = 0; i < finite.size(); ++i) finite[i] = finite[i] && (!some || (*some)[i]);
    }
    if (std::ranges::all_of(finite, std::identity())) return false;
    if (std::ranges::none_of(finite, std::identity())) return true;
    return compare(with_outputs(a, finite), with_outputs(b, finite)).outcome != Outcome::Differs;
  }

  /// What is wrong with an executor's results of a graph; nothing where something cannot be run.
  std::string wrong(const Executor& executor, const Graph& graph) const {
    const auto inputs = inputs_of(graph, seed_);
    const auto truth = truth_of(graph, inputs);
    const auto got = truth ? executor.run(graph, inputs) : fail("no truth");
    if (truth && !got && executor.runs_all()) return got.error().message;
    return got ? agreement(*got, *truth, truth->spread).problem : "";
  }

  /// Whether a graph's results are right without the executor's own optimizer.
  bool right_without_optimizer(const Executor& executor, const Graph& graph, const Truth& truth,
                               const Truth& own) const {
    if (executor.plain() == nullptr) return false;
    const auto got = executor.plain()->run(graph, inputs_);
    return got && agreement(*got, truth, own.spread).problem.empty();
  }

  /// The executor's difference, on as little as shows it.
  std::string small(const Executor& executor, const Graph& graph) const {
    const auto fails = [&](const Graph& part) { return !wrong(executor, part).empty(); };
    if (!fails(graph)) return "(not by itself)\n" + text_of(graph);
    const Graph part = reduced(graph, fails);
    return wrong(executor, part) + "\n" + text_of(part);
  }

  /// Whether the executor runs the graph, and what its own optimizer makes of it is worth comparing.
  bool on(const Executor& executor, const Graph& graph, const Truth& truth, const Truth& own, const std::string& which,
          Seeds& refused) {
    Tally::Runs& runs = tally_.runs[executor.name()];
    const auto got = executor.run(graph, inputs_);
    if (!got && executor.runs_all()) {
      found(executor.name() + which, small(executor, graph));
      return false;
    }
    if (!got) {
      refused[kind_of(got.error().message)].push_back(seed_);
      return false;
    }
    const Agreement agrees = agreement(*got, truth, own.spread);
    if (!agrees.problem.empty() && right_without_optimizer(executor, graph, truth, own)) {
      (which.empty() ? runs.broken : runs.broken_rewritten).push_back(seed_);
      return false;
    }
    ++runs.graphs;
    runs.outputs += agrees.compared;
    runs.unstable += agrees.unstable;
    runs.furthest = std::max(runs.furthest, agrees.furthest);
    if (!agrees.problem.empty()) found(executor.name() + which, small(executor, graph));
    return true;
  }

  const std::vector<Executor>& executors_;
  const uint64_t seed_;
  Tally& tally_;
  const Rewritten made_;
  std::vector<Tensor> inputs_;
};

}  // namespace

Rewritten rewritten(const std::vector<Rule>& rules, uint64_t seed) {
  RandomGraph from;
  // Not all can be run: indices may be out of range, integers divided by zero.
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    from = random_graph(rules, hash_mix(seed, draw));
    if (run_reference(from.graph, inputs_of(from.graph, seed))) break;
  }
  return {from, rewrite(from, rules, 1 + seed % kMaxSteps, seed)};
}

void attempt(const std::vector<Rule>& rules, const std::vector<Executor>& executors, uint64_t seed, Tally& tally) {
  Trial(rules, executors, seed, tally).run();
}

}  // namespace isomer::differential
