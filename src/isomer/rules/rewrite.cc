#include "isomer/rules/rewrite.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "isomer/rules/match_target.h"

namespace isomer {
namespace {

/// Copies a graph value by value, starting from its outputs, and replaces the roots of matches.
class Rewriter {
 public:
  Rewriter(const Graph& graph, std::span<const Match> matches, const RefusedWeights* refused)
      : graph_(graph),
        refused_(refused),
        builder_(graph.name_table()),
        made_(graph.num_values(), kNoValue),
        job_of_(graph.num_values(), kNoJob) {
    builder_.reserve_like(graph);
    for (const Match& match : matches) add(match);
  }

  Graph run(std::vector<uint64_t>* value_hashes = nullptr) {
    for (const ValueId input : graph_.inputs()) made_[input] = builder_.input_like(graph_, input);
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
  static constexpr size_t kNoJob = std::numeric_limits<size_t>::max();
  enum class State : uint8_t { Waiting, Active, Done, Refused };
  struct Job {
    const Match* match;
    std::shared_ptr<const MatchTarget> target;
    std::vector<ValueId> leaves = {};  // the values for which the target's inputs stand
    State state = State::Waiting;
  };

  void add(const Match& match) {
    if (std::ranges::any_of(match.roots, [&](ValueId root) { return job_of_[root] != kNoJob; })) return;
    for (const ValueId root : match.roots) job_of_[root] = jobs_.size();
    Job& job = jobs_.emplace_back(Job{&match, target_of(graph_, match)});
    job.leaves = job.target->bound(match);
    if (const auto& graph = job.target->graph(); !graph) refuse(job, graph.error());
  }

  /// The job that replaces a value; nullptr if there is none or it was refused.
  Job* job(ValueId value) {
    const size_t found = job_of_[value];
    return found == kNoJob || jobs_[found].state == State::Refused ? nullptr : &jobs_[found];
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

  /// Copies a node of `from`, whose values have the given copies.
  NodeId copy(const Graph& from, const Node& node, const std::vector<ValueId>& copies) {
    operands_.clear();
    for (const ValueId operand : from.operands(node))
      operands_.push_back(operand == kNoValue ? kNoValue : copies[operand]);
    // Every value has the type of the one that it replaces, so the node is still well typed.
    const auto id = builder_.copy(from, node, operands_);
    assert(id.has_value());
    return *id;
  }

  void copy(const Node& node) {
    const NodeId id = copy(graph_, node, made_);
    for (uint32_t i = 0; i < node.num_results; ++i) {
      const ValueId old = node.result(i);
      const ValueId now = builder_.at(id).result(i);
      const Job* replaced = job(old);
      if (made_[old] == kNoValue && replaced == nullptr) made_[old] = now;
      builder_.set_origin(now, graph_.origin(old));
    }
  }

  Status make_targets(Job& job) {
    const Graph& target = *job.target->graph();
    std::vector<ValueId> copies(target.num_values(), kNoValue);
    for (size_t i = 0; i < job.leaves.size(); ++i)
      if (job.leaves[i] != kNoValue) copies[target.inputs()[i]] = made_[job.leaves[i]];
    for (const Node& node : target.nodes()) {
      if (node.is_input()) continue;
      const NodeId id = copy(target, node, copies);
      for (uint32_t i = 0; i < node.num_results; ++i) {
        copies[node.result(i)] = builder_.at(id).result(i);
        ISOMER_CHECK(check(copies[node.result(i)]));
      }
    }
    for (size_t i = 0; i < job.match->roots.size(); ++i) {
      const ValueId root = job.match->roots[i];
      made_[root] = copies[target.outputs()[i]];
      builder_.set_origin(made_[root], graph_.origin(root));
    }
    job.state = State::Done;
    return {};
  }

  /// Fails if a value is a refused weight.
  Status check(ValueId value) const {
    if (refused_ == nullptr || refused_->empty()) return {};
    const auto found = refused_->find(builder_.peek().value_hash(value));
    return found == refused_->end() ? Status() : fail("{}", found->second);
  }

  const Graph& graph_;
  const RefusedWeights* const refused_;
  GraphBuilder builder_;
  std::vector<ValueId> made_;
  std::vector<Job> jobs_;
  std::vector<size_t> job_of_;     // by root
  std::vector<ValueId> operands_;  // of the node that is being copied
  Error error_;
};

}  // namespace

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
