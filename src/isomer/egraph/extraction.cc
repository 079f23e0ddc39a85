#include "isomer/egraph/extraction.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <set>

namespace isomer {
namespace {

/// A set of small numbers.
class NumberSet {
 public:
  explicit NumberSet(size_t size = 0) : words_((size + 63) / 64) {}
  void insert(uint32_t number) { words_[number / 64] |= uint64_t{1} << (number % 64); }
  bool contains(uint32_t number) const { return (words_[number / 64] >> (number % 64) & 1) != 0; }
  void insert_all(const NumberSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        visit(static_cast<uint32_t>(64 * i) + static_cast<uint32_t>(std::countr_zero(rest)));
  }

 private:
  std::vector<uint64_t> words_;
};

/// The cheapest known graph for a class. Costs only fall, and a graph never contains the class that it computes, so the
/// choices of all classes together form no cycle: along a cycle, each cost would be below the next.
struct CheapestGraph {
  double cost = std::numeric_limits<double>::infinity();
  uint32_t choice = kNotExtracted;
  NumberSet operators = NumberSet();
  NumberSet classes = NumberSet();  // that it needs, without its own
};

class GreedyExtraction {
 public:
  explicit GreedyExtraction(const ExtractionProblem& problem)
      : problem_(problem),
        best_(problem.choices.size()),
        classes_of_(problem.operators.size()),
        users_(problem.choices.size()),
        queued_(problem.operators.size(), false) {
    for (uint32_t id = 0; id < problem.choices.size(); ++id)
      for (const uint32_t one : problem.choices[id]) classes_of_[one].push_back(id);
    for (uint32_t one = 0; one < problem.operators.size(); ++one)
      for (const uint32_t need : problem.operators[one].needs) users_[need].push_back(one);
  }

  /// The choices form no cycle at any time, so this may end early.
  std::optional<Extraction> run(const Deadline& end) {
    for (uint32_t one = 0; one < problem_.operators.size(); ++one) queue(one);
    while (!queue_.empty() && !end.passed()) {
      const uint32_t one = queue_.front();
      queue_.pop_front();
      queued_[one] = false;
      consider(one);
    }
    Extraction out;
    for (const CheapestGraph& graph : best_) out.push_back(graph.choice);
    return needed_part(problem_, out);
  }

 private:
  void queue(uint32_t one) {
    if (queued_[one]) return;
    queued_[one] = true;
    queue_.push_back(one);
  }

  void consider(uint32_t one) {
    const std::vector<uint32_t>& needs = problem_.operators[one].needs;
    const auto known = [&](uint32_t id) { return best_[id].choice != kNotExtracted; };
    if (!std::ranges::all_of(needs, known)) return;
    CheapestGraph graph{0, one, NumberSet(problem_.operators.size()), NumberSet(problem_.choices.size())};
    graph.operators.insert(one);
    for (const uint32_t need : needs) {
      graph.operators.insert_all(best_[need].operators);
      graph.classes.insert_all(best_[need].classes);
      graph.classes.insert(need);
    }
    graph.operators.for_each([&](uint32_t part) { graph.cost += problem_.operators[part].cost; });
    for (const uint32_t id : classes_of_[one]) {
      if (graph.classes.contains(id) || !(graph.cost < best_[id].cost)) continue;
      best_[id] = graph;
      for (const uint32_t user : users_[id]) queue(user);
    }
  }

  const ExtractionProblem& problem_;
  std::vector<CheapestGraph> best_;                // by class
  std::vector<std::vector<uint32_t>> classes_of_;  // by operator
  std::vector<std::vector<uint32_t>> users_;       // by class: operators
  std::deque<uint32_t> queue_;
  std::vector<bool> queued_;
};

}  // namespace

double extraction_cost(const ExtractionProblem& problem, const Extraction& extraction) {
  const std::set<uint32_t> chosen(extraction.begin(), extraction.end());
  double out = 0;
  for (const uint32_t one : chosen)
    if (one != kNotExtracted) out += problem.operators[one].cost;
  return out;
}

std::optional<Extraction> needed_part(const ExtractionProblem& problem, const Extraction& extraction) {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(extraction.size(), State::New);
  Extraction out(extraction.size(), kNotExtracted);
  // Depth first, with an explicit stack, because graphs are deep. A class is on it a second time to be closed.
  std::vector<std::pair<uint32_t, bool>> stack;
  for (const uint32_t id : problem.wanted) stack.emplace_back(id, false);
  while (!stack.empty()) {
    const auto [id, close] = stack.back();
    stack.pop_back();
    if (close) {
      states[id] = State::Done;
      continue;
    }
    if (states[id] == State::Done) continue;
    if (states[id] == State::Open || extraction[id] == kNotExtracted) return std::nullopt;
    states[id] = State::Open;
    out[id] = extraction[id];
    stack.emplace_back(id, true);
    for (const uint32_t need : problem.operators[extraction[id]].needs)
      if (states[need] != State::Done) stack.emplace_back(need, false);
  }
  return out;
}

std::optional<Extraction> extract_greedily(const ExtractionProblem& problem, const Deadline& end) {
  return GreedyExtraction(problem).run(end);
}

int64_t greedy_extraction_bytes(const ExtractionProblem& problem) {
  const size_t classes = problem.choices.size();
  return static_cast<int64_t>(classes * (problem.operators.size() + classes) / 8);
}

}  // namespace isomer
