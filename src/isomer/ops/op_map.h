#pragma once
// What is known of some of the operators, found by operator without comparing names.

#include <initializer_list>
#include <unordered_map>
#include <utility>

#include "isomer/ops/registry.h"

namespace isomer {

template <class T>
class OpMap {
 public:
  /// By the names of declared operators of the standard domain.
  OpMap(std::initializer_list<std::pair<const char*, T>> entries) {
    for (const auto& [name, entry] : entries) entries_.emplace(&op(name), entry);
  }

  /// Returns the entry of an operator, or nullptr.
  const T* find(const OpDef& op) const {
    const auto found = entries_.find(&op);
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<const OpDef*, T> entries_;  // only for lookups
};

}  // namespace isomer
