#include "isomer/rules/rewrite.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace isomer {
namespace {

class BuilderFacts : public ValueFacts {
 public:
  explicit BuilderFacts(const GraphBuilder& builder) : builder_(builder) {}
  const TensorType& type(ValueId value) const override { return builder_.type(value); }
  bool is_weight(ValueId) const override { return false; }
  const Tensor* constant(ValueId value) const override { return builder_.constant_data(value); }

 private:
  const GraphBuilder& builder_;
};

Result<Tensor> scalar_literal(double value, DType element) {
  ISOMER_TRY(const AttrValue attr, to_attr(value, AttrKind::Tensor, element));
  return std::get<Tensor>(attr).reshaped({});
}

/// Builds target terms.
class Instantiation {
 public:
  Instantiation(GraphBuilder& builder, Binding binding, DType element)
      : builder_(builder), facts_(builder), binding_(std::move(binding)), element_(element) {}

  Result<std::vector<ValueId>> targets(const Rule& rule) {
    for (const Let& let : rule.lets) {
      ISOMER_TRY(std::vector<ValueId> values, list(let.term));
      if (let.sequence)
        binding_.sequences.emplace_back(let.name, std::move(values));
      else if (values.size() == 1)
        binding_.values.emplace_back(let.name, values[0]);
      else
        return fail("?{} would be {} values", let.name, values.size());
    }
    std::vector<ValueId> out;
    for (const Term& target : rule.targets) {
      ISOMER_TRY(const std::vector<ValueId> values, list(target));
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }

 private:
  /// The values of a term; of a repeated one, those of all repetitions.
  Result<std::vector<ValueId>> list(const Term& term) {
    if (!term.repeated) return once(term);
    ISOMER_TRY(const size_t n, length(term));
    std::vector<ValueId> out;
    const auto outer = repetition_;
    for (size_t i = 0; i < n; ++i) {
      repetition_ = i;
      ISOMER_TRY(const std::vector<ValueId> values, once(term));
      out.insert(out.end(), values.begin(), values.end());
    }
    repetition_ = outer;
    return out;
  }

  /// How often a repeated term stands: the common length of the sequences in it.
  Result<size_t> length(const Term& term) const {
    std::optional<size_t> n;
    std::vector<const Term*> pending{&term};
    while (!pending.empty()) {
      const Term* next = pending.back();
      pending.pop_back();
      for (const Term& operand : next->operands) pending.push_back(&operand);
      if (next->kind != Term::Kind::Sequence) continue;
      const auto* values = binding_.sequence(next->name);
      if (values == nullptr) return fail("@{} is not bound", next->name);
      if (n && *n != values->size()) return fail("sequences of different lengths are repeated together");
      n = values->size();
    }
    if (!n) return fail("a repeated term without a sequence");
    return *n;
  }

  Result<std::vector<ValueId>> once(const Term& term) {
    switch (term.kind) {
      case Term::Kind::Value: {
        const ValueId* value = binding_.value(term.name);
        if (value == nullptr) return fail("?{} is not bound", term.name);
        return std::vector<ValueId>{*value};
      }
      case Term::Kind::Sequence: {
        const auto* values = binding_.sequence(term.name);
        if (values == nullptr) return fail("@{} is not bound", term.name);
        if (!repetition_) return *values;
        if (*repetition_ >= values->size()) return fail("@{} is too short", term.name);
        return std::vector<ValueId>{(*values)[*repetition_]};
      }
      case Term::Kind::Literal: {
        ISOMER_TRY(Tensor tensor, scalar_literal(term.literal, element_));
        return std::vector<ValueId>{builder_.constant(std::move(tensor))};
      }
      case Term::Kind::Integers: {
        ISOMER_TRY(const ExprValue value, evaluate(term.integers, ExprContext{binding_, facts_, repetition_}));
        ISOMER_TRY(const AttrValue list, to_attr(value, AttrKind::Ints, element_));
        const Ints& elements = std::get<Ints>(list);
        return std::vector<ValueId>{builder_.constant(Tensor::ints({static_cast<int64_t>(elements.size())}, elements))};
      }
      case Term::Kind::Apply:
        break;
    }
    return apply(term);
  }

  Result<std::vector<ValueId>> apply(const Term& term) {
    std::vector<ValueId> operands;
    for (const Term& operand : term.operands) {
      ISOMER_TRY(const std::vector<ValueId> values, list(operand));
      operands.insert(operands.end(), values.begin(), values.end());
    }
    Attrs attrs;
    if (!term.rest.empty()) {
      const Attrs* record = binding_.record(term.rest);
      if (record == nullptr) return fail("..{} is not bound", term.rest);
      attrs = *record;
    }
    for (const auto& [name, expr] : term.attrs) {
      ISOMER_TRY(const ExprValue value, evaluate(expr, ExprContext{binding_, facts_, repetition_}));
      auto attr = to_attr(value, term.op->find_attr(name)->kind, element_);
      if (!attr) return fail("attribute '{}' of {}: {}", name, term.op->name, attr.error().message);
      attrs = attrs.with(name, std::move(*attr));
    }
    ISOMER_TRY(const NodeId id, builder_.node(*term.op, attrs, operands));
    std::vector<ValueId> results;
    for (uint32_t r = 0; r < builder_.at(id).num_results; ++r) results.push_back(builder_.at(id).result(r));
    return results;
  }

  GraphBuilder& builder_;
  const BuilderFacts facts_;
  Binding binding_;
  const DType element_;
  std::optional<size_t> repetition_;
};

/// Copies a graph value by value from its outputs, with the roots of matches replaced.
class Rewriter {
 public:
  Rewriter(const Graph& graph, std::span<const Match> matches)
      : graph_(graph), builder_(graph.name_table()), made_(graph.num_values(), kNoValue) {
    for (const Match& match : matches) add(match);
  }

