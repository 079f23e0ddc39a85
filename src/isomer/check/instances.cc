#include "isomer/check/instances.h"

#include <algorithm>
#include <numeric>

#include "isomer/check/attr_domains.h"
#include "isomer/check/node_choices.h"
#include "isomer/check/operand_shapes.h"

namespace isomer {
namespace {

using Kind = Instance::Value::Kind;
using Next = FunctionRef<void()>;
using NextValues = FunctionRef<void(const std::vector<ValueId>&)>;

/// Returns positions along the longest axis, counted from the front and from the back; of a long axis, the first two
/// and the last.
Ints positions_in(const TensorType& type) {
  const auto dims = concrete(*type.shape);
  const int64_t extent = !dims || dims->empty() ? 0 : std::ranges::max(*dims);
  if (extent > 4) return {0, 1, extent - 1, -1, -extent};
  Ints out(static_cast<size_t>(2 * extent));
  std::iota(out.begin(), out.end(), -extent);
  return out;
}

/// Returns lists of `positions`: all whose length is one of `lengths` and at most 3, and the first n for every larger
/// n.
std::vector<Ints> position_lists(const Ints& positions, const Ints& lengths) {
  std::vector<Ints> out;
  if (positions.empty()) return out;
  for (const int64_t length : lengths) {
    if (length > 3) continue;
    std::vector<Ints> lists = lists_of(static_cast<size_t>(length), positions);
    std::move(lists.begin(), lists.end(), std::back_inserter(out));
  }
  const int64_t extent = std::ranges::max(positions) + 1;
  for (int64_t length = 4; length <= extent; ++length) {
    Ints& first = out.emplace_back(static_cast<size_t>(length));
    std::iota(first.begin(), first.end(), 0);
  }
  return out;
}

/// Returns the numbers of both lists, ascending.
Ints joined(const Ints& a, const Ints& b) {
  std::set<int64_t> out(a.begin(), a.end());
  out.insert(b.begin(), b.end());
  return {out.begin(), out.end()};
}

/// Backtracks over terms: first operands, then attributes, then inference, and conditions as soon as they are decided.
class Generator {
 public:
  Generator(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
            const std::function<bool(const Instance&)>& visit)
      : rule_(rule),
        bounds_(bounds),
        visit_(visit),
        budget_(bounds, max_steps),
        partial_(rule),
        nodes_(bounds, budget_, partial_),
        extents_(joined(bounds.extents, bounds.spatial)),
        extents_and_one_(joined(extents_, {1})),
        shapes_(small_shapes(bounds.rank, extents_)) {}

  bool run() {
    source(0);
    return !budget_.stopped();
  }

 private:
  void source(size_t i) {
    if (budget_.stopped()) return;
    if (i == rule_.sources.size()) return leaf();
    const Term& term = rule_.sources[i];
    if (!term.repeated) {
      return apply(term, [&](const std::vector<ValueId>&) { partial_.with_root([&] { source(i + 1); }); });
    }
    for_lengths(term, [&](size_t n) { siblings(term, i, n, 0); });
  }

  void siblings(const Term& term, size_t i, size_t n, size_t done) {
    if (done == n) {
      repetition_.reset();
      return partial_.bind_all_of(term, [&] { source(i + 1); });
    }
    repetition_ = done;
    apply(term, [&](const std::vector<ValueId>&) {
      partial_.with_root([&] { siblings(term, i, n, done + 1); });
      repetition_ = done;
    });
    repetition_.reset();
  }

  void leaf() {
    if (partial_.instance().max_rank() != bounds_.rank) return;
    if (!visit_(partial_.instance())) budget_.stop();
  }

  /// Tries the lengths of a repeated term: that of its bound sequences, or all within bounds.
  void for_lengths(const Term& term, FunctionRef<void(size_t)> next) {
    for (const Term* inner : sequences_of(term))
      if (const auto* bound = partial_.binding().sequence(inner->name)) return next(bound->size());
    for (const size_t n : budget_.order(bounds_.max_sequence)) next(n + 1);
  }

  void apply(const Term& term, NextValues next) {
    std::vector<ValueId> ids;
    operands(term, 0, ids, [&] { nodes_.each(term, ids, repetition_, next); });
  }

