#include "isomer/search/min_sum.h"

#include <algorithm>
#include <limits>
#include <set>

namespace isomer {
namespace {

/// Spreads the bits of an index of a factor's table, so that they become bits of the index of another one: `places` has
/// the bit there for each variable of the factor.
size_t index_in(std::span<const size_t> places, size_t index) {
  size_t out = 0;
  for (size_t i = 0; i < places.size(); ++i) out |= (index >> places[i] & 1) << i;
  return out;
}

std::vector<size_t> places_in(const std::vector<size_t>& of, const std::vector<size_t>& variables) {
  std::vector<size_t> places;
  for (const size_t variable : of)
    places.push_back(static_cast<size_t>(std::ranges::lower_bound(variables, variable) - variables.begin()));
  return places;
}

class Elimination {
 public:
  Elimination(std::span<const Factor> factors, size_t variables, size_t max_width)
      : max_width_(max_width), assignment_(variables, false), neighbors_(variables), factors_of_(variables) {
    for (const Factor& factor : factors) add(factor);
  }

  std::optional<std::vector<bool>> run() {
    std::set<size_t> left;
    for (size_t variable = 0; variable < assignment_.size(); ++variable) left.insert(variable);
    while (!left.empty()) {
      const size_t next = *std::ranges::min_element(left, {}, [&](size_t each) { return neighbors_[each].size(); });
      if (neighbors_[next].size() >= max_width_) return std::nullopt;
      eliminate(next);
      left.erase(next);
    }
    if (!(min_sum_ < std::numeric_limits<double>::infinity())) return std::nullopt;
    for (auto choice = choices_.rbegin(); choice != choices_.rend(); ++choice) assign(*choice);
    return std::move(assignment_);
  }

 private:
  /// The better value of an eliminated variable, for all values of those that were its neighbors.
  struct Choice {
    size_t variable;
    std::vector<size_t> neighbors;
    std::vector<bool> best;
  };

  void add(const Factor& factor) {
    if (factor.variables.empty()) min_sum_ += factor.values[0];
    for (const size_t variable : factor.variables) {
      factors_of_[variable].push_back(factors_.size());
      neighbors_[variable].insert(factor.variables.begin(), factor.variables.end());
      neighbors_[variable].erase(variable);
    }
    factors_.push_back(factor);
  }

  /// Replaces all factors of a variable by one of its neighbors.
  void eliminate(size_t variable) {
    Choice choice{variable, {neighbors_[variable].begin(), neighbors_[variable].end()}, {}};
    std::vector<size_t> all = choice.neighbors;
    const auto place = static_cast<size_t>(std::ranges::lower_bound(all, variable) - all.begin());
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(place), variable);
    const std::vector<double> sums = sum(variable, all);
    const size_t below = (size_t{1} << place) - 1;
    Factor rest{choice.neighbors, std::vector<double>(sums.size() / 2)};
    for (size_t index = 0; index < rest.values.size(); ++index) {
      const size_t without = (index & ~below) << 1 | (index & below);
      const double zero = sums[without], one = sums[without | (below + 1)];
      choice.best.push_back(one < zero);
      rest.values[index] = std::min(zero, one);
    }
    for (const size_t neighbor : choice.neighbors) neighbors_[neighbor].erase(variable);
    add(rest);
    choices_.push_back(std::move(choice));
  }

  /// Removes the factors of a variable, and returns their sum as a table of `variables`.
  std::vector<double> sum(size_t of, const std::vector<size_t>& variables) {
    std::vector<double> sums(size_t{1} << variables.size(), 0);
    for (const size_t number : std::vector<size_t>(factors_of_[of])) {
      const Factor factor = std::move(factors_[number]);
      const std::vector<size_t> places = places_in(factor.variables, variables);
      for (size_t index = 0; index < sums.size(); ++index) sums[index] += factor.values[index_in(places, index)];
      for (const size_t variable : factor.variables) std::erase(factors_of_[variable], number);
    }
    return sums;
  }

  void assign(const Choice& choice) {
    size_t index = 0;
    for (size_t i = 0; i < choice.neighbors.size(); ++i)
      index |= static_cast<size_t>(assignment_[choice.neighbors[i]]) << i;
    assignment_[choice.variable] = choice.best[index];
  }

  const size_t max_width_;
  double min_sum_ = 0;
  std::vector<bool> assignment_;
  std::vector<Factor> factors_;
  std::vector<std::set<size_t>> neighbors_;      // by variable: others in its factors
  std::vector<std::vector<size_t>> factors_of_;  // by variable
  std::vector<Choice> choices_;
};

}  // namespace

std::optional<std::vector<bool>> min_sum(std::span<const Factor> factors, size_t variables, size_t max_width) {
  return Elimination(factors, variables, max_width).run();
}

}  // namespace isomer
