#include "isomer/rules/match.h"

#include <algorithm>
#include <array>
#include <set>

#include "isomer/rules/blocks.h"
#include "isomer/rules/match_buffers.h"
#include "isomer/rules/pattern_walk.h"
#include "isomer/rules/siblings.h"

namespace isomer {
namespace {

thread_local MatchBuffers buffers;

/// Backtracking matcher for one rule.
class Matcher : private PatternWalk<Matcher> {
 public:
  Matcher(const Graph& graph, const OpIndex& index, const MatchPlan& plan, size_t limit, std::vector<Match>& out,
          Miss* miss = nullptr, const Deadline* deadline = nullptr, bool all_weights = false)
      : PatternWalk(buffers.binding),
        graph_(graph),
        index_(index),
        facts_(graph, all_weights),
        plan_(plan),
        rule_(plan.rule()),
        limit_(limit),
        out_(out),
        miss_(miss),
        deadline_(deadline),
        roots_(buffers.roots),
        root_values_(buffers.root_values),
        matched_(buffers.matched) {
    buffers.begin();
  }
  ~Matcher() { buffers.end(); }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  void run() { source(0); }

  /// Finds only matches whose first root is one of these nodes.
  void run_at(std::span<const NodeId> ids) {
    if (!conditions_hold_at(0)) return;
    for (const NodeId id : ids)
      if (!full()) try_root(0, id);
  }

  /// Finds only matches whose roots are these nodes, in this order.
  void run_with(std::span<const NodeId> ids) {
    max_open_orders_ = SIZE_MAX;  // any of them may be wanted
    given(0, ids);
  }

 private:
  friend class PatternWalk<Matcher>;

  /// Whether to stop. Must be called for every node that is tried.
  bool full() {
    constexpr unsigned kSteps = 64;  // between two reads of the clock
    if (deadline_ != nullptr && ++steps_ % kSteps == 0) late_ = late_ || deadline_->passed();
    return late_ || out_.size() >= limit_;
  }

  // Sources ----------------------------------------------------------------------------------------------------------

  void source(size_t i) {
    if (full() || !conditions_hold_at(i)) return;
    if (i == rule_.sources.size()) return choose(0);
    const Term& term = rule_.sources[i];
    for (const NodeId id : candidate_nodes(term)) {
      if (full()) return;
      if (i == 0 && miss_ == nullptr && !plan_.shared().may_have_second(graph_, id)) continue;
      if (!is_root(id)) try_root(i, id);
    }
  }

  void try_root(size_t i, NodeId id) {
    const Term& term = rule_.sources[i];
    if (term.repeated)
      with_complete(binding_.sequences.size(), [&] { siblings(i, term, id); });
    else
      node(term, id, [&] { with_root(id, [&] { source(i + 1); }); });
  }

  /// Records why this attempt failed, if it came further than the attempts before.
  template <class... Args>
  void missed(size_t progress, fmt::format_string<Args...> format, Args&&... args) const {
    if (miss_ == nullptr || (progress <= miss_->progress && !miss_->reason.empty())) return;
    *miss_ = {progress, fmt::format(format, std::forward<Args>(args)...)};
  }

  // Given roots ------------------------------------------------------------------------------------------------------

  /// Matches the sources from number `i` on with exactly these roots.
  void given(size_t i, std::span<const NodeId> ids) {
    if (full() || !conditions_hold_at(i)) return;
    if (i == rule_.sources.size()) {
      if (ids.empty()) choose(0);
      return;
    }
    const Term& term = rule_.sources[i];
    if (term.repeated) return with_complete(binding_.sequences.size(), [&] { given_siblings(i, 0, ids); });
    if (ids.empty()) return;
    node(term, ids[0], [&] { with_root(ids[0], [&] { given(i + 1, ids.subspan(1)); }); });
  }

  /// Continues a repeated source of which `n` roots are matched.
  void given_siblings(size_t i, size_t n, std::span<const NodeId> ids) {
    if (n > 0 && has_all_elements(rule_.sources[i], n)) given(i + 1, ids);
    if (ids.empty()) return;
    repeat(n, [&] {
      node(rule_.sources[i], ids[0], [&] {
        with_root(ids[0], [&] { repeat(std::nullopt, [&] { given_siblings(i, n + 1, ids.subspan(1)); }); });
      });
    });
  }

