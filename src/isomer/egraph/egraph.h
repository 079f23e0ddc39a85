#pragma once
// An e-graph: a compact representation of many equal terms (Nelson's congruence closure; egg's deferred rebuilding).
//
// A class holds nodes that are equal; a node is a label over classes. add() shares equal nodes, merge() makes two
// classes equal, and rebuild() restores congruence for the nodes above them. Merges are stored with their reasons, so
// that every equality can be explained (explain.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace isomer {

using EClassId = uint32_t;
constexpr EClassId kUnbound = UINT32_MAX;  ///< no class yet

/// A node. The caller defines the meaning of labels.
struct ENode {
  uint32_t label = 0;
  std::vector<EClassId> children = {};
  friend bool operator==(const ENode&, const ENode&) = default;
};

class EGraph {
 public:
  /// Labels with this bit ignore the order of their two children; a class has such a node in one order.
  static constexpr uint32_t kCommutative = uint32_t{1} << 31;
  /// Why two classes were merged: a number that the caller chooses, or kCongruence if the nodes have equal children.
  using Reason = uint32_t;
  static constexpr Reason kCongruence = UINT32_MAX;
  struct Union {
    EClassId a;
    EClassId b;
    Reason reason;
  };

  /// Returns the class of this node; a new one if no equal node is known. `fresh`, if given, is set to whether it is
  /// new.
  EClassId add(ENode node, bool* fresh = nullptr);
  /// Like add(), but returns the id of exactly this term: the label over the terms that the children's ids were created
  /// for. If only an equal term is known, the term gets an id of its own in that term's class.
  EClassId add_term(const ENode& node);
  /// Returns the class of this node, if known.
  std::optional<EClassId> lookup(ENode node) const;
  /// Makes two classes equal. Returns whether that was new. Call rebuild() before the next match.
  bool merge(EClassId a, EClassId b, Reason reason = 0);
  /// Restores the invariants after merges: congruent nodes are in one class, and no class has a node twice.
  void rebuild();

  /// Returns the current class of `id`.
  EClassId find(EClassId id) const;
  /// Returns the node over current classes, in the form that nodes() has after rebuild().
  ENode canonical(ENode node) const;
  /// Returns the nodes of a class; their children are up to date after rebuild().
  std::span<const ENode> nodes(EClassId id) const { return classes_[find(id)].nodes; }
  /// Returns the ids that represent their class, ascending.
  std::vector<EClassId> classes() const;
  /// Number of nodes in all classes.
  size_t size() const { return size_; }
  /// Number of ids so far.
  size_t ids() const { return parents_.size(); }
  /// Returns the term that an id was created for: the node with its children at that time.
  const ENode& term(EClassId id) const { return terms_[id]; }
  /// Returns all unions that ever joined two classes, in order: a forest over the ids.
  std::span<const Union> unions() const { return unions_; }

 private:
  struct Class {
    std::vector<ENode> nodes;
    /// Nodes with a child in this class, as of their last update, and their terms.
    std::vector<std::pair<ENode, EClassId>> users;
  };
  struct Hash {
    size_t operator()(const ENode& node) const;
  };

  EClassId new_id(ENode term);
  void repair(EClassId id);

  mutable std::vector<EClassId> parents_;  // union-find
  std::vector<Class> classes_;
  std::vector<ENode> terms_;  // by id
  std::vector<Union> unions_;
  std::unordered_map<ENode, EClassId, Hash> known_;  // up-to-date nodes, each with one of its terms
  std::unordered_map<ENode, EClassId, Hash> exact_;  // the terms of add_term()
  std::vector<EClassId> dirty_;
  size_t size_ = 0;
};

}  // namespace isomer
