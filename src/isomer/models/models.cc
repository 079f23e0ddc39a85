#include "isomer/models/models.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include "isomer/models/networks.h"

namespace isomer {
namespace {

std::vector<Network> all_networks() {
  std::vector<Network> networks;
  for (const auto family : {classic_networks, resnet_networks, inception_networks, googlenet_networks,
                            densenet_networks, mobile_networks, vision_transformer_networks, nasnet_networks,
                            nasnet_a_networks, recurrent_networks, linear_attention_networks, transformer_networks}) {
    for (Network& network : family()) networks.push_back(std::move(network));
  }
  return networks;
}

/// The number after `stem` in `name`, without leading zeros.
std::optional<int64_t> number_behind(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return std::nullopt;
  const std::string_view digits = name.substr(stem.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits[0] == '0') return std::nullopt;
  return number;
}

/// The minimum number of insertions, deletions and replacements of letters that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Up to four names that have a similar spelling or the same beginning as `name`; the nearest first.
std::vector<std::string> near_names(const std::string& name) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const ModelEntry& entry : all_models()) {
    const size_t distance = edit_distance(name, entry.name);
    const bool begins = name.size() > 1 && entry.name.starts_with(name);
    if (begins || distance <= std::max<size_t>(2, name.size() / 3)) near.emplace_back(distance, entry.name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(near.size(), 4); ++i) names.push_back(near[i].second);
  return names;
}

tl::unexpected<Error> unknown(const std::string& name) {
  const auto near = near_names(name);
  if (near.empty()) return fail("there is no network '{}'", name);
  std::string list = near[0];
  for (size_t i = 1; i < near.size(); ++i) list += (i + 1 == near.size() ? " or " : ", ") + near[i];
  return fail("there is no network '{}'; did you mean {}?", name, list);
}

Result<Graph> build(const Network& network, const std::string& name, int64_t number, int batch, uint64_t seed) {
  Net net(batch, seed);
  network.build(net, number);
  return in_context(name, net.finish());
}

}  // namespace

std::vector<ModelEntry> all_models() {
  std::vector<ModelEntry> entries;
  for (const Network& network : all_networks()) {
    if (network.numbers.empty()) entries.push_back({network.name, network.description});
    for (const int64_t number : network.numbers)
      entries.push_back({network.name + std::to_string(number), network.description});
  }
  return entries;
}

Result<Graph> build_model(const std::string& name, int batch, uint64_t seed) {
  if (batch < 1 || batch > kMaxBatch) return fail("a batch must be from 1 to {}, not {}", kMaxBatch, batch);
  for (const Network& network : all_networks()) {
    if (network.numbers.empty()) {
      if (network.name == name) return build(network, name, 0, batch, seed);
      continue;
    }
    const auto number = number_behind(name, network.name);
    if (!number) continue;
    if (*number < 1 || *number > network.max_number)
      return fail("the number of {} must be from 1 to {}", network.name, network.max_number);
    return build(network, name, *number, batch, seed);
  }
  return unknown(name);
}

}  // namespace isomer