  Graph run() {
    for (const ValueId input : graph_.inputs()) {
      made_[input] = builder_.input(graph_.type(input));
      builder_.set_origin(made_[input], graph_.origin(input));
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) {
      make(output);
      outputs.push_back(made_[output]);
    }
    return builder_.finish(outputs);
  }

  std::vector<const Match*> applied() const {
    std::vector<const Match*> out;
    for (const Job& job : jobs_)
      if (job.state == State::Done) out.push_back(job.match);
    return out;
  }
  const Error& error() const { return error_; }

 private:
  enum class State : uint8_t { Waiting, Active, Done, Refused };
  struct Job {
    const Match* match;
    std::vector<ValueId> leaves;  // what the targets compute with
    State state = State::Waiting;
  };

  void add(const Match& match) {
    const bool taken =
        std::any_of(match.roots.begin(), match.roots.end(), [&](ValueId root) { return job_of_.contains(root); });
    if (taken) return;
    Job job{&match, {}};
    const auto used = [&](const std::string& name) {
      const auto in = [&](const Term& term) { return reads(term, name); };
      return std::any_of(match.rule->targets.begin(), match.rule->targets.end(), in) ||
             std::any_of(match.rule->lets.begin(), match.rule->lets.end(),
                         [&](const Let& let) { return in(let.term); });
    };
    for (const auto& [name, value] : match.binding.values)
      if (used(name)) job.leaves.push_back(value);
    for (const auto& [name, values] : match.binding.sequences)
      if (used(name)) job.leaves.insert(job.leaves.end(), values.begin(), values.end());
    std::erase(job.leaves, kNoValue);
    for (const ValueId root : match.roots) job_of_[root] = jobs_.size();
    jobs_.push_back(std::move(job));
  }

  static bool reads(const Term& term, const std::string& name) {
    if ((term.kind == Term::Kind::Value || term.kind == Term::Kind::Sequence) && term.name == name) return true;
    return std::any_of(term.operands.begin(), term.operands.end(), [&](const Term& o) { return reads(o, name); });
  }

  /// The job that replaces a value, unless there is none or it was refused.
  Job* job(ValueId value) {
    const auto found = job_of_.find(value);
    if (found == job_of_.end() || jobs_[found->second].state == State::Refused) return nullptr;
    return &jobs_[found->second];
  }

  void refuse(Job& job, Error error) {
    job.state = State::Refused;
    error_ = std::move(error);
  }

