#include "isomer/smt/models.h"

#include <algorithm>

namespace isomer {
namespace {

constexpr size_t kMaxModels = 64;

template <class T>
void append_bytes(T value, std::string& key) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void Renumbering::append(size_t symbol, std::string& key) {
  if (symbol >= numbers_.size()) numbers_.resize(symbol + 1, 0);
  if (numbers_[symbol] == 0) numbers_[symbol] = ++last_;
  append_bytes(numbers_[symbol], key);
}

NumberedDim::NumberedDim(const Dim& dim, SymbolIds& ids) {
  for (const auto& [names, coefficient] : dim.terms()) {
    Term& term = terms_.emplace_back(Term{coefficient, {}});
    for (const std::string& name : names) term.symbols.push_back(ids.try_emplace(name, ids.size()).first->second);
  }
}

std::optional<int64_t> NumberedDim::value(const std::vector<int64_t>& model) const {
  int64_t sum = 0;
  for (const Term& term : terms_) {
    int64_t product = term.coefficient;
    for (const size_t symbol : term.symbols)
      if (__builtin_mul_overflow(product, symbol < model.size() ? model[symbol] : 0, &product)) return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

void NumberedDim::append_to(std::string& key, Renumbering& renumbering) const {
  append_bytes(static_cast<uint32_t>(terms_.size()), key);
  for (const Term& term : terms_) {
    append_bytes(term.coefficient, key);
    append_bytes(static_cast<uint32_t>(term.symbols.size()), key);
    for (const size_t symbol : term.symbols) renumbering.append(symbol, key);
  }
}

NumberedFormula::NumberedFormula(const Formula& formula, SymbolIds& ids) : kind_(formula.kind()) {
  if (kind_ == Formula::Kind::Zero || kind_ == Formula::Kind::NonNegative) {
    dim_ = NumberedDim(formula.dim(), ids);
  } else if (kind_ != Formula::Kind::True && kind_ != Formula::Kind::False) {
    for (const Formula& part : formula.parts()) parts_.emplace_back(part, ids);
  }
}

std::optional<bool> NumberedFormula::holds(const std::vector<int64_t>& model) const {
  switch (kind_) {
    case Formula::Kind::True:
    case Formula::Kind::False:
      return kind_ == Formula::Kind::True;
    case Formula::Kind::Zero:
    case Formula::Kind::NonNegative: {
      const auto value = dim_.value(model);
      if (!value) return std::nullopt;
      return kind_ == Formula::Kind::Zero ? *value == 0 : *value >= 0;
    }
    case Formula::Kind::Not: {
      const auto part = parts_[0].holds(model);
      if (!part) return std::nullopt;
      return !*part;
    }
    case Formula::Kind::And:
    case Formula::Kind::Or:
      break;
  }
  const bool stops = kind_ == Formula::Kind::Or;
  for (const NumberedFormula& part : parts_) {
    const auto one = part.holds(model);
    if (!one || *one == stops) return one;
  }
  return !stops;
}

void NumberedFormula::append_to(std::string& key, Renumbering& renumbering) const {
  append_bytes(kind_, key);
  dim_.append_to(key, renumbering);
  append_bytes(static_cast<uint32_t>(parts_.size()), key);
  for (const NumberedFormula& part : parts_) part.append_to(key, renumbering);
}

void Models::to_front(size_t i) {
  const auto at = models_.begin() + static_cast<std::ptrdiff_t>(i);
  std::rotate(models_.begin(), at, at + 1);
}

void Models::remember(Model model) {
  if (models_.size() == kMaxModels) models_.pop_back();
  models_.push_back(std::move(model));
  to_front(models_.size() - 1);
}

}  // namespace isomer