  void operands(const Term& parent, size_t t, std::vector<ValueId>& ids, Next next) {
    if (budget_.stopped() || ids.size() > parent.op->max_operands) return;
    if (t == parent.operands.size()) {
      if (ids.size() >= parent.op->min_operands) next();
      return;
    }
    const Term& term = parent.operands[t];
    const size_t size = ids.size();
    const auto rest = [&] { operands(parent, t + 1, ids, next); };
    if (term.repeated) {
      for_lengths(term, [&](size_t n) { repeated(parent, term, ids, n, 0, rest); });
    } else if (term.kind == Term::Kind::Sequence && !repetition_) {
      if (const auto* bound = partial_.binding().sequence(term.name)) {
        ids.insert(ids.end(), bound->begin(), bound->end());
        rest();
        ids.resize(size);
      } else {
        for (const size_t n : budget_.order(bounds_.max_sequence + 1)) sequence(term.name, *parent.op, ids, n, rest);
      }
    } else {
      const std::vector<ValueId> earlier = ids;
      this->term(term, {parent.op, earlier}, [&](const std::vector<ValueId>& values) {
        ids.insert(ids.end(), values.begin(), values.end());
        rest();
        ids.resize(size);
      });
    }
  }

  void repeated(const Term& parent, const Term& term, std::vector<ValueId>& ids, size_t n, size_t done, Next next) {
    if (done == n) {
      repetition_.reset();
      return partial_.bind_all_of(term, next);
    }
    repetition_ = done;
    const size_t size = ids.size();
    const std::vector<ValueId> earlier = ids;
    this->term(term, {parent.op, earlier}, [&](const std::vector<ValueId>& values) {
      ids.insert(ids.end(), values.begin(), values.end());
      repeated(parent, term, ids, n, done + 1, next);
      ids.resize(size);
      repetition_ = done;
    });
    repetition_.reset();
  }

  struct Position {
    const OpDef* op;
    std::span<const ValueId> earlier;
  };

  void term(const Term& term, const Position& at, NextValues next) {
    if (budget_.stopped()) return;
    switch (term.kind) {
      case Term::Kind::Apply:
        return apply(term, next);
      case Term::Kind::Literal:
        return fresh(at, "", Kind::Uniform, {term.literal}, [&](ValueId id) { next({id}); });
      case Term::Kind::Integers:
        return integers(term, at, [&](ValueId id) { next({id}); });
      case Term::Kind::Value: {
        if (const ValueId* bound = partial_.binding().value(term.name)) return next({*bound});
        return variable(at, term.name, term.name,
                        [&](ValueId id) { partial_.bind_value(term.name, id, [&] { next({id}); }); });
      }
      case Term::Kind::Sequence:
        return element(term, at, next);
    }
  }

  /// Tries the element of a sequence for this repetition.
  void element(const Term& term, const Position& at, NextValues next) {
    if (!repetition_) return;
    const size_t i = *repetition_;
    if (const auto* bound = partial_.binding().sequence(term.name); bound != nullptr && i < bound->size())
      return next({(*bound)[i]});
    append(term.name, at, [&](ValueId id) { next({id}); });
  }

  /// Appends one value to a sequence.
  void append(const std::string& name, const Position& at, FunctionRef<void(ValueId)> next) {
    const auto* bound = partial_.binding().sequence(name);
    const std::string label = name + std::to_string(bound == nullptr ? 0 : bound->size());
    variable(at, name, label, [&](ValueId id) { partial_.bind_element(name, id, [&] { next(id); }); });
  }

  /// Tries a sequence outside of a repeated term: `n` more values, then it is complete.
  void sequence(const std::string& name, const OpDef& op, std::vector<ValueId>& ids, size_t n, Next next) {
    if (n == 0) return partial_.bind_whole(name, next);
    const std::vector<ValueId> earlier = ids;
    append(name, {&op, earlier}, [&](ValueId id) {
      ids.push_back(id);
      sequence(name, op, ids, n - 1, next);
      ids.pop_back();
    });
  }

  void variable(const Position& at, const std::string& name, const std::string& label,
                FunctionRef<void(ValueId)> next) {
    if (partial_.wants_uniform(name)) return fresh(at, label, Kind::Uniform, {0, 1, 2, -1, 0.5}, next);
    if (!partial_.wants_weight(name)) return fresh(at, label, Kind::Input, {0}, next);
    if (holds_indices(*at.op, at.earlier.size())) return indices(at, label, next);
    fresh(at, label, Kind::Weight, {0}, next);
  }

