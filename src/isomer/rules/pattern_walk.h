#pragma once
// Backtracking over operands and variables of a pattern: what the matcher of graphs and that of e-graphs have in
// common.

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isomer/base/function_ref.h"
#include "isomer/rules/expr.h"
#include "isomer/rules/rule.h"
#include "isomer/rules/walk.h"

namespace isomer {

/// Each way to satisfy a part of a pattern calls its continuation once. Then its variables are unbound again. The class
/// `Matcher` derives from PatternWalk<Matcher>. It defines how single terms match:
///     bool full()                                      whether to stop
///     void one(term, value, next)                      matches a term with one value
///     void results(term, values, next)                 matches an operator with the first values; `next` takes their
///                                                      number
///     void two_values(name)                            a variable would stand for two values
///     void wrong_count(parent, more)                   a node has more or fewer operands than the pattern
///     bool alike(a, b)                                 whether values are probably of the same sequence
template <class Matcher>
class PatternWalk {
 protected:
  using Next = FunctionRef<void()>;

  /// Matches the terms from number `t` on with the values from number `o` on. `parent`: whose operands they are;
  /// nullptr if they are none.
  void operands(const Term* parent, std::span<const Term> terms, size_t t, std::span<const ValueId> ids, size_t o,
                Next next) {
    if (self().full()) return;
    if (t == terms.size()) {
      if (o == ids.size()) return next();
      return self().wrong_count(parent, true);
    }
    const Term& term = terms[t];
    const size_t left = ids.size() - o;
    const auto rest = [&](size_t n) { operands(parent, terms, t + 1, ids, o + n, next); };
    if (term.repeated || (term.kind == Term::Kind::Sequence && !repetition_)) {
      const size_t min = std::max<size_t>(term.repeated ? 1 : 0, t + 1 == terms.size() ? left : 0);
      for (size_t n = min; n <= left; ++n) {
        if (term.repeated)
          repeated(term, ids.subspan(o, n), [&] { rest(n); });
        else
          sequence(term.name, ids.subspan(o, n), [&] { rest(n); });
      }
      return;
    }
    if (left == 0) return self().wrong_count(parent, false);
    if (term.kind == Term::Kind::Apply) return self().results(term, ids.subspan(o), rest);
    self().one(term, ids[o], [&] { rest(1); });
  }

  /// Runs `next` within this repetition of `term...`.
  void repeat(std::optional<size_t> repetition, Next next) {
    std::swap(repetition, repetition_);
    next();
    std::swap(repetition, repetition_);
  }

  /// Runs `next` while so many sequences are complete: a repeated term adds no elements to those that were bound before
  /// it began.
  void with_complete(size_t sequences, Next next) {
    std::swap(sequences, complete_);
    next();
    std::swap(sequences, complete_);
  }

  /// Whether the sequences of a repeated term have as many elements as it has repetitions. Those that were bound before
  /// may have more.
  bool has_all_elements(const Term& term, size_t repetitions) const {
    return !any_sequence(term, [&](const std::string& name) {
      const auto* bound = binding_.sequence(name);
      return bound != nullptr && bound->size() != repetitions;
    });
  }

  /// `?x`.
  void value(const std::string& name, ValueId id, Next next) {
    if (const ValueId* bound = binding_.value(name)) {
      if (*bound == id) return next();
      return self().two_values(name);
    }
    binding_.values.emplace_back(name, id);
    next();
    binding_.values.pop_back();
  }

  /// `@x` in a repetition: its element for this repetition.
  void element(const std::string& name, ValueId id, Next next) {
    if (!repetition_) return;
    const size_t n = *repetition_;
    auto found = std::ranges::find(binding_.sequences, name, &std::pair<std::string, std::vector<ValueId>>::first);
    if (found == binding_.sequences.end()) {
      if (n != 0) return;
      return with_sequence(name, {id}, next);
    }
    if (n < found->second.size()) {
      if (found->second[n] == id) next();
      return;
    }
    const auto at = static_cast<size_t>(found - binding_.sequences.begin());
    if (n > found->second.size() || at < complete_) return;
    found->second.push_back(id);
    next();
    binding_.sequences[at].second.pop_back();
  }

