#include "isomer/smt/formula.h"

namespace isomer {

Formula::Formula(Kind kind, std::vector<Formula> parts)
    : kind_(kind),
      parts_(std::make_shared<const std::vector<Formula>>(std::move(parts))),
      text_(std::make_shared<std::string>()) {}

Formula equal(const Dim& a, const Dim& b) {
  Dim difference = a - b;
  if (difference.is_const()) return difference.value() == 0;
  // x == y and y == x are the same formula.
  if (difference.terms().front().second < 0) difference = b - a;
  return {Formula::Kind::Zero, difference};
}

Formula at_most(const Dim& a, const Dim& b) {
  const Dim difference = b - a;
  if (difference.is_const()) return difference.value() >= 0;
  return {Formula::Kind::NonNegative, difference};
}

Formula within(const Dim& low, const Dim& a, const Dim& high) { return at_most(low, a) && less(a, high); }

Formula operator!(const Formula& a) {
  switch (a.kind()) {
    case Formula::Kind::True:
      return false;
    case Formula::Kind::False:
      return true;
    case Formula::Kind::Not:
      return a.parts()[0];
    case Formula::Kind::NonNegative:
      return at_most(a.dim(), -1);
    default:
      return {Formula::Kind::Not, {a}};
  }
}

Formula all_of(std::vector<Formula> parts) {
  std::vector<Formula> kept;
  for (Formula& part : parts) {
    if (part.is_false()) return false;
    if (part.is_true()) continue;
    if (part.kind() == Formula::Kind::And)
      kept.insert(kept.end(), part.parts().begin(), part.parts().end());
    else
      kept.push_back(std::move(part));
  }
  if (kept.empty()) return true;
  if (kept.size() == 1) return kept[0];
  return {Formula::Kind::And, std::move(kept)};
}

Formula any_of(std::vector<Formula> parts) {
  std::vector<Formula> kept;
  for (Formula& part : parts) {
    if (part.is_true()) return true;
    if (!part.is_false()) kept.push_back(std::move(part));
  }
  if (kept.empty()) return false;
  if (kept.size() == 1) return kept[0];
  return {Formula::Kind::Or, std::move(kept)};
}

Formula equal(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return false;
  std::vector<Formula> parts;
  for (size_t i = 0; i < a.size(); ++i) parts.push_back(equal(a[i], b[i]));
  return all_of(std::move(parts));
}

const std::string& Formula::str() const {
  static const std::string kTrue = "true";
  static const std::string kFalse = "false";
  if (text_ == nullptr) return kind_ == Kind::True ? kTrue : kFalse;
  if (text_->empty()) *text_ = printed();
  return *text_;
}

std::string Formula::printed() const {
  const auto joined = [&](const char* between) {
    std::string out = "(";
    for (size_t i = 0; i < parts_->size(); ++i) out += (i > 0 ? between : "") + (*parts_)[i].str();
    return out + ")";
  };
  switch (kind_) {
    case Kind::True:
      return "true";
    case Kind::False:
      return "false";
    case Kind::Zero:
      return dim_.str() + " == 0";
    case Kind::NonNegative:
      return dim_.str() + " >= 0";
    case Kind::And:
      return joined(" and ");
    case Kind::Or:
      return joined(" or ");
    case Kind::Not:
      return "not " + (*parts_)[0].str();
  }
  return {};
}

void symbols_of(const Dim& dim, std::set<std::string>& out) {
  for (const auto& [names, coefficient] : dim.terms()) out.insert(names.begin(), names.end());
}

void Formula::symbols(std::set<std::string>& out) const {
  if (kind_ == Kind::Zero || kind_ == Kind::NonNegative) symbols_of(dim_, out);
  if (parts_)
    for (const Formula& part : *parts_) part.symbols(out);
}

}  // namespace isomer
