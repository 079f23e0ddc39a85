#pragma once
// An e-graph: many equal terms in little room (Nelson's congruence closure; egg's deferred rebuilding).
//
// A class holds nodes that are equal; a node is a label over classes. add() finds equal nodes again, merge() says that
// two classes are equal, and rebuild() draws the conclusions for the nodes above them. What was merged and why is kept,
// so that every equality can be explained (explain.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace isomer {

using EClassId = uint32_t;
constexpr EClassId kUnbound = UINT32_MAX;  ///< no class, so far

/// What a label stands for is the caller's affair.
struct ENode {
  uint32_t label = 0;
  std::vector<EClassId> children = {};
  friend bool operator==(const ENode&, const ENode&) = default;
};

class EGraph {
 public:
  /// A label with this bit does not care about the order of its two children; a class has such a node in one order.
  static constexpr uint32_t kCommutative = uint32_t{1} << 31;
  /// Why two classes were merged: a number of the caller, or that the nodes have equal children.
  using Reason = uint32_t;
  static constexpr Reason kCongruence = UINT32_MAX;
  struct Union {
    EClassId a;
    EClassId b;
    Reason reason;
  };

  /// The class of this node; a new one when no equal node is known. `fresh`, if given, is told which.
  EClassId add(ENode node, bool* fresh = nullptr);
  /// As add(), but the id of exactly this term: of the label over the terms that the children's ids were made for. A
  /// term that is known by an equal one only gets an id of its own in that one's class.
  EClassId add_term(const ENode& node);
  /// The class of this node, when it is known.
  std::optional<EClassId> lookup(ENode node) const;
  /// Says that both are equal. Returns whether that was new. rebuild() before the next match.
  bool merge(EClassId a, EClassId b, Reason reason = 0);
  /// Restores the invariants after merges: congruent nodes are in one class, and no class has a node twice.
  void rebuild();

  /// The class that `id` belongs to by now.
  EClassId find(EClassId id) const;
  /// The nodes of a class; their children are up to date after rebuild().
  std::span<const ENode> nodes(EClassId id) const { return classes_[find(id)].nodes; }
  /// Ids that stand for a class of their own, ascending.
  std::vector<EClassId> classes() const;
  /// Nodes in all classes.
  size_t size() const { return size_; }
  /// Ids given so far.
  size_t ids() const { return parents_.size(); }
  /// What an id was made for: the node with the children that it had then.
  const ENode& term(EClassId id) const { return terms_[id]; }
  /// All that ever joined two classes, in order: a forest over the ids.
  std::span<const Union> unions() const { return unions_; }

 private:
  struct Class {
    std::vector<ENode> nodes;
    /// Nodes with a child in this class, as they were when last seen to, and the terms that they are.
    std::vector<std::pair<ENode, EClassId>> users;
  };
  struct Hash {
    size_t operator()(const ENode& node) const;
  };

  ENode canonical(ENode node) const;
  EClassId new_id(ENode term);
  void repair(EClassId id);

  mutable std::vector<EClassId> parents_;  // union-find
  std::vector<Class> classes_;
  std::vector<ENode> terms_;  // by id
  std::vector<Union> unions_;
  std::unordered_map<ENode, EClassId, Hash> known_;  // up-to-date nodes, each with a term that it is
  std::unordered_map<ENode, EClassId, Hash> exact_;  // what add_term() was asked for
  std::vector<EClassId> dirty_;
  size_t size_ = 0;
};

}  // namespace isomer
