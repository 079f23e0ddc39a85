#include "isomer/search/report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "isomer/cost/objective.h"

namespace isomer {

CostChange::CostChange(double before, double after)
    : by(after - before), penalized(before >= kBeyondLimits || after >= kBeyondLimits) {}

void join_steps(std::span<SearchStep> steps, const CostChange& change) {
  for (SearchStep& step : steps) {
    step.joined = &step != &steps.front();
    step.delta = step.joined ? 0 : change.by;
    step.penalized = !step.joined && change.penalized;
  }
}

void SearchReport::add_counts(const SearchReport& other) {
  candidates += other.candidates;
  duplicates += other.duplicates;
  matches += other.matches;
  seconds += other.seconds;
  for (const std::string& text : other.notes) note(text);
}

void SearchReport::also_ended(const std::string& reason) {
  const auto rank = [](const std::string& one) {
    constexpr std::array<std::string_view, 3> kWeak = {"", "exhausted", "growth limit"};
    constexpr std::array<std::string_view, 2> kStrong = {"time budget", "interrupted"};
    const auto weak = std::ranges::find(kWeak, one) - kWeak.begin();
    const auto strong = std::ranges::find(kStrong, one);
    return strong == kStrong.end() ? weak : std::ssize(kWeak) + 1 + (strong - kStrong.begin());
  };
  if (rank(reason) >= rank(stop_reason)) stop_reason = reason;
}

void SearchReport::append(SearchReport next, double began) {
  algorithm = algorithm.empty() ? next.algorithm : algorithm + ", " + next.algorithm;
  stop_reason = next.stop_reason;
  add_counts(next);
  for (SearchStep& step : next.steps) steps.push_back(std::move(step));
  for (Rejection& one : next.rejected) rejected.push_back(std::move(one));
  measured.insert(measured.end(), next.measured.begin(), next.measured.end());
  for (const SearchProgress& one : next.progress) progress.push_back({began + one.seconds, one.cost});
}

void SearchReport::note(const std::string& text) {
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
}

void SearchReport::reject(const std::string& rule, const Error& error) {
  Rejection rejection{rule, error.message};
  if (std::ranges::find(rejected, rejection) == rejected.end()) rejected.push_back(std::move(rejection));
}

}  // namespace isomer