  /// Whether the term names an attribute.
  static bool names(const Term& term, std::string_view attribute) {
    return std::ranges::any_of(term.attrs, [&](const auto& named) { return named.first == attribute; });
  }
  /// Whether the attributes that the term does not name have their presets.
  static bool others_are_preset(const Term& term, const Attrs& attrs) {
    return std::ranges::all_of(attrs.entries(), [&](const Attrs::Entry& entry) {
      if (names(term, entry.first)) return true;
      const AttrDef* def = term.op->find_attr(entry.first);
      return def != nullptr && def->preset && *def->preset == entry.second;
    });
  }

  /// The attributes that the term does not name.
  static Attrs others(const Term& term, const Attrs& attrs) {
    if (term.attrs.empty()) return attrs;
    std::vector<Attrs::Entry> out;
    out.reserve(attrs.entries().size());
    std::ranges::copy_if(attrs.entries(), std::back_inserter(out),
                         [&](const Attrs::Entry& entry) { return !names(term, entry.first); });
    return Attrs(std::move(out));
  }
  /// Whether these are the attributes `expected`. Quicker than to make them.
  static bool others_equal(const Term& term, const Attrs& attrs, const Attrs& expected) {
    if (term.attrs.empty()) return attrs == expected;
    auto next = expected.entries().begin();
    for (const Attrs::Entry& entry : attrs.entries())
      if (!names(term, entry.first) && (next == expected.entries().end() || *next++ != entry)) return false;
    return next == expected.entries().end();
  }

  /// In which orders of its operands a commutative operator matches.
  enum class Orders : uint8_t {
    All,
    Counted,  ///< in both, within a repeated operand
    One,      ///< in the given order, or in the other one if no repetition goes on from that
  };

  Binding& binding_;
  std::optional<size_t> repetition_;
  size_t complete_ = 0;  // number of sequences that get no more elements
  Orders orders_ = Orders::All;
  size_t open_orders_ = 0;      // operators that match in both orders, of those that are matched now
  size_t max_open_orders_ = 8;  // n of them have 2^n matches
  size_t reached_ = 0;          // how often a repetition in one order went on

 private:
  friend Matcher;
  /// Binds variables in `binding`, which is empty before and after each walk.
  explicit PatternWalk(Binding& binding) : binding_(binding) {}

  Matcher& self() { return static_cast<Matcher&>(*this); }

  /// A repeated operand.
  void repeated(const Term& term, std::span<const ValueId> ids, Next next) {
    const size_t outer = complete_;
    with_complete(binding_.sequences.size(), [&] {
      repetitions(term, ids, 0, [&] {
        if (has_all_elements(term, ids.size())) with_complete(outer, next);
      });
    });
  }

  void repetitions(const Term& term, std::span<const ValueId> ids, size_t n, Next next) {
    if (n == ids.size()) return with_orders(Orders::All, [&] { repeat(std::nullopt, next); });
    const auto rest = [&] { repetitions(term, ids, n + 1, next); };
    repeat(n, [&] {
      if (open_orders_ < max_open_orders_) return with_orders(Orders::Counted, [&] { self().one(term, ids[n], rest); });
      // One order of this repetition: if possible, one in which its elements are like those of the first repetition.
      const size_t before = reached_;
      with_orders(Orders::One, [&] { self().one(term, ids[n], [&] { go_on(is_like_first(n), rest); }); });
      if (reached_ == before) with_orders(Orders::One, [&] { self().one(term, ids[n], [&] { go_on(true, rest); }); });
    });
  }

  void go_on(bool fits, Next rest) {
    if (!fits) return;
    ++reached_;
    rest();
  }

  void with_orders(Orders orders, Next next) {
    std::swap(orders, orders_);
    next();
    std::swap(orders, orders_);
  }

  /// Whether the elements that this repetition has in sequences are like those of the first one.
  bool is_like_first(size_t n) {
    return std::ranges::all_of(binding_.sequences, [&](const auto& named) {
      return named.second.size() <= n || self().alike(named.second[n], named.second[0]);
    });
  }

  /// `@x` outside of repetitions.
  void sequence(const std::string& name, std::span<const ValueId> ids, Next next) {
    if (const auto* bound = binding_.sequence(name)) {
      if (std::ranges::equal(*bound, ids)) next();
      return;
    }
    with_sequence(name, {ids.begin(), ids.end()}, next);
  }

  void with_sequence(const std::string& name, std::vector<ValueId> ids, Next next) {
    binding_.sequences.emplace_back(name, std::move(ids));
    next();
    binding_.sequences.pop_back();
  }
};

}  // namespace isomer
