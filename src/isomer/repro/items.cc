#include "isomer/repro/items.h"

#include <algorithm>

#include "isomer/base/near_names.h"

namespace isomer {
namespace {

/// "metaflow" of "metaflow-t3".
std::string paper_of(const ReproItem& item) { return item.id.substr(0, item.id.find('-')); }

std::vector<std::string> papers() {
  std::vector<std::string> names;
  for (const ReproItem& item : all_items())
    if (names.empty() || names.back() != paper_of(item)) names.push_back(paper_of(item));
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The networks of all items, without repetitions.
std::vector<std::string> networks_in(const std::vector<ReproItem>& items) {
  std::vector<std::string> all;
  for (const ReproItem& item : items)
    for (const std::string& network : item.experiment.networks)
      if (!contains(all, network)) all.push_back(network);
  return all;
}

tl::unexpected<Error> unknown_item(const std::string& name) {
  std::vector<std::string> names = papers();
  for (const ReproItem& item : all_items()) names.push_back(item.id);
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) return fail("there is no item '{}'{}", name, near);
  return fail("there is no item '{}'; `isomer repro --list` lists them; the papers are {}", name,
              fmt::join(papers(), ", "));
}

}  // namespace

const std::vector<ReproItem>& all_items() {
  static const std::vector<ReproItem> kAll = [] {
    std::vector<ReproItem> all;
    for (const auto paper :
         {metaflow_items, taso_items, ocggs_items, autograph_items, regal_items, flexflow_items, roc_items}) {
      for (ReproItem& item : paper()) all.push_back(std::move(item));
    }
    return all;
  }();
  return kAll;
}

Result<std::vector<ReproItem>> items_called(const std::string& name) {
  std::vector<ReproItem> found;
  for (const ReproItem& item : all_items()) {
    if (item.id == name && !item.reproduced()) return fail("{} is not reproduced: {}", name, item.why_not);
    if (item.id == name || (paper_of(item) == name && item.reproduced())) found.push_back(item);
  }
  if (!found.empty()) return found;
  if (contains(papers(), name))
    return fail("no item of {} is reproduced; `isomer repro --list` gives the reasons", name);
  return unknown_item(name);
}

Result<std::vector<ReproItem>> items_with(const std::vector<std::string>& networks, std::vector<ReproItem> items) {
  if (networks.empty()) return items;
  const std::vector<std::string> known = networks_in(items);
  if (known.empty()) return fail("there are no networks to choose from");
  for (const std::string& network : networks)
    if (!contains(known, network)) return fail("there is no '{}' here; there are {}", network, fmt::join(known, ", "));
  std::erase_if(items, [&](const ReproItem& item) {
    return std::ranges::find_first_of(item.experiment.networks, networks) == item.experiment.networks.end();
  });
  return items;
}

}  // namespace isomer