  // Siblings ---------------------------------------------------------------------------------------------------------

  /// The nodes together with which a new sibling must satisfy the conditions.
  enum class Against { First, All };

  /// Matches a repeated source: the first node and all compatible nodes of the same pattern.
  void siblings(size_t i, const Term& term, NodeId first) {
    if (!siblings_) siblings_.emplace(graph_, rule_);
    const bool shares = binds_sequence(binding_, term);
    repetition_ = 0;
    node(term, first, [&] {
      if (!conditions_hold_at(i + 1) || siblings_->in_large_group(first, binding_)) return;
      if (!has_candidates(term, first)) {
        if (has_all_elements(term, 1)) repeat(std::nullopt, [&] { with_root(first, [&] { source(i + 1); }); });
        return;
      }
      const std::vector<NodeId> outer = matched_;
      const Binding alone = binding_;
      // Conditions are usually about each sibling, or about each and the first.
      std::vector<NodeId> group = gather(i, first, shares ? Against::All : Against::First);
      if (!shares && group.size() > 2 && !conditions_hold_after(i + 1)) {
        binding_ = alone;
        matched_ = outer;
        group = gather(i, first, Against::All);
      }
      repetition_.reset();
      siblings_->remember(alone, group);
      const size_t roots = roots_.size();
      const size_t values = root_values_.size();
      for (const NodeId id : group) push_root(id);
      if (has_all_elements(term, group.size())) source(i + 1);
      roots_.resize(roots);
      root_values_.resize(values);
      matched_ = outer;
      binding_ = alone;
      repetition_ = 0;
    });
    repetition_.reset();
  }

  /// The first node of source `i` and its siblings, which are added to the binding and the matched nodes. A node that
  /// depends on the group (a later time step) is excluded: replacing all of them together would create a cycle.
  std::vector<NodeId> gather(size_t i, NodeId first, Against against) {
    const Term& term = rule_.sources[i];
    std::vector<NodeId> group{first};
    if (!siblings_->begin(first, term, binding_)) return group;
    const Binding alone = binding_;
    Binding together = binding_;
    std::vector<NodeId> more;
    for (const NodeId id : candidate_nodes(term)) {
      if (full()) break;
      if (id <= group.back() || is_root(id) || siblings_->rule_out(id)) continue;
      binding_ = against == Against::First ? alone : together;
      repetition_ = against == Against::First ? 1 : group.size();
      const size_t matched = matched_.size();
      bool joined = false;
      node(term, id, [&] {
        if (joined || siblings_->depends(binding_) || !conditions_hold_after(i + 1) || !siblings_->add(id)) return;
        joined = true;
        if (against == Against::First)
          append_last(binding_, term, together);
        else
          together = binding_;
        more.insert(more.end(), matched_.begin() + static_cast<std::ptrdiff_t>(matched), matched_.end());
      });
      if (joined) group.push_back(id);
    }
    binding_ = std::move(together);
    matched_.insert(matched_.end(), more.begin(), more.end());
    return group;
  }

  /// Whether there are nodes that the term could match as a root after another one.
  bool has_candidates(const Term& term, NodeId after) const {
    const std::vector<NodeId> nodes = candidate_nodes(term);
    return !nodes.empty() && nodes.back() > after;
  }

  /// Nodes that the term could match as a root. If the term contains a bound variable, these are the nodes that read
  /// its value; otherwise all nodes of its operator.
  std::vector<NodeId> candidate_nodes(const Term& term) const {
    const auto all = index_.nodes(*term.op);
    auto readers = readers_of_bound(term);
    if (!readers) return {all.begin(), all.end()};
    std::erase_if(*readers, [&](NodeId id) { return !std::binary_search(all.begin(), all.end(), id); });
    return std::move(*readers);
  }

