#include "isomer/smt/align.h"

#include <algorithm>

namespace isomer {
namespace {

constexpr size_t kMaxTrials = 64;

bool alike(const FactorNode& a, const FactorNode& b) {
  return a.kind == b.kind && a.name == b.name && a.index.size() == b.index.size() &&
         a.arguments.size() == b.arguments.size() && a.bounds.size() == b.bounds.size();
}

/// Collects the pairs of indices that must be equal if two factors are equal. For functions, these are the indices in
/// their arguments, if each argument is a single product.
void pair_up(const FactorNode& a, const FactorNode& b, std::vector<std::pair<Dim, Dim>>& out) {
  for (size_t i = 0; i < a.index.size(); ++i) out.emplace_back(a.index[i], b.index[i]);
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    const auto& left = a.arguments[i].products();
    const auto& right = b.arguments[i].products();
    for (size_t p = 0; p < std::min(left.size(), right.size()); ++p)
      for (size_t f = 0; f < std::min(left[p].factors.size(), right[p].factors.size()); ++f)
        if (alike(*left[p].factors[f], *right[p].factors[f])) pair_up(*left[p].factors[f], *right[p].factors[f], out);
  }
}

/// Whether a symbol is a summation index made by a scope.
bool is_index(const std::string& name) {
  return name.size() > 1 && name[0] == 'k' && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

class Alignment {
 public:
  Alignment(Scope& scope, const Product& from, const Product& to,
            const std::function<bool(const IndexChange&, const std::vector<size_t>&)>& check)
      : scope_(scope),
        from_(from),
        to_(to),
        check_(check),
        partner_(from.factors.size(), 0),
        used_(to.factors.size()) {}

  bool run() {
    if (from_.bounds.size() != to_.bounds.size() || from_.factors.size() != to_.factors.size()) return false;
    return match(0);
  }

 private:
  bool match(size_t i) {
    if (i == from_.factors.size()) return solved();
    for (size_t j = 0; j < to_.factors.size(); ++j) {
      if (used_[j] || !alike(*from_.factors[i], *to_.factors[j])) continue;
      used_[j] = true;
      partner_[i] = j;
      const bool found = match(i + 1);
      used_[j] = false;
      if (found) return true;
      if (trials_ > kMaxTrials) return false;
    }
    return false;
  }

  /// Derives bounds from the indices of matched factors. The remaining bounds are tried in every order.
  bool solved() {
    change_.clear();
    free_ = {to_.bounds.begin(), to_.bounds.end()};
    std::vector<std::pair<Dim, Dim>> pairs;
    for (size_t i = 0; i < from_.factors.size(); ++i) pair_up(*from_.factors[i], *to_.factors[partner_[i]], pairs);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [left, right] : pairs) more = read_off(left, right) || more;
    }
    std::vector<std::string> left;
    for (const std::string& bound : from_.bounds)
      if (!change_.contains(bound)) left.push_back(bound);
    std::vector<std::string> order(free_.begin(), free_.end());
    do {
      IndexChange all = change_;
      for (size_t i = 0; i < left.size(); ++i) all.emplace(left[i], Dim::symbol(order[i]));
      if (check_(all, partner_)) return true;
      if (++trials_ > kMaxTrials) return false;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  /// Solves left(v) = right for a bound v that occurs on its own with factor 1 or -1.
  bool read_off(const Dim& left, const Dim& right) {
    const Dim known = scope_.substitute(left, change_);
    std::optional<std::pair<std::string, int64_t>> unknown;
    for (const auto& [names, coefficient] : known.terms()) {
      for (const std::string& name : names) {
        if (std::ranges::find(from_.bounds, name) == from_.bounds.end() || change_.contains(name)) continue;
        if (unknown || names.size() > 1 || (coefficient != 1 && coefficient != -1)) return false;
        unknown.emplace(name, coefficient);
      }
    }
    if (!unknown) return false;
    const Dim value = Dim(unknown->second) * (right - (known - Dim(unknown->second) * Dim::symbol(unknown->first)));
    const auto bound = only_bound(value);
    if (!bound) return false;
    free_.erase(*bound);
    change_.emplace(unknown->first, value);
    return true;
  }

  /// The one free bound of `to_` in `value`, if its factor is 1 or -1 and the other terms have no summation index.
  std::optional<std::string> only_bound(const Dim& value) const {
    std::optional<std::string> found;
    for (const auto& [names, coefficient] : value.terms()) {
      for (const std::string& name : names) {
        if (std::ranges::find(to_.bounds, name) == to_.bounds.end()) {
          const auto within = scope_.symbols_in(Dim::symbol(name));
          if (std::ranges::any_of(within, is_index)) return std::nullopt;
          continue;
        }
        if (found || names.size() > 1 || (coefficient != 1 && coefficient != -1)) return std::nullopt;
        found = name;
      }
    }
    return found && free_.contains(*found) ? found : std::nullopt;
  }

  Scope& scope_;
  const Product& from_;
  const Product& to_;
  const std::function<bool(const IndexChange&, const std::vector<size_t>&)>& check_;
  std::vector<size_t> partner_;
  std::vector<bool> used_;
  IndexChange change_;
  std::set<std::string> free_;
  size_t trials_ = 0;
};

}  // namespace

bool for_each_alignment(Scope& scope, const Product& from, const Product& to,
                        const std::function<bool(const IndexChange&, const std::vector<size_t>&)>& check) {
  return Alignment(scope, from, to, check).run();
}

}  // namespace isomer
