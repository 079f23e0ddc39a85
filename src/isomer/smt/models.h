#pragma once
// A cache of integers that satisfied earlier questions. Most further satisfiable questions are satisfied by one of
// these models, and evaluation is a thousand times faster than solving.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "isomer/smt/formula.h"

namespace isomer {

/// Numbers for the symbols of formulas, in the order of first use.
using SymbolIds = std::unordered_map<std::string, size_t>;

/// Renumbers symbols in the order of their first use in a question, so that questions that differ only in names have
/// the same key.
class Renumbering {
 public:
  /// Appends the new number to the key.
  void append(size_t symbol, std::string& key);

 private:
  std::vector<uint32_t> numbers_;  ///< by symbol; 0 if it has none yet
  uint32_t last_ = 0;
};

/// A polynomial over numbered symbols.
class NumberedDim {
 public:
  NumberedDim() = default;
  NumberedDim(const Dim& dim, SymbolIds& ids);

  /// The value; symbols that the model does not have are 0. Returns nullopt if the value does not fit into 64 bits.
  std::optional<int64_t> value(const std::vector<int64_t>& model) const;
  void append_to(std::string& key, Renumbering& renumbering) const;

 private:
  struct Term {
    int64_t coefficient;
    std::vector<size_t> symbols;
  };
  std::vector<Term> terms_;
};

/// A formula over numbered symbols.
class NumberedFormula {
 public:
  NumberedFormula(const Formula& formula, SymbolIds& ids);

  /// Whether the model satisfies the formula; nullopt if numbers do not fit into 64 bits.
  std::optional<bool> holds(const std::vector<int64_t>& model) const;
  /// Appends the formula without names.
  void append_to(std::string& key, Renumbering& renumbering) const;

 private:
  Formula::Kind kind_;
  NumberedDim dim_;
  std::vector<NumberedFormula> parts_;
};

/// The most recently used models, the latest first.
class Models {
 public:
  using Model = std::vector<int64_t>;  ///< by number of the symbol

  /// Whether `satisfies` returns true for some model. That model then moves to the front.
  template <class Satisfies>
  bool any(const Satisfies& satisfies) {
    for (size_t i = 0; i < models_.size(); ++i) {
      if (!satisfies(models_[i])) continue;
      to_front(i);
      return true;
    }
    return false;
  }
  void remember(Model model);

 private:
  void to_front(size_t i);

  std::vector<Model> models_;
};

}  // namespace isomer
