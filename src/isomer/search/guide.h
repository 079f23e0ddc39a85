#pragma once
// Leads from a graph to one that was extracted from an e-graph, by single steps: rules applied to graphs.
//
// A proof of equality in an e-graph uses rules in both directions, on terms that are trees. A certificate needs steps
// on whole graphs, each from the source of a rule to its target. So the guide looks for such steps, with the
// applications that the saturation recorded: from the outputs down, at each value that is computed by another node than
// the chosen one, it finds the shortest sequence of applications within the class from one node to the other. If the
// next application matches operands in another form than they have, they are brought into that form first. There may be
// no such steps, for instance if two forms of one value are needed, and neither leads to the other.

#include <functional>
#include <unordered_map>

#include "isomer/egraph/apply.h"
#include "isomer/egraph/locate.h"
#include "isomer/rules/match.h"

namespace isomer {

/// The node that is wanted for each class that is needed.
using ChosenNodes = std::function<std::optional<ENode>(EClassId)>;

struct GuideStep {
  std::optional<Match> match = std::nullopt;  ///< nothing: the graph is reached, or there is no step
  /// The class and the chosen node that the step is for, or for which there is none; nothing: the graph is reached.
  std::optional<std::pair<EClassId, ENode>> goal = std::nullopt;
};

class Guide {
 public:
  /// Keeps references. `terms` must have been rebuilt; the directions of the applications have the numbers of `rules`.
  Guide(const TermGraph& terms, std::span<const TermApplication> applications, std::span<const Rule> rules);

  /// Returns the next step from a graph towards the chosen one. Outputs are reached one after the other, in this order.
  /// Steps for one of them can make another one impossible, so it may help to change the order.
  enum class Order : uint8_t { FirstOutputFirst, LastOutputFirst };
  GuideStep next(const Graph& graph, const ChosenNodes& chosen, Order order = Order::FirstOutputFirst) const;

 private:
  friend class GuideSearch;
  /// An application at one of its roots: within a class, it leads from one node to another.
  struct Edge {
    const TermApplication* application;
    size_t root;
    ENode from;
    std::optional<ENode> to;  ///< nothing: a value that a variable matches, in whatever form it is then
  };

  const TermGraph& terms_;
  const std::span<const Rule> rules_;
  std::unordered_map<EClassId, std::vector<Edge>> edges_;  // by class; looked up only
};

}  // namespace isomer