  /// Nodes of the term's operator that read the value of one of the term's bound variables, at the same depth as the
  /// term; ascending. Returns nullopt if no variable is bound.
  std::optional<std::vector<NodeId>> readers_of_bound(const Term& term) const {
    std::vector<NodeId> out;
    const auto add_readers = [&](ValueId value) {
      for (const NodeId id : graph_.consumers(value))
        if (graph_.node(id).op == term.op) out.push_back(id);
    };
    for (const Term& operand : term.operands) {
      if (operand.kind != Term::Kind::Value) continue;
      const ValueId* bound = binding_.value(operand.name);
      if (bound == nullptr || *bound == kNoValue) continue;
      add_readers(*bound);
      return out;
    }
    for (const Term& operand : term.operands) {
      if (operand.kind != Term::Kind::Apply) continue;
      const auto below = readers_of_bound(operand);
      if (!below) continue;
      for (const NodeId id : *below)
        for (uint32_t r = 0; r < graph_.node(id).num_results; ++r) add_readers(graph_.node(id).result(r));
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      return out;
    }
    return std::nullopt;
  }

  // Roots ------------------------------------------------------------------------------------------------------------

  bool is_root(NodeId id) const { return std::find(roots_.begin(), roots_.end(), id) != roots_.end(); }

  void push_root(NodeId id) {
    roots_.push_back(id);
    for (uint32_t r = 0; r < graph_.node(id).num_results; ++r) root_values_.push_back(graph_.node(id).result(r));
  }

  void with_root(NodeId id, Next next) {
    const size_t values = root_values_.size();
    push_root(id);
    next();
    roots_.pop_back();
    root_values_.resize(values);
  }

  // Conditions -------------------------------------------------------------------------------------------------------

  bool hold(std::span<const Expr* const> conditions) const {
    const ExprContext context{binding_, facts_};
    return std::ranges::all_of(conditions, [&](const Expr* condition) { return is_met(*condition, context); });
  }
  /// Whether the conditions hold that can be evaluated once so many terms of the source have matched. If the reason of
  /// a failure is asked for, all of them are evaluated at the end, so that the longest attempt is reported.
  bool conditions_hold_at(size_t terms) const { return miss_ != nullptr || hold(plan_.conditions_at(terms)); }
  /// Whether those hold that were not evaluated by then.
  bool conditions_hold_after(size_t terms) const {
    return hold(plan_.conditions_after(terms)) && (miss_ == nullptr || hold(plan_.conditions_until(terms)));
  }

  void tell_condition() const {
    if (miss_ == nullptr) return;
    for (const Expr& condition : rule_.conditions)
      if (const auto status = holds(condition, {binding_, facts_}); !status)
        return missed(matched_.size() + 1, "{}", status.error().message);
  }

  void choose(size_t i) {
    if (i == rule_.choices.size()) return emit();
    const Choice& choice = rule_.choices[i];
    const auto candidates = evaluate(choice.candidates, ExprContext{binding_, facts_});
    const Dims* list = candidates ? std::get_if<Dims>(&*candidates) : nullptr;
    if (list == nullptr) return;
    if (choice.block && std::ranges::none_of(*list, [&](const Dim& value) { return may_choose(choice, value); }))
      return missed(matched_.size() + 1, "the device prefers no ?{} of {}", choice.name, shape_str(*list));
    for (const Dim& value : *list) {
      if (!may_choose(choice, value)) continue;
      binding_.attrs.emplace_back(choice.name, value);
      choose(i + 1);
      binding_.attrs.pop_back();
    }
  }

  void emit() {
    if (full() || !conditions_hold_after(rule_.sources.size())) return tell_condition();
    Match match{&rule_, binding_, root_values_, matched_};
    std::sort(match.nodes.begin(), match.nodes.end());
    match.nodes.erase(std::unique(match.nodes.begin(), match.nodes.end()), match.nodes.end());
    if (roots_.size() > 1 && closes_cycle(graph_, match))
      return missed(matched_.size() + 1, "replacing all at once would close a cycle");
    out_.push_back(std::move(match));
  }

  // Terms ------------------------------------------------------------------------------------------------------------

  void one(const Term& term, ValueId value, Next next) {
    switch (term.kind) {
      case Term::Kind::Value:
        return this->value(term.name, value, next);
      case Term::Kind::Sequence:
        return element(term.name, value, next);
      case Term::Kind::Literal: {
        const Tensor* tensor = value == kNoValue ? nullptr : graph_.constant(value);
        const auto number = tensor != nullptr ? uniform_value(*tensor) : std::nullopt;
        if (number && *number == term.literal) return next();
        return missed(matched_.size(), "an operand is not the constant {}", term.literal);
      }
      case Term::Kind::Integers:
        return integers(term, value, next);
      case Term::Kind::Apply:
        if (value == kNoValue) return missed(matched_.size(), "an optional operand is absent");
        if (graph_.producer_node(value).num_results != 1)
          return missed(matched_.size(), "there is one of the results of a {} where {} is expected",
                        graph_.producer_node(value).op->name, term.op->name);
        return node(term, graph_.producer(value), next);
    }
  }

