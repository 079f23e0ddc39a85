#include "isomer/base/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace isomer {
namespace {

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

}  // namespace

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> names) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& one : names) {
    const size_t distance = edit_distance(name, one);
    const bool begins = name.size() > 1 && one.starts_with(name);
    if (begins || distance <= std::max<size_t>(2, name.size() / 3)) near.emplace_back(distance, one);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min<size_t>(near.size(), 4); ++i) out.push_back(near[i].second);
  return out;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  const auto near = near_names(name, names);
  if (near.empty()) return "";
  std::string list = near[0];
  for (size_t i = 1; i < near.size(); ++i) list += (i + 1 == near.size() ? " or " : ", ") + near[i];
  return "; did you mean " + list + "?";
}

}  // namespace isomer
