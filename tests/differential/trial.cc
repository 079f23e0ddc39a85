#include "trial.h"

#include "isomer/ir/text.h"
#include "isomer/verify/graph_pair.h"
#include "reduce.h"
#include "truth.h"

namespace isomer::differential {
namespace {

using Outcome = PairComparison::Outcome;

constexpr size_t kMostSteps = 8;

std::string text_of(const Graph& graph) { return print_graph(graph, {.max_elements = 64}); }

/// Compares in the field and in double precision.
PairComparison compare(const Graph& before, const Graph& after) {
  const auto a = in_double(before);
  const auto b = in_double(after);
  if (a && b) return compare_graphs(*a, *b);
  return compare_graphs(before, after);
}

/// Messages that differ in names and numbers alone count as one.
std::string kind_of(const std::string& message) {
  std::string out = message.substr(0, message.find('\n'));
  if (const size_t at = out.find(".onnx: "); at != std::string::npos) out = out.substr(at + 7);
  std::erase_if(out, [](char c) { return c >= '0' && c <= '9'; });
  return out.substr(0, 160);
}

class Trial {
 public:
  Trial(const std::vector<Rule>& rules, const std::vector<Executor>& executors, uint64_t seed, Tally& tally)
      : executors_(executors),
        seed_(seed),
        tally_(tally),
        from_(random_graph(rules, seed)),
        steps_(rewrite(from_, rules, 1 + seed % kMostSteps, seed)) {}

  void run() {
    ++tally_.graphs;
    tally_.steps += steps_.size();
    for (const Step& step : steps_) ++tally_.fired[step.rule->name];
    if (!steps_.empty()) {
      ++tally_.rewritten;
      exactly();
    }
    inputs_ = draw_inputs(from_.graph, seed_ % 2 == 0, seed_);
    const auto truth = truth_of(from_.graph, inputs_);
    const auto spread = truth_of(last(), inputs_);
    if (!truth || !spread) {
      if (truth) found("rewriting", "what was rewritten cannot be run: " + spread.error().message);
      return;
    }
    for (const Executor& executor : executors_) {
      on(executor, from_.graph, *truth, *truth, "");
      if (!steps_.empty()) on(executor, last(), *truth, *spread, ", rewritten");
    }
  }

 private:
  const Graph& last() const { return steps_.empty() ? from_.graph : steps_.back().graph; }
  const Graph& before(size_t step) const { return step == 0 ? from_.graph : steps_[step - 1].graph; }

  void found(const std::string& where, const std::string& text) { tally_.findings.push_back({seed_, where, text}); }

  void exactly() {
    const PairComparison whole = compare(from_.graph, last());
    if (whole.outcome == Outcome::Exact) {
      ++tally_.exact;
      return;
    }
    if (whole.outcome == Outcome::Failed) {
      ++tally_.not_exact["not to be evaluated: " + kind_of(whole.text)];
      return;
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const PairComparison one = compare(before(i), steps_[i].graph);
      if (one.outcome == Outcome::Differs) return found("rule " + steps_[i].rule->name, one.text);
      if (one.outcome == Outcome::Close) {
        ++tally_.not_exact[kind_of(one.text) + ", by " + steps_[i].rule->name];
        return;
      }
    }
    if (whole.outcome == Outcome::Differs) return found("rules together", whole.text);
    ++tally_.not_exact[kind_of(whole.text) + ", though every step is exact"];
  }

  /// What is wrong with an executor's results of a graph; nothing where something cannot be run.
  std::string wrong(const Executor& executor, const Graph& graph) const {
    const auto inputs = draw_inputs(graph, seed_ % 2 == 0, seed_);
    const auto truth = truth_of(graph, inputs);
    const auto got = truth ? executor.run(graph, inputs) : fail("no truth");
    return got ? agreement(*got, *truth, truth->spread).problem : "";
  }

  /// The executor's difference, on as little as shows it.
  std::string small(const Executor& executor, const Graph& graph) const {
    const auto fails = [&](const Graph& part) { return !wrong(executor, part).empty(); };
    if (!fails(graph)) return "(not by itself)\n" + text_of(graph);
    const Graph part = reduced(graph, fails);
    return wrong(executor, part) + "\n" + text_of(part);
  }

  void on(const Executor& executor, const Graph& graph, const Truth& truth, const Truth& own,
          const std::string& which) {
    Tally::Runs& runs = tally_.runs[executor.name()];
    const auto got = executor.run(graph, inputs_);
    if (!got) {
      ++runs.refused[kind_of(got.error().message) + which];
      return;
    }
    ++runs.graphs;
    const Agreement agrees = agreement(*got, truth, own.spread);
    runs.outputs += agrees.compared;
    runs.unstable += agrees.unstable;
    runs.furthest = std::max(runs.furthest, agrees.furthest);
    if (!agrees.problem.empty()) found(executor.name() + which, small(executor, graph));
  }

  const std::vector<Executor>& executors_;
  const uint64_t seed_;
  Tally& tally_;
  const RandomGraph from_;
  const std::vector<Step> steps_;
  std::vector<Tensor> inputs_;
};

}  // namespace

void attempt(const std::vector<Rule>& rules, const std::vector<Executor>& executors, uint64_t seed, Tally& tally) {
  Trial(rules, executors, seed, tally).run();
}

}  // namespace isomer::differential