  /// Tries a new value of every type that fits.
  void fresh(const Position& at, const std::string& label, Kind kind, const std::vector<double>& numbers,
             FunctionRef<void(ValueId)> next) {
    const DType dtype = fixed_operand_dtype(*at.op, at.earlier.size()).value_or(bounds_.element);
    const auto types = partial_.types({at.earlier.begin(), at.earlier.end()});
    const bool free = bounds_.free_broadcasts && !types.empty() && at.op->has(Trait::Broadcast);
    const auto hint = possible_shapes(*at.op, types.size(), types, bounds_.rank, free ? extents_and_one_ : extents_);
    const std::vector<Ints>& shapes = hint ? *hint : shapes_;
    for (const size_t s : budget_.order(shapes.size())) {
      if (shapes[s].size() > bounds_.rank) continue;
      const bool determined = hint && shapes.size() == 1;
      if (!determined && !allows(shapes[s], free)) continue;
      for (const double number : numbers) {
        if (!budget_.step()) return;
        if (dtype != DType::Double && number != static_cast<double>(static_cast<int64_t>(number))) continue;
        value({kind, TensorType(dtype, Shape(shapes[s].begin(), shapes[s].end())), number, label}, false, free, next);
      }
    }
  }

  /// Tries constants that hold positions along an axis of the first operand: all lists and scalars, counted from the
  /// front (plain) and from the back.
  void indices(const Position& at, const std::string& label, FunctionRef<void(ValueId)> next) {
    const Ints positions = positions_in(*partial_.types({at.earlier[0]})[0]);
    for (const Ints& shape : small_shapes(std::min<size_t>(1, bounds_.rank), bounds_.extents)) {
      const std::vector<Ints> contents = lists_of(shape.empty() ? 1 : static_cast<size_t>(shape[0]), positions);
      for (const size_t c : budget_.order(contents.size())) {
        if (!budget_.step()) return;
        const bool plain = std::ranges::all_of(contents[c], [](int64_t position) { return position >= 0; });
        const TensorType type(DType::Int64, Shape(shape.begin(), shape.end()));
        value({Kind::Indices, type, 0, label, contents[c]}, !plain, false, next);
      }
    }
  }

  /// `{?i}`: tries lists of positions along an axis of the first operand. All lists of up to 3 elements; of longer
  /// ones, the first positions in their order.
  void integers(const Term& term, const Position& at, FunctionRef<void(ValueId)> next) {
    const std::string name = term.integers.name.substr(1);
    const auto of = [&](const Ints& list) {
      const TensorType type(DType::Int64, {Dim(static_cast<int64_t>(list.size()))});
      return Instance::Value{Kind::Indices, type, 0, name, list};
    };
    if (const ExprValue* bound = partial_.binding().attr(name)) {
      const auto list = to_attr(*bound, AttrKind::Ints, bounds_.element);
      if (list) partial_.with_value(of(std::get<Ints>(*list)), next);
      return;
    }
    if (at.earlier.empty()) return;
    const std::vector<Ints> lists = position_lists(positions_in(*partial_.types({at.earlier[0]})[0]), bounds_.extents);
    for (const size_t l : budget_.order(lists.size())) {
      if (!budget_.step()) return;
      const bool plain = std::ranges::all_of(lists[l], [](int64_t position) { return position >= 0; });
      partial_.bind_attr(name, Dims(lists[l].begin(), lists[l].end()),
                         [&] { value(of(lists[l]), !plain, false, next); });
    }
  }

  /// Returns whether each extent is among those of its axis, or a free 1.
  bool allows(const Ints& shape, bool free_ones) const {
    if (bounds_.spatial.empty()) return true;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const Ints& extents = axis < kFirstSpatial ? bounds_.extents : bounds_.spatial;
      if (std::ranges::find(extents, shape[axis]) == extents.end() && !(free_ones && shape[axis] == 1)) return false;
    }
    return true;
  }

  /// Tries one value, whose extents of 1 may be free.
  void value(Instance::Value value, bool non_default, bool free_ones, FunctionRef<void(ValueId)> next) {
    const Shape& shape = *value.type.shape;
    const size_t counted = bounds_.spatial.empty() ? shape.size() : std::min(shape.size(), kFirstSpatial);
    size_t others = 0;
    for (size_t axis = 0; axis < counted; ++axis)
      others += shape[axis] == Dim(2) || (free_ones && shape[axis] == Dim(1)) ? 0 : 1;
    budget_.spend({.non_default = non_default ? 1U : 0U, .others = others},
                  [&] { partial_.with_value(std::move(value), next); });
  }

  static constexpr size_t kFirstSpatial = 2;
  const Rule& rule_;
  const InstanceBounds& bounds_;
  const std::function<bool(const Instance&)>& visit_;
  ChoiceBudget budget_;
  PartialInstance partial_;
  NodeChoices nodes_;
  std::optional<size_t> repetition_;
  const Ints extents_;  // of any axis
  const Ints extents_and_one_;
  const std::vector<Ints> shapes_;
};

}  // namespace

bool for_each_instance(const Rule& rule, const InstanceBounds& bounds, size_t max_steps,
                       const std::function<bool(const Instance&)>& visit) {
  return Generator(rule, bounds, max_steps, visit).run();
}

}  // namespace isomer
