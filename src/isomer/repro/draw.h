#pragma once
// Draws single pictures on a canvas.

#include "isomer/repro/picture.h"
#include "isomer/repro/svg_canvas.h"

namespace isomer {

struct DrawnSize {
  double width = 0, height = 0;
};

/// Returns the size that the picture takes.
DrawnSize draw_chart(const Chart& chart, SvgCanvas& canvas);
DrawnSize draw_heat_map(const HeatMap& map, SvgCanvas& canvas);

/// "search time (s)".
std::string axis_title(const ChartAxis& axis);

}  // namespace isomer
