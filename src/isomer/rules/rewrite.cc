#include "isomer/rules/rewrite.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "isomer/rules/instantiate.h"
#include "isomer/rules/siblings.h"

namespace isomer {
namespace {

/// Builds terms in a graph under construction.
class GraphTerms : public TermBuilder {
 public:
  GraphTerms(GraphBuilder& builder, const RefusedWeights* refused) : builder_(builder), refused_(refused) {}
  const TensorType& type(ValueId value) const override { return builder_.type(value); }
  bool is_weight(ValueId) const override { return false; }
  const Tensor* constant(ValueId value) const override { return builder_.constant_data(value); }
  ValueId make_constant(Tensor tensor) override { return builder_.constant(std::move(tensor)); }
  Result<std::vector<ValueId>> apply(const OpDef& op, const Attrs& attrs, std::span<const ValueId> operands) override {
    ISOMER_TRY(const NodeId id, builder_.node(op, attrs, operands));
    std::vector<ValueId> results;
    for (uint32_t r = 0; r < builder_.at(id).num_results; ++r) {
      results.push_back(builder_.at(id).result(r));
      ISOMER_CHECK(check(results.back()));
    }
    return results;
  }

 private:
  Status check(ValueId value) const {
    if (refused_ == nullptr || refused_->empty()) return {};
    const auto found = refused_->find(builder_.peek().value_hash(value));
    return found == refused_->end() ? Status() : fail("{}", found->second);
  }

  GraphBuilder& builder_;
  const RefusedWeights* const refused_;
};

/// Copies a graph value by value, starting from its outputs, and replaces the roots of matches.
class Rewriter {
 public:
  Rewriter(const Graph& graph, std::span<const Match> matches, const RefusedWeights* refused)
      : graph_(graph), refused_(refused), builder_(graph.name_table()), made_(graph.num_values(), kNoValue) {
    for (const Match& match : matches) add(match);
  }

  Graph run(std::vector<uint64_t>* value_hashes = nullptr) {
    for (const ValueId input : graph_.inputs()) {
      made_[input] = builder_.input(graph_.type(input));
      builder_.set_origin(made_[input], graph_.origin(input));
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : graph_.outputs()) {
      make(output);
      outputs.push_back(made_[output]);
    }
    if (value_hashes != nullptr)
      for (const ValueId value : made_)
        value_hashes->push_back(value == kNoValue ? 0 : builder_.peek().value_hash(value));
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
    std::vector<ValueId> leaves;  // the values from which the targets are computed
    State state = State::Waiting;
  };

  void add(const Match& match) {
    const bool taken =
        std::any_of(match.roots.begin(), match.roots.end(), [&](ValueId root) { return job_of_.contains(root); });
    if (taken) return;
    for (const ValueId root : match.roots) job_of_[root] = jobs_.size();
    jobs_.push_back({&match, bound_values(match.binding, read_by_target(*match.rule))});
  }

  /// The job that replaces a value; nullptr if there is none or it was refused.
  Job* job(ValueId value) {
    const auto found = job_of_.find(value);
    if (found == job_of_.end() || jobs_[found->second].state == State::Refused) return nullptr;
    return &jobs_[found->second];
  }

  void refuse(Job& job, Error error) {
    job.state = State::Refused;
    error_ = std::move(error);
  }

  /// Makes a value and everything that it needs. Uses an explicit stack, because graphs are deep. A job that needs one
  /// of its own roots would create a cycle and is refused. Its roots are then copied like any other value.
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

  /// Whether the job of a root was refused while the job's leaves were being made. The root's operands are then still
  /// missing.
  bool waiting_for_operands(ValueId value) const {
    const auto operands = graph_.operands(graph_.producer_node(value));
    return std::any_of(operands.begin(), operands.end(),
                       [&](ValueId operand) { return operand != kNoValue && made_[operand] == kNoValue; });
  }

  void copy(const Node& node) {
    std::vector<ValueId> operands;
    for (const ValueId operand : graph_.operands(node))
      operands.push_back(operand == kNoValue ? kNoValue : made_[operand]);
    // Every replacement has the type of the value that it replaces, so the node is still well typed.
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

  /// The binding with values of the new graph. If the target only queries the shape of a value, the value becomes a
  /// stand-in of the same type, which no output reaches.
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
    GraphTerms terms(builder_, refused_);
    ISOMER_TRY(const auto targets, instantiate_targets(terms, *match.rule, bind(match), element));
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
  const RefusedWeights* const refused_;
  GraphBuilder builder_;
  std::vector<ValueId> made_;
  std::vector<Job> jobs_;
  std::map<ValueId, size_t> job_of_;
  Error error_;
};

}  // namespace

Result<std::vector<ValueId>> instantiate_targets(GraphBuilder& builder, const Rule& rule, Binding binding,
                                                 DType element) {
  GraphTerms terms(builder, nullptr);
  return instantiate_targets(terms, rule, std::move(binding), element);
}

Result<Graph> apply_match(const Graph& graph, const Match& match, const RefusedWeights* refused) {
  Rewriter rewriter(graph, {&match, 1}, refused);
  Graph out = rewriter.run();
  if (rewriter.applied().empty()) return tl::unexpected<Error>(rewriter.error());
  return out;
}

Rewritten apply_matches(const Graph& graph, std::span<const Match> matches, const RefusedWeights* refused) {
  Rewriter rewriter(graph, matches, refused);
  Rewritten out;
  out.graph = rewriter.run(&out.value_hashes);
  out.applied = rewriter.applied();
  return out;
}

}  // namespace isomer
