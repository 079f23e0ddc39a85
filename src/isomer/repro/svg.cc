#include "isomer/repro/svg.h"

#include <algorithm>

#include "isomer/repro/draw.h"

namespace isomer {
namespace {

struct Drawer {
  SvgCanvas& canvas;
  DrawnSize operator()(const Chart& chart) const { return draw_chart(chart, canvas); }
  DrawnSize operator()(const HeatMap& map) const { return draw_heat_map(map, canvas); }
};

}  // namespace

std::string svg_of(std::span<const Picture> pictures) {
  SvgCanvas canvas;
  DrawnSize whole;
  for (const Picture& picture : pictures) {
    canvas.move_to(whole.height);
    const DrawnSize size = std::visit(Drawer{canvas}, picture);
    whole.width = std::max(whole.width, size.width);
    whole.height += size.height;
  }
  return canvas.document(whole.width, whole.height);
}

}  // namespace isomer
