#pragma once
// Integers that once satisfied a question: most further questions that can be satisfied are so by one of them, and to
// evaluate is a thousand times quicker than to solve.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "isomer/smt/formula.h"

namespace isomer {

/// The symbols of formulas as numbers, in the order in which they are first seen.
using SymbolIds = std::unordered_map<std::string, size_t>;

/// Numbers symbols anew, in the order in which a question names them: questions that differ in names alone get one key.
class Renumbering {
 public:
  /// Appends the new number to the key.
  void append(size_t symbol, std::string& key);

 private:
  std::vector<uint32_t> numbers_;  ///< by symbol; 0 where there is none yet
  uint32_t last_ = 0;
};

/// A polynomial over numbered symbols.
class NumberedDim {
 public:
  NumberedDim() = default;
  NumberedDim(const Dim& dim, SymbolIds& ids);

  /// The value, symbols beyond the model being 0; nothing where it does not fit 64 bits.
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

  /// Whether the model satisfies it; nothing where its numbers do not fit 64 bits.
  std::optional<bool> holds(const std::vector<int64_t>& model) const;
  /// Appends what it says, without names.
  void append_to(std::string& key, Renumbering& renumbering) const;

 private:
  Formula::Kind kind_;
  NumberedDim dim_;
  std::vector<NumberedFormula> parts_;
};

/// The models that served last, the latest first.
class Models {
 public:
  using Model = std::vector<int64_t>;  ///< by the number of the symbol

  /// Whether `satisfies` is true of some model, which then comes first.
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
