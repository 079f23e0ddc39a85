#include "isomer/egraph/exact_extraction.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "isomer/egraph/integer_program.h"

namespace isomer {
namespace {

/// The strongly connected component of each class, where a class leads to all classes that a choice for it needs.
std::vector<uint32_t> components_of(const ExtractionProblem& problem) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(problem.choices.size());
  for (uint32_t id = 0; id < problem.choices.size(); ++id)
    for (const uint32_t one : problem.choices[id])
      for (const uint32_t need : problem.operators[one].needs) boost::add_edge(id, need, graph);
  std::vector<uint32_t> out(problem.choices.size());
  if (!out.empty()) boost::strong_components(graph, out.data());
  return out;
}

/// The classes that may be needed: the wanted ones, and what any choice for them needs.
std::vector<bool> reachable_classes(const ExtractionProblem& problem) {
  std::vector<bool> out(problem.choices.size(), false);
  std::vector<uint32_t> pending = problem.wanted;
  while (!pending.empty()) {
    const uint32_t id = pending.back();
    pending.pop_back();
    if (out[id]) continue;
    out[id] = true;
    for (const uint32_t one : problem.choices[id])
      for (const uint32_t need : problem.operators[one].needs) pending.push_back(need);
  }
  return out;
}

class ExtractionProgram {
 public:
  explicit ExtractionProgram(const ExtractionProblem& problem)
      : problem_(problem),
        reachable_(reachable_classes(problem)),
        component_(components_of(problem)),
        places_(problem.choices.size(), kNone) {
    std::vector<uint32_t> uses(problem.operators.size(), 0);
    for (uint32_t id = 0; id < problem.choices.size(); ++id)
      if (reachable_[id])
        for (const uint32_t one : problem.choices[id]) ++uses[one];
    for (uint32_t one = 0; one < uses.size(); ++one)
      operators_.push_back(uses[one] == 0 ? kNone : variable({.cost = problem.operators[one].cost}));
    for (uint32_t id = 0; id < problem.choices.size(); ++id) {
      selected_.emplace_back();
      if (!reachable_[id]) continue;
      for (const uint32_t one : problem.choices[id]) selected_.back().push_back(selection(id, one, uses[one] == 1));
    }
    add_needs();
    add_order();
  }

  const IntegerProgram& program() const { return program_; }

  Extraction extraction(const std::vector<double>& values) const {
    Extraction out(problem_.choices.size(), kNotExtracted);
    for (uint32_t id = 0; id < out.size(); ++id)
      for (size_t i = 0; i < selected_[id].size(); ++i)
        if (values[selected_[id][i]] > 0.5) out[id] = problem_.choices[id][i];
    return out;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t variable(IntegerProgram::Variable one) {
    program_.variables.push_back(one);
    return static_cast<uint32_t>(program_.variables.size() - 1);
  }

  /// The variable that says whether an operator is selected for a class.
  uint32_t selection(uint32_t id, uint32_t one, bool for_this_class_only) {
    const auto& needs = problem_.operators[one].needs;
    if (std::ranges::find(needs, id) != needs.end()) return variable({.high = 0});  // never
    return for_this_class_only ? operators_[one] : variable({});
  }

  /// The sum of the choices for a class is at least 1, or at least the variable `if_used`.
  void add_choice(uint32_t id, uint32_t if_used) {
    IntegerProgram::Row row{.low = if_used == kNone ? 1.0 : 0.0};
    for (const uint32_t one : selected_[id]) row.terms.emplace_back(one, 1);
    if (if_used != kNone) row.terms.emplace_back(if_used, -1);
    program_.rows.push_back(std::move(row));
  }

  void add_needs() {
    for (const uint32_t id : distinct(problem_.wanted)) add_choice(id, kNone);
    for (uint32_t one = 0; one < problem_.operators.size(); ++one) {
      if (operators_[one] == kNone) continue;
      for (const uint32_t need : distinct(problem_.operators[one].needs)) add_choice(need, operators_[one]);
    }
    for (uint32_t id = 0; id < selected_.size(); ++id)
      for (size_t i = 0; i < selected_[id].size(); ++i) {
        const uint32_t whole = operators_[problem_.choices[id][i]];
        if (selected_[id][i] != whole) program_.rows.push_back({{{whole, 1}, {selected_[id][i], -1}}, 0});
      }
  }

  /// Gives the classes of a component places in an order: what a selected choice needs comes earlier.
  void add_order() {
    std::vector<uint32_t> sizes(problem_.choices.size(), 0);
    for (uint32_t id = 0; id < problem_.choices.size(); ++id) sizes[component_[id]] += reachable_[id] ? 1 : 0;
    for (uint32_t id = 0; id < problem_.choices.size(); ++id)
      for (size_t i = 0; i < selected_[id].size(); ++i)
        for (const uint32_t need : distinct(problem_.operators[problem_.choices[id][i]].needs)) {
          if (need == id || component_[need] != component_[id]) continue;
          const double size = sizes[component_[id]];
          program_.rows.push_back(
              {{{place(id, size), 1}, {place(need, size), -1}, {selected_[id][i], -size}}, 1 - size});
        }
  }

  uint32_t place(uint32_t id, double size) {
    if (places_[id] == kNone) places_[id] = variable({.high = size - 1, .integer = false});
    return places_[id];
  }

  static std::vector<uint32_t> distinct(std::vector<uint32_t> ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  const ExtractionProblem& problem_;
  const std::vector<bool> reachable_;
  const std::vector<uint32_t> component_;
  IntegerProgram program_;
  std::vector<uint32_t> operators_;              // variables, by operator
  std::vector<std::vector<uint32_t>> selected_;  // variables, by class and choice
  std::vector<uint32_t> places_;                 // variables, by class
};

}  // namespace

ExactExtraction extract_exactly(const ExtractionProblem& problem, const Extraction& known, const Deadline& end) {
  ExactExtraction out{known, extraction_cost(problem, known)};
  if (!(out.cost > 0)) return out;
  const ExtractionProgram program(problem);
  const IntegerSolution solution = minimize(program.program(), out.cost, end);
  bool proved = solution.proved;
  if (!solution.values.empty()) {
    const auto better = needed_part(problem, program.extraction(solution.values));
    if (better && extraction_cost(problem, *better) < out.cost) {
      out.choices = *better;
      out.cost = extraction_cost(problem, *better);
    }
    proved = proved && better.has_value();  // rounding errors may have hidden a cycle
  }
  if (!proved) out.gap = (out.cost - std::min(solution.bound, out.cost)) / out.cost;
  return out;
}

}  // namespace isomer