  /// Makes a value with all that it needs; an explicit stack, since graphs are deep. A job that meets a root of its own
  /// among its needs closes a cycle and is refused; its roots are then copied like any other value.
  void make(ValueId wanted) {
    std::vector<std::pair<ValueId, bool>> stack{{wanted, false}};
    while (!stack.empty()) {
      const auto [value, ready] = stack.back();
      stack.pop_back();
      if (made_[value] != kNoValue) continue;
      Job* active = job(value);
      if (ready && active != nullptr) {
        if (auto status = make_targets(*active); !status) refuse(*active, status.error());
        if (active->state == State::Refused) stack.emplace_back(value, false);
        continue;
      }
      if (ready && !waiting_for_operands(value)) {
        copy(graph_.producer_node(value));
        continue;
      }
      if (active != nullptr && active->state == State::Active) {
        refuse(*active, Error{"the rewrite would close a cycle"});
        active = nullptr;
      }
      stack.emplace_back(value, true);
      if (active != nullptr) active->state = State::Active;
      const auto operands = graph_.operands(graph_.producer_node(value));
      const std::span<const ValueId> needs = active != nullptr ? std::span<const ValueId>(active->leaves) : operands;
      for (const ValueId need : needs)
        if (need != kNoValue && made_[need] == kNoValue) stack.emplace_back(need, false);
    }
  }

  /// True for a root whose job was refused while its leaves, not its operands, were being made.
  bool waiting_for_operands(ValueId value) const {
    const auto operands = graph_.operands(graph_.producer_node(value));
    return std::any_of(operands.begin(), operands.end(),
                       [&](ValueId operand) { return operand != kNoValue && made_[operand] == kNoValue; });
  }

  void copy(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : made_[operand]);
    // Every replacement has the type of what it replaces, so that the node is as well typed as before.
    const auto id = builder_.copy(graph_, node, operands);
    assert(id.has_value());
    for (uint32_t i = 0; i < node.num_results; ++i) {
      const ValueId old = node.result(i);
      const ValueId now = builder_.at(*id).result(i);
      const Job* replaced = job(old);
      if (made_[old] == kNoValue && replaced == nullptr) made_[old] = now;
      builder_.set_origin(now, graph_.origin(old));
    }
  }

  /// The binding with values of the new graph. What the target does not compute with, but may ask the shape of, becomes
  /// a stand-in of the same type, which no output will reach.
  Binding bind(const Match& match) {
    Binding binding = match.binding;
    const auto rename = [&](ValueId& value) {
      if (value == kNoValue) return;
      value =
          made_[value] != kNoValue ? made_[value] : builder_.at(builder_.opaque({}, {}, {graph_.type(value)})).result();
    };
    for (auto& [name, value] : binding.values) rename(value);
    for (auto& [name, values] : binding.sequences)
      for (ValueId& value : values) rename(value);
    return binding;
  }

  Status make_targets(Job& job) {
    const Match& match = *job.match;
    const DType element = graph_.type(match.roots[0]).dtype;
    ISOMER_TRY(const auto targets, instantiate_targets(builder_, *match.rule, bind(match), element));
    if (targets.size() != match.roots.size())
      return fail("the target has {} values for {}", targets.size(), match.roots.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      const TensorType& before = graph_.type(match.roots[i]);
      if (!(builder_.type(targets[i]) == before))
        return fail("the target is {} where {} was", builder_.type(targets[i]).str(), before.str());
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      made_[match.roots[i]] = targets[i];
      builder_.set_origin(targets[i], graph_.origin(match.roots[i]));
    }
    job.state = State::Done;
    return {};
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<ValueId> made_;
  std::vector<Job> jobs_;
  std::map<ValueId, size_t> job_of_;
  Error error_;
};

}  // namespace

Result<std::vector<ValueId>> instantiate_targets(GraphBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element) {
  return Instantiation(builder, std::move(binding), element).targets(rule);
}

Result<Graph> apply_match(const Graph& graph, const Match& match) {
  Rewriter rewriter(graph, {&match, 1});
  Graph out = rewriter.run();
  if (rewriter.applied().empty()) return tl::unexpected<Error>(rewriter.error());
  return out;
}

Rewritten apply_matches(const Graph& graph, std::span<const Match> matches) {
  Rewriter rewriter(graph, matches);
  Graph out = rewriter.run();
  return {std::move(out), rewriter.applied()};
}

}  // namespace isomer
