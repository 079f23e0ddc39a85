#include "isomer/engine/onednn/conv_ways.h"

#include <fmt/ranges.h>

#include <bit>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/engine/onednn/conv_problem.h"
#include "isomer/engine/onednn/filter_gradient.h"
#include "isomer/engine/onednn/tuner.h"

namespace isomer::onednn {
namespace {

/// What is decided about a group.
struct Decided {
  std::optional<Layout> layout;
  std::optional<Algorithm> algorithm;
};

uint64_t hash_of(const Graph& graph, const Group& group, const Decided& decided) {
  const Node& node = graph.node(group.root);
  uint64_t hash = hash_mix(node.attrs.hash(), graph.is_output(graph.node(group.last()).result()) ? 1 : 0);
  hash = hash_mix(hash, hash_bytes(node.op->name.data(), node.op->name.size(), filter_gradient(graph, node) ? 1 : 0));
  hash = hash_mix(hash, decided.layout ? 1 + static_cast<uint64_t>(*decided.layout) : 0);
  hash = hash_mix(hash, decided.algorithm ? 1 + static_cast<uint64_t>(*decided.algorithm) : 0);
  for (const ValueId operand : graph.operands(node))
    hash = hash_mix(hash, operand == kNoValue ? 0 : graph.type(operand).hash());
  hash = hash_mix(hash, graph.is_constant_derived(graph.operands(node)[1]) ? 1 : 2);
  for (const Post& post : group.posts) {
    if (post.function) {
      const Eltwise& function = *post.function;
      const auto bits = [](float number) { return uint64_t{std::bit_cast<uint32_t>(number)}; };
      hash = hash_mix(hash, static_cast<uint64_t>(function.algorithm));
      hash = hash_mix(hash_mix(hash, bits(function.alpha)), bits(function.beta));
    } else {
      hash = hash_mix(hash_mix(hash, graph.type(post.added).hash()), graph.is_constant_derived(post.added) ? 1 : 2);
    }
  }
  return hash;
}

/// The forms between which oneDNN has a fast reorder in place of one that involves strides.
Form unstrided(Form form, Form other) {
  if (form != kStridedForm) return form;
  return other == kPlainForm ? kLastForm : kPlainForm;
}

uint64_t hash_of(const Dims& dims, const ConvReorder& reorder) {
  uint64_t hash = hash_mix(static_cast<uint64_t>(reorder.dtype), static_cast<uint64_t>(reorder.from));
  hash = hash_mix(hash, static_cast<uint64_t>(reorder.to));
  return hash_bytes(dims.data(), dims.size() * sizeof(dims[0]), hash);
}

}  // namespace

struct ConvWays::State {
  const std::shared_ptr<Tuner> tuner;
  const ConvSettings settings;
  std::mutex mutex;                                               // guards what follows
  std::unordered_map<uint64_t, std::vector<ConvForm>> ways = {};  // entries are never moved
  std::unordered_map<uint64_t, double> reorders = {};             // times

  State(std::shared_ptr<Tuner> with, DType dtype)
      : tuner(std::move(with)), settings{dnnl::engine(dnnl::engine::kind::cpu, 0), element_types(dtype), measures()} {}

  bool measures() const { return tuner != nullptr && tuner->measures(); }

  std::vector<ConvForm> ask(const Graph& graph, const Group& group, const Decisions& decisions,
                            TuningLimit& limit) const {
    const ConvChoices choices = conv_choices(graph, group, decisions, settings);
    std::vector<ConvForm> forms;
    for (const ConvChoice& choice : choices.ways) {
      forms.push_back(form_of(choice));
      forms.back().pass = choices.problem.pass;
      if (measures()) forms.back().us = time(choices.problem, choice, limit);
    }
    return forms;
  }

  double time(const ConvProblem& problem, const ConvChoice& choice, TuningLimit& limit) const {
    const std::string key =
        fmt::format("{}{} {} {} {}{}", problem.key(), choice.posts.key, layout_str(choice.src), layout_str(choice.dst),
                    choice.implementation(), problem.constant_weights ? "" : " and weights");
    const double us = tuner->time(trial_of(settings.engine, problem, choice), key, limit);
    // Changes of the weights' layout count if each run makes them. Trials of our own kernels include them.
    if (choice.kernel() != ConvKernel::Library || problem.constant_weights) return us;
    const bool made = problem.pass == ConvPass::Filters;
    const Desc& from = made ? choice.weights : problem.given;
    const Desc& to = made ? problem.given : choice.weights;
    return same_layout(from, to) ? us : us + time(from, to, "weights of " + key, limit);
  }

  double time(const Dims& dims, const ConvReorder& reorder, TuningLimit& limit) const {
    const ElementType type = element_types(reorder.dtype).front();
    const Desc from = form_desc(dims, unstrided(reorder.from, reorder.to), type);
    const Desc to = form_desc(dims, unstrided(reorder.to, reorder.from), type);
    const std::string key = fmt::format("reorder {} {} to {}", fmt::join(dims, ","), layout_str(from), layout_str(to));
    return time(from, to, key, limit);
  }

  double time(const Desc& from, const Desc& to, const std::string& key, TuningLimit& limit) const {
    const auto desc =
        attempt([&] { return dnnl::reorder::primitive_desc(settings.engine, from, settings.engine, to); });
    if (!desc) return std::numeric_limits<double>::infinity();
    return tuner->time(settings.engine, *desc, key, limit);
  }
};

ConvWays::ConvWays(std::shared_ptr<Tuner> tuner, DType dtype)
    : dtype_(dtype), state_(std::make_unique<State>(std::move(tuner), dtype)) {}
ConvWays::~ConvWays() = default;

std::span<const ConvForm> ConvWays::of(const Graph& graph, const Group& group, const Decisions& decisions,
                                       TuningLimit& limit) {
  const Decided decided{decisions.layout(graph.node(group.last()).result()),
                        decisions.algorithm(graph.node(group.root).result())};
  const uint64_t hash = hash_of(graph, group, decided);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (const auto known = state_->ways.find(hash); known != state_->ways.end()) return known->second;
  std::vector<ConvForm> ways = state_->ask(graph, group, decisions, limit);
  if (limit.exceeded) return {};
  return state_->ways.emplace(hash, std::move(ways)).first->second;
}

double ConvWays::cost(const Graph& graph, const ConvReorder& reorder, TuningLimit& limit) {
  if (alike(graph, reorder.value, reorder.from, reorder.to)) return 0;
  if (!state_->measures()) return 1;
  const Dims dims = dims_of(graph.type(reorder.value));
  const uint64_t hash = hash_of(dims, reorder);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (const auto known = state_->reorders.find(hash); known != state_->reorders.end()) return known->second;
  const double us = state_->time(dims, reorder, limit);
  if (!limit.exceeded) state_->reorders.emplace(hash, us);
  return us;
}

}  // namespace isomer::onednn
