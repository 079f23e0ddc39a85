#include "isomer/engine/onednn/conv_ways.h"

#include <fmt/ranges.h>

#include <limits>
#include <mutex>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/engine/onednn/conv_problem.h"
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
  hash = hash_mix(hash, decided.layout ? 1 + static_cast<uint64_t>(*decided.layout) : 0);
  hash = hash_mix(hash, decided.algorithm ? 1 + static_cast<uint64_t>(*decided.algorithm) : 0);
  for (const ValueId operand : graph.operands(node))
    hash = hash_mix(hash, operand == kNoValue ? 0 : graph.type(operand).hash());
  for (const Post& post : group.posts) {
    if (post.function) {
      hash = hash_mix(hash, static_cast<uint64_t>(post.function->algorithm));
    } else {
      hash = hash_mix(hash_mix(hash, graph.type(post.added).hash()), graph.is_weight(post.added) ? 1 : 2);
    }
  }
  return hash;
}

/// The forms between which oneDNN has a fast reorder in place of one that involves strides.
Form unstrided(Form form, Form other) {
  if (form != kStridedForm) return form;
  return other == kPlainForm ? kLastForm : kPlainForm;
}

/// Returns a time; infinity if oneDNN cannot make the primitive, so that another one is used.
template <class Time>
double or_never(const Time& time) {
  try {
    return time();
  } catch (const dnnl::error&) {
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

struct ConvWays::State {
  const std::shared_ptr<Tuner> tuner;
  const ConvSettings settings;
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<ConvForm>> known = {};  // guarded by mutex; entries are never moved

  State(std::shared_ptr<Tuner> with, DType dtype)
      : tuner(std::move(with)), settings{dnnl::engine(dnnl::engine::kind::cpu, 0), element_types(dtype), measures()} {}

  bool measures() const { return tuner != nullptr && tuner->measures(); }

  std::vector<ConvForm> ask(const Graph& graph, const Group& group, const Decisions& decisions) const {
    const ConvChoices choices = conv_choices(graph, group, decisions, settings);
    std::vector<ConvForm> forms;
    for (const ConvChoice& choice : choices.ways) {
      forms.push_back(form_of(choice));
      if (measures()) forms.back().us = time(choices.problem, choice);
    }
    return forms;
  }

  double time(const ConvProblem& problem, const ConvChoice& choice) const {
    const std::string key = fmt::format("{}{} {} {}", problem.key(), choice.posts.key,
                                        layout_str(choice.desc.src_desc()), layout_str(choice.desc.dst_desc()));
    return or_never([&] { return tuner->time(settings.engine, choice.desc, key); });
  }
};

ConvWays::ConvWays(std::shared_ptr<Tuner> tuner, DType dtype)
    : state_(std::make_unique<State>(std::move(tuner), dtype)) {}
ConvWays::~ConvWays() = default;

std::span<const ConvForm> ConvWays::of(const Graph& graph, const Group& group, const Decisions& decisions) {
  const Decided decided{decisions.layout(graph.node(group.last()).result()),
                        decisions.algorithm(graph.node(group.root).result())};
  const uint64_t hash = hash_of(graph, group, decided);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto [entry, fresh] = state_->known.try_emplace(hash);
  if (fresh) entry->second = state_->ask(graph, group, decisions);
  return entry->second;
}

double ConvWays::cost(const Graph& graph, const ConvReorder& reorder) {
  if (alike(graph, reorder.value, reorder.from, reorder.to)) return 0;
  if (!state_->measures()) return 1;
  const Dims dims = dims_of(graph.type(reorder.value));
  const dnnl::engine& engine = state_->settings.engine;
  return or_never([&] {
    const Desc from = form_desc(dims, unstrided(reorder.from, reorder.to));
    const Desc to = form_desc(dims, unstrided(reorder.to, reorder.from));
    const dnnl::reorder::primitive_desc desc(engine, from, engine, to);
    const std::string key = fmt::format("reorder {} {} to {}", fmt::join(dims, ","), layout_str(from), layout_str(to));
    return state_->tuner->time(engine, desc, key);
  });
}

}  // namespace isomer::onednn