  /// Matches `{?i}`: a constant list of integers.
  void integers(const Term& term, ValueId value, Next next) {
    const Tensor* tensor = value == kNoValue ? nullptr : graph_.constant(value);
    if (tensor == nullptr || tensor->dtype() != DType::Int64 || tensor->dims().size() != 1) return;
    const auto elements = tensor->data<int64_t>();
    Dims list(elements.begin(), elements.end());
    const std::string_view name = std::string_view(term.integers.name).substr(1);
    if (const ExprValue* bound = binding_.attr(name)) {
      if (equal_values(*bound, list)) next();
      return;
    }
    binding_.attrs.emplace_back(std::string(name), std::move(list));
    next();
    binding_.attrs.pop_back();
  }

  void node(const Term& term, NodeId id, Next next) {
    if (graph_.node(id).op != term.op)
      return missed(matched_.size(), "there is a {} where {} is expected", graph_.node(id).op->name, term.op->name);
    const size_t matched = matched_.size();
    matched_.push_back(id);
    matching(term, id, next);
    matched_.resize(matched);
  }

  void matching(const Term& term, NodeId id, Next next) {
    const Node& node = graph_.node(id);
    const auto operands = graph_.operands(node);
    const auto checked = [&] {
      const size_t attrs = binding_.attrs.size();
      const size_t records = binding_.records.size();
      if (attributes(term, node))
        next();
      else
        missed(matched_.size(), "the attributes of {} are not those of the pattern", term.op->name);
      binding_.attrs.resize(attrs);
      binding_.records.resize(records);
    };
    const bool swaps = node.op->commutative && operands.size() == 2 && operands[0] != operands[1];
    const std::array<ValueId, 2> swapped = {swaps ? operands[1] : kNoValue, swaps ? operands[0] : kNoValue};
    const bool as_given = may_match(term, operands), as_swapped = swaps && may_match(term, swapped);
    if (!as_given && !as_swapped) return;
    const size_t attrs_before = binding_.attrs.size();
    if (bare_attributes(term, node)) {
      const bool counted = as_given && as_swapped && orders_ == Orders::Counted;
      const size_t reached = reached_;
      open_orders_ += counted ? 1 : 0;
      if (as_given) this->operands(&term, term.operands, 0, operands, 0, checked);
      if (as_swapped && !(orders_ == Orders::One && reached_ != reached))
        this->operands(&term, term.operands, 0, swapped, 0, checked);
      open_orders_ -= counted ? 1 : 0;
    } else {
      missed(matched_.size(), "the attributes of {} are not those of the pattern", term.op->name);
    }
    binding_.attrs.resize(attrs_before);
  }

  /// False only if an operand comes from another operator than the pattern demands, which ends most attempts. True if
  /// the reason is asked for.
  bool may_match(const Term& term, std::span<const ValueId> ids) const {
    if (miss_ != nullptr) return true;
    for (size_t i = 0; i < term.operands.size(); ++i) {
      const Term& operand = term.operands[i];
      if (operand.repeated || (operand.kind == Term::Kind::Sequence && !repetition_)) return true;
      if (i >= ids.size()) return false;
      if (operand.kind != Term::Kind::Apply) continue;
      if (ids[i] == kNoValue || graph_.producer_node(ids[i]).op != operand.op) return false;
      if (operand.op->min_results != operand.op->max_results) return true;  // it may take several values
    }
    return true;
  }

