#pragma once
// The list of all tables and figures, by paper. To add a paper, write a file that defines `std::vector<ReproItem>
// NAME_items()`, and add a line here and one in items.cc.

#include <string>
#include <vector>

#include "isomer/repro/experiment.h"

namespace isomer {

std::vector<ReproItem> metaflow_items();
std::vector<ReproItem> taso_items();
std::vector<ReproItem> ocggs_items();
std::vector<ReproItem> autograph_items();
std::vector<ReproItem> regal_items();
std::vector<ReproItem> flexflow_items();
std::vector<ReproItem> roc_items();

/// All items, in the order of the papers. Ids begin with the name of the paper: "metaflow-t3".
const std::vector<ReproItem>& all_items();

/// Returns the item with this id, or the reproduced items of the paper with this name. An Error if there is no such
/// item (it names similar ones), or if it is not reproduced.
Result<std::vector<ReproItem>> items_called(const std::string& name);

/// Returns those of the items that have one of the networks; all items if no network is given. An Error if one of the
/// networks is in none of them; it lists the networks that are.
Result<std::vector<ReproItem>> items_with(const std::vector<std::string>& networks, std::vector<ReproItem> items);

}  // namespace isomer
