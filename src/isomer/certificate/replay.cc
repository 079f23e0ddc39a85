#include "isomer/certificate/replay.h"

#include <deque>

#include "isomer/certificate/part.h"
#include "isomer/certificate/target.h"

namespace isomer::replay {
namespace {

Result<std::vector<ValueId>> find_all(const NamedGraph& graph, std::span<const uint64_t> hashes) {
  std::vector<ValueId> out;
  for (const uint64_t hash : hashes) {
    ISOMER_TRY(const ValueId value, graph.find(hash));
    out.push_back(value);
  }
  return out;
}

/// One move: checks everything that it records about `before`, and makes the graph after it.
class Step {
 public:
  Step(const Graph& before, const RuleBook& rules, Tally& tally, const Watch& watch, const OwnWeights& own,
       const KnownConstants& known)
      : before_(before),
        named_(before),
        own_(own),
        computed_(before, own),
        known_(known),
        rules_(rules),
        tally_(tally),
        watch_(watch) {}

  Result<Graph> run(const Move& move) {
    if (before_.hash() != move.before)
      return fail("it begins with graph {:016x}, but the graph is {:016x}", move.before, before_.hash());
    for (const Application& application : move.applications)
      if (auto status = apply(application); !status) return fail_in("rule " + application.rule, status.error());
    for (size_t i = 0; i < move.parts.size(); ++i)
      if (auto status = rewrite(move.parts[i]); !status) return fail_in(fmt::format("part {}", i + 1), status.error());
    for (const auto& [value, tensor] : move.constants)
      if (auto status = fold(value, tensor); !status)
        return fail_in(fmt::format("constant {:016x}", value), status.error());
    ISOMER_TRY(Graph after, replace(before_, replacements_));
    if (after.hash() != move.after)
      return fail("it ends with graph {:016x}, but the replay ends with {:016x}", move.after, after.hash());
    ++tally_.moves;
    return after;
  }

 private:
  Status apply(const Application& application) {
    const auto rule = rules_.find(application.rule);
    if (rule == rules_.end()) return fail("the certificate has no such rule");
    ISOMER_TRY(Instance instance, check_instance(named_, rule->second, application));
    if (watch_) watch_(before_, instance);
    instances_.push_back(std::move(instance));
    replacements_.push_back(target_of(before_, instances_.back()));
    ++tally_.applications;
    return {};
  }

  Status rewrite(const PartRewrite& part) {
    ISOMER_TRY(std::vector<ValueId> inputs, find_all(named_, part.inputs));
    ISOMER_TRY(std::vector<ValueId> outputs, find_all(named_, part.outputs));
    ISOMER_TRY(const Graph start, part_of(before_, inputs, outputs));
    ISOMER_TRY(Graph end, replay_moves(start, part.moves, rules_, tally_, watch_, &own_, known_));
    replacements_.push_back(put_back(std::move(inputs), std::move(outputs), std::move(end)));
    ++tally_.parts;
    return {};
  }

  Status fold(uint64_t hash, uint64_t tensor_hash) {
    ISOMER_TRY(const ValueId value, named_.find(hash));
    Tensor tensor = known_ ? known_(hash) : Tensor();
    const bool known = !tensor.empty();
    if (!known) {
      ISOMER_TRY(tensor, computed_.of(value));
    }
    if (tensor.hash() != tensor_hash)
      return fail("it is recorded as tensor {:016x}, but computed as {:016x}", tensor_hash, tensor.hash());
    if (!known) ISOMER_CHECK(computed_.check(value));
    Replacement one;
    one.roots = {value};
    one.make = [tensor](GraphBuilder& builder, const Images&) {
      return Result<std::vector<ValueId>>(std::vector{builder.constant(tensor)});
    };
    one.refines = true;
    one.title = "a folded constant";
    replacements_.push_back(std::move(one));
    ++tally_.constants;
    return {};
  }

  const Graph& before_;
  const NamedGraph named_;
  const OwnWeights& own_;
  Computed computed_;
  const KnownConstants& known_;
  const RuleBook& rules_;
  Tally& tally_;
  const Watch& watch_;
  std::deque<Instance> instances_;  // replacements refer to them
  std::vector<Replacement> replacements_;
};

}  // namespace

Result<Graph> replay_moves(const Graph& start, std::span<const Move> moves, const RuleBook& rules, Tally& tally,
                           const Watch& watch, const OwnWeights* own, const KnownConstants& known) {
  const OwnWeights of_start = own == nullptr ? own_weights(start) : OwnWeights();
  Graph graph = start;
  for (size_t i = 0; i < moves.size(); ++i) {
    auto next = Step(graph, rules, tally, watch, own == nullptr ? of_start : *own, known).run(moves[i]);
    if (!next) return fail_in(fmt::format("step {}", i + 1), next.error());
    graph = std::move(*next);
  }
  return graph;
}

Tally tally_of(std::span<const Move> moves) {
  Tally out;
  for (const Move& move : moves) {
    ++out.moves;
    out.applications += move.applications.size();
    out.constants += move.constants.size();
    for (const PartRewrite& part : move.parts) {
      const Tally inner = tally_of(part.moves);
      ++out.parts;
      out.moves += inner.moves;
      out.applications += inner.applications;
      out.parts += inner.parts;
      out.constants += inner.constants;
    }
  }
  return out;
}

}  // namespace isomer::replay
