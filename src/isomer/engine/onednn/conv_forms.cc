#include "isomer/engine/onednn/conv_forms.h"

#include <mutex>
#include <unordered_map>

#include "isomer/base/hash.h"
#include "isomer/engine/onednn/conv_problem.h"

namespace isomer::onednn {
namespace {

/// Batch normalizations will have been merged into the weights and the bias.
bool is_folded(const Post& post) { return post.function && post.function->algorithm == dnnl::algorithm::undef; }

/// What is decided about a group.
struct Decided {
  std::optional<Layout> layout;
  std::optional<Algorithm> algorithm;
};

uint64_t hash_of(const Graph& graph, const Group& group, const Decided& decided) {
  const Node& node = graph.node(group.root);
  uint64_t hash = node.attrs.hash();
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

std::vector<ConvForm> ask(const Graph& graph, const Group& group, const Decided& decided, const dnnl::engine& engine) {
  auto problem = read_conv(graph, graph.node(group.root));
  if (!problem) return {};
  std::vector<Post> posts;
  for (const Post& post : group.posts) {
    if (is_folded(post)) problem->bias = true;
    if (!is_folded(post)) posts.push_back(post);
  }
  std::vector<ConvForm> forms;
  for (const ConvChoice& way :
       conv_ways(graph, engine, *problem, posts, {.algorithm = decided.algorithm, .layout = decided.layout}))
    forms.push_back(form_of(way));
  return forms;
}

}  // namespace

struct ConvForms::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<ConvForm>> known;  // guarded by mutex; entries are never moved
};

ConvForms::ConvForms() : state_(std::make_unique<State>()) {}
ConvForms::~ConvForms() = default;

std::span<const ConvForm> ConvForms::of(const Graph& graph, const Group& group, const Decisions& decisions) {
  const Decided decided{decisions.layout(graph.node(group.last()).result()),
                        decisions.algorithm(graph.node(group.root).result())};
  const uint64_t hash = hash_of(graph, group, decided);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto [entry, fresh] = state_->known.try_emplace(hash);
  if (fresh) entry->second = ask(graph, group, decided, state_->engine);
  return entry->second;
}

}  // namespace isomer::onednn