  /// Binds attributes that are given as a bare variable. This is done before the operands are matched, so that their
  /// expressions can use the variables.
  bool bare_attributes(const Term& term, const Node& node) {
    for (const auto& [name, expr] : term.attrs) {
      if (expr.kind != Expr::Kind::Variable || expr.name[0] != '?') continue;
      const std::string_view variable = std::string_view(expr.name).substr(1);
      const AttrValue* actual = node.attrs.find(name);
      if (actual == nullptr) return false;
      if (const ExprValue* bound = binding_.attr(variable)) {
        if (!equal_values(*bound, from_attr(*actual))) return false;
      } else if (binding_.value(variable) == nullptr) {
        binding_.attrs.emplace_back(std::string(variable), from_attr(*actual));
      }
    }
    return true;
  }

  bool attributes(const Term& term, const Node& node) {
    for (const auto& [name, expr] : term.attrs) {
      const AttrValue* actual = node.attrs.find(name);
      const auto wanted = evaluate(expr, ExprContext{binding_, facts_, repetition_});
      if (actual == nullptr || !wanted || !equal_values(*wanted, from_attr(*actual))) return false;
    }
    if (term.rest.empty()) return others_are_preset(term, node.attrs);
    if (const Attrs* bound = binding_.record(term.rest)) return others_equal(term, node.attrs, *bound);
    binding_.records.emplace_back(term.rest, others(term, node.attrs));
    return true;
  }

  // Operands ---------------------------------------------------------------------------------------------------------

  /// Matches one value, or all results of one node in order.
  void results(const Term& term, std::span<const ValueId> ids, FunctionRef<void(size_t)> next) {
    const Node* producer = ids[0] == kNoValue ? nullptr : &graph_.producer_node(ids[0]);
    if (producer == nullptr || producer->num_results == 1 || term.op->min_results == term.op->max_results)
      return one(term, ids[0], [&] { next(1); });
    if (producer->num_results > ids.size()) return;
    for (uint32_t r = 0; r < producer->num_results; ++r)
      if (ids[r] != producer->result(r)) return;
    node(term, graph_.producer(ids[0]), [&] { next(producer->num_results); });
  }

  bool alike(ValueId a, ValueId b) const {
    return graph_.type(a) == graph_.type(b) && graph_.producer_node(a).op == graph_.producer_node(b).op;
  }

  void two_values(const std::string& name) const { missed(matched_.size(), "?{} would stand for two values", name); }
  void wrong_count(const Term* parent, bool more) const {
    missed(matched_.size(), "{} has {} operands than the pattern", parent->op->name, more ? "more" : "fewer");
  }

  const Graph& graph_;
  const OpIndex& index_;
  const GraphFacts facts_;
  const MatchPlan& plan_;
  const Rule& rule_;
  const size_t limit_;
  std::vector<Match>& out_;
  Miss* const miss_;
  const Deadline* const deadline_;
  unsigned steps_ = 0;
  bool late_ = false;
  std::optional<Siblings> siblings_;
  std::vector<NodeId>& roots_;
  std::vector<ValueId>& root_values_;
  std::vector<NodeId>& matched_;
};

}  // namespace

std::vector<Match> find_matches(const Graph& graph, const OpIndex& index, const MatchPlan& plan, size_t limit,
                                const Deadline* deadline, bool all_weights) {
  std::vector<Match> out;
  Matcher(graph, index, plan, limit, out, nullptr, deadline, all_weights).run();
  return out;
}

std::vector<Match> find_matches_of(const Graph& graph, const OpIndex& index, const MatchPlan& plan,
                                   std::span<const NodeId> roots) {
  std::vector<Match> out;
  const auto runs = [&](NodeId id) { return !graph.node(id).is_opaque() && graph.runs(graph.node(id)); };
  if (std::ranges::all_of(roots, runs)) Matcher(graph, index, plan, SIZE_MAX, out).run_with(roots);
  return out;
}

void find_matches_at(const Graph& graph, const OpIndex& index, const MatchPlan& plan, NodeId root,
                     std::vector<Match>& out, Miss* miss) {
  const auto nodes = index.nodes(*plan.rule().sources[0].op);
  if (std::binary_search(nodes.begin(), nodes.end(), root))
    Matcher(graph, index, plan, SIZE_MAX, out, miss).run_at({&root, 1});
}

std::vector<Match> find_matches_from(const Graph& graph, const OpIndex& index, const MatchPlan& plan,
                                     std::span<const NodeId> roots) {
  std::vector<Match> out;
  Matcher(graph, index, plan, SIZE_MAX, out).run_at(roots);
  return out;
}

}  // namespace isomer
