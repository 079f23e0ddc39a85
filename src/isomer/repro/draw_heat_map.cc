#include <fmt/format.h>

#include <algorithm>

#include "isomer/repro/draw.h"
#include "isomer/repro/ticks.h"

namespace isomer {
namespace {

constexpr double kNames = 330, kTitle = 70, kCellWidth = 120, kCellHeight = 22, kMargin = 30;
constexpr double kLetter = 6.6;  // the width of a letter, about

/// From white (0) to dark blue (1).
std::string shade(double share) {
  const auto mix = [&](double dark) { return static_cast<int>(255 + share * (dark - 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(8), mix(48), mix(107));
}

double maximum(const HeatMap& map) {
  double highest = 0;
  for (const auto& row : map.cells)
    for (const auto& cell : row) highest = std::max(highest, cell.value_or(0));
  return highest;
}

/// Returns a name, cut so that it fits left of the cells.
std::string shortened(const std::string& name) {
  const auto letters = static_cast<size_t>((kNames - 40) / kLetter);
  return name.size() <= letters ? name : name.substr(0, letters - 3) + "...";
}

}  // namespace

DrawnSize draw_heat_map(const HeatMap& map, SvgCanvas& canvas) {
  using Anchor = SvgCanvas::Anchor;
  const double highest = maximum(map);
  const double width = kNames + kCellWidth * static_cast<double>(map.columns.size()) + kMargin;
  canvas.text(20, 22, map.title, Anchor::Start, 15);
  canvas.text(kNames - 8, kTitle - 8, axis_title(map.y), Anchor::End, 13);
  canvas.text(kNames, kTitle - 28, axis_title(map.x), Anchor::Start, 13);
  for (size_t c = 0; c < map.columns.size(); ++c)
    canvas.text(kNames + kCellWidth * (static_cast<double>(c) + 0.5), kTitle - 8, map.columns[c], Anchor::Middle);
  for (size_t r = 0; r < map.rows.size(); ++r) {
    const double top = kTitle + kCellHeight * static_cast<double>(r);
    canvas.text(kNames - 8, top + 15, shortened(map.rows[r]), Anchor::End, 11);
    for (size_t c = 0; c < map.columns.size(); ++c) {
      const auto& cell = map.cells[r][c];
      if (!cell) continue;
      const double share = highest > 0 ? *cell / highest : 0;
      const double left = kNames + kCellWidth * static_cast<double>(c);
      canvas.rect(left, top, kCellWidth - 1, kCellHeight - 1, shade(share), map.rows[r] + ", " + map.columns[c]);
      canvas.text(left + kCellWidth / 2, top + 15, tick_text(*cell), Anchor::Middle, 11, false,
                  share > 0.5 ? "#fff" : "#222");
    }
  }
  return {width, kTitle + kCellHeight * static_cast<double>(map.rows.size()) + kMargin};
}

}  // namespace isomer
