#include "isomer/plan/decisions.h"

#include <array>

namespace isomer {
namespace {

constexpr std::array<std::string_view, 4> kDivisions{"axis0", "axis1", "axis2", "axis3"};

template <class Choice, size_t N>
std::optional<Choice> from_name(const std::array<Choice, N>& all, std::string_view (*name_of)(Choice),
                                std::string_view name) {
  for (const Choice choice : all)
    if (name_of(choice) == name) return choice;
  return std::nullopt;
}

}  // namespace

std::string_view layout_name(Layout layout) { return layout == Layout::Blocked ? "blocked" : "plain"; }

std::string_view algorithm_name(Algorithm algorithm) {
  return algorithm == Algorithm::Winograd ? "winograd" : "direct";
}

std::string_view computation_name(Computation computation) {
  return computation == Computation::Twice ? "twice" : "once";
}

std::string_view team_name(Team team) { return team == Team::All ? "all" : "one"; }

std::string_view division_name(Division division) { return kDivisions[static_cast<size_t>(division)]; }

std::optional<Layout> layout_from_name(std::string_view name) {
  return from_name(std::array{Layout::Plain, Layout::Blocked}, layout_name, name);
}

std::optional<Algorithm> algorithm_from_name(std::string_view name) {
  return from_name(std::array{Algorithm::Direct, Algorithm::Winograd}, algorithm_name, name);
}

std::optional<Computation> computation_from_name(std::string_view name) {
  return from_name(std::array{Computation::Once, Computation::Twice}, computation_name, name);
}

std::optional<Team> team_from_name(std::string_view name) {
  return from_name(std::array{Team::One, Team::All}, team_name, name);
}

std::optional<Division> division_from_name(std::string_view name) {
  return from_name(std::array{Division::Axis0, Division::Axis1, Division::Axis2, Division::Axis3}, division_name, name);
}

}  // namespace isomer
