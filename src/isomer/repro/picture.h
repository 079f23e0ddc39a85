#pragma once
// What a figure shows: curves, bars, or a heat map. svg.h draws them.

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace isomer {

struct ChartAxis {
  std::string label;
  std::string unit = {};     ///< empty: a number without unit
  bool logarithmic = false;  ///< all values must be positive
};

struct ChartPoint {
  double x, y;
  bool cut_off = false;    ///< of a search that a limit ended; drawn as a ring
  std::string label = {};  ///< shown with the number on hover; empty: the name of the series
};

/// The points of one thing that is compared.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  bool joined = true;  ///< by lines
};

/// Curves with a mark at each point, or bars. Bars stand over the `categories`: x is an index into them. Curves may
/// have categories too, at equal distances.
struct Chart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series = {};
  std::vector<std::string> categories = {};
  bool bars = false;
};

/// Numbers by row and column; a cell without a number is blank.
struct HeatMap {
  std::string title;
  ChartAxis x, y;
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::optional<double>>> cells = {};  ///< by row, then column
};

using Picture = std::variant<Chart, HeatMap>;

}  // namespace isomer
