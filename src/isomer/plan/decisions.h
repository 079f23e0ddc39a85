#pragma once
// Decisions about how a graph is executed. What is not decided is left to the engine.

#include <map>
#include <optional>
#include <string_view>

#include "isomer/base/result.h"
#include "isomer/ir/graph.h"
#include "isomer/plan/layout.h"

namespace isomer {

/// How the kernel of a convolution computes.
enum class Algorithm : uint8_t {
  Direct,    ///< multiplies every weight, in the order that the engine prefers
  Winograd,  ///< transforms tiles, which takes fewer multiplications; in f32
};
std::string_view algorithm_name(Algorithm algorithm);
/// Nothing if there is no such algorithm.
std::optional<Algorithm> algorithm_from_name(std::string_view name);

/// How often a value is computed.
enum class Computation : uint8_t {
  Once,   ///< and kept until its last reader
  Twice,  ///< the second time for its late uses (see second_computations); its memory is free in between
};
std::string_view computation_name(Computation computation);
/// Nothing if there is no such word.
std::optional<Computation> computation_from_name(std::string_view name);

/// The threads of an engine with several streams that run a kernel.
enum class Team : uint8_t {
  One,  ///< of one stream; kernels of other streams may run at the same time
  All,  ///< of all streams; no other kernel runs at the same time
};
std::string_view team_name(Team team);
/// Nothing if there is no such word.
std::optional<Team> team_from_name(std::string_view name);

/// The axis of its result along which an operator is divided into as many parts as an engine has streams.
enum class Division : uint8_t { Axis0, Axis1, Axis2, Axis3 };
std::string_view division_name(Division division);
/// Nothing if there is no such word.
std::optional<Division> division_from_name(std::string_view name);

/// One table for each kind of decision, over the values of one graph: by id, or by name. An engine that cannot obey a
/// decision decides by itself, in its planner and when it runs the graph.
template <class Value>
struct DecisionTables {
  /// The layout of a value where kernels that run later read it. If its own kernel makes it in another layout, it is
  /// converted once. Has no effect on values within a kernel and on inputs.
  std::map<Value, Layout> layouts = {};
  /// The algorithm of the node that computes a value. Other nodes may be part of the same kernel.
  std::map<Value, Algorithm> algorithms = {};
  /// How often a value is computed. Has no effect on inputs, outputs, and values that depend only on constants.
  std::map<Value, Computation> computations = {};
  /// The team that runs the kernel which computes a value. Has no effect on values within a kernel, on an engine
  /// without streams, or with one.
  std::map<Value, Team> teams = {};
  /// How the operator that computes a value is divided (see with_divisions). Has no effect on operators without such
  /// parts, on an engine without streams, or with one.
  std::map<Value, Division> divisions = {};

  size_t size() const;  ///< number of decisions
  bool empty() const { return size() == 0; }
  std::optional<Layout> layout(const Value& value) const { return find(layouts, value); }
  std::optional<Algorithm> algorithm(const Value& value) const { return find(algorithms, value); }
  std::optional<Team> team(const Value& value) const { return find(teams, value); }
  std::optional<Division> division(const Value& value) const { return find(divisions, value); }
  friend bool operator==(const DecisionTables&, const DecisionTables&) = default;

 private:
  template <class Choice>
  static std::optional<Choice> find(const std::map<Value, Choice>& decided, const Value& value) {
    const auto found = decided.find(value);
    return found == decided.end() ? std::nullopt : std::optional(found->second);
  }
};
using Decisions = DecisionTables<ValueId>;

/// What texts call a kind of decision and its choices.
template <class Choice>
struct DecisionKind {
  const char* name;    ///< "layout"
  const char* plural;  ///< "layouts"
  std::string_view (*word)(Choice);
  std::optional<Choice> (*choice)(std::string_view word);
};

/// Calls visit(kind, table...) for each kind of decision, with the table of that kind in each of `decisions`.
template <class Visit, class... Tables>
void for_each_kind(const Visit& visit, Tables&... decisions) {
  visit(DecisionKind<Layout>{"layout", "layouts", layout_name, layout_from_name}, decisions.layouts...);
  visit(DecisionKind<Algorithm>{"algorithm", "algorithms", algorithm_name, algorithm_from_name},
        decisions.algorithms...);
  visit(DecisionKind<Computation>{"computation", "computations", computation_name, computation_from_name},
        decisions.computations...);
  visit(DecisionKind<Team>{"team", "teams", team_name, team_from_name}, decisions.teams...);
  visit(DecisionKind<Division>{"division", "divisions", division_name, division_from_name}, decisions.divisions...);
}

/// Likewise, for a visit that returns a Status. Ends at the first Error and returns it.
template <class Visit, class... Tables>
Status check_each_kind(const Visit& visit, Tables&... decisions) {
  Status status;
  for_each_kind(
      [&](const auto& kind, auto&... decided) {
        if (status) status = visit(kind, decided...);
      },
      decisions...);
  return status;
}

template <class Value>
size_t DecisionTables<Value>::size() const {
  size_t sum = 0;
  for_each_kind([&](const auto&, const auto& decided) { sum += decided.size(); }, *this);
  return sum;
}

/// Adds decisions, about the values to which `image_of` leads: it returns nothing for those without an image. If
/// several have the same image, the first decision of each kind is kept, and so are those that `to` has.
template <class From, class To, class ImageOf>
void add_decisions(const DecisionTables<From>& from, const ImageOf& image_of, DecisionTables<To>& to) {
  for_each_kind(
      [&](const auto&, const auto& decided, auto& out) {
        for (const auto& [value, choice] : decided)
          if (const std::optional<To> image = image_of(value)) out.emplace(*image, choice);
      },
      from, to);
}

}  // namespace isomer
