#include "isomer/models/models.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "isomer/base/near_names.h"
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

tl::unexpected<Error> unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : all_models()) names.push_back(entry.name);
  return fail("there is no network '{}'{}", name, did_you_mean(name, names));
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
