#include <fmt/format.h>

#include <algorithm>

#include "isomer/repro/draw.h"
#include "isomer/repro/ticks.h"

namespace isomer {
namespace {

// The plot, and around it a title, axes with numbers and labels, and the legend on the right.
constexpr double kLeft = 80, kTop = 40, kPlotWidth = 480, kPlotHeight = 260, kBottom = 60, kLegend = 240;
// Dark enough on white, and told apart by people who see few colors (Okabe and Ito).
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
using Anchor = SvgCanvas::Anchor;

class ChartDrawing {
 public:
  ChartDrawing(const Chart& chart, SvgCanvas& canvas)
      : chart_(chart),
        canvas_(canvas),
        x_(all(&ChartPoint::x), chart.x.logarithmic, false),
        y_(all(&ChartPoint::y), chart.y.logarithmic, true) {}

  void draw() {
    canvas_.text(kLeft, 22, chart_.title, Anchor::Start, 15);
    draw_axes();
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.bars) {
        draw_bars(i);
      } else {
        draw_curve(i);
      }
    }
    draw_legend();
  }

 private:
  std::vector<double> all(double ChartPoint::*coordinate) const {
    std::vector<double> values;
    for (const ChartSeries& series : chart_.series)
      for (const ChartPoint& point : series.points) values.push_back(point.*coordinate);
    if (values.empty()) values.push_back(1);
    return values;
  }

  void draw_legend() {
    const double left = kLeft + kPlotWidth + 20;
    double y = kTop + 12;
    bool any_cut_off = false;
    for (size_t i = 0; i < chart_.series.size(); ++i, y += 20) {
      canvas_.rect(left, y - 9, 12, 12, color(i));
      canvas_.text(left + 18, y + 1, chart_.series[i].name);
      any_cut_off |= std::ranges::any_of(chart_.series[i].points, &ChartPoint::cut_off);
    }
    if (any_cut_off) canvas_.text(left, y + 1, "ring: the search was cut off");
  }

  static const char* color(size_t series) { return kColors[series % std::size(kColors)]; }
  double slot() const { return kPlotWidth / static_cast<double>(chart_.categories.size()); }
  double pixel_x(double x) const {
    return kLeft + (chart_.categories.empty() ? kPlotWidth * x_.place(x) : slot() * (x + 0.5));
  }
  double pixel_y(double y) const { return kTop + kPlotHeight * (1 - y_.place(y)); }

  void draw_axes() {
    const double bottom = kTop + kPlotHeight;
    for (const double tick : y_.ticks()) {
      canvas_.line(kLeft, pixel_y(tick), kLeft + kPlotWidth, pixel_y(tick), "#ddd");
      canvas_.text(kLeft - 6, pixel_y(tick) + 4, tick_text(tick), Anchor::End);
    }
    if (chart_.categories.empty()) {
      for (const double tick : x_.ticks()) draw_x_tick(tick, tick_text(tick));
    } else {
      for (size_t i = 0; i < chart_.categories.size(); ++i) draw_x_tick(static_cast<double>(i), chart_.categories[i]);
    }
    canvas_.line(kLeft, kTop, kLeft, bottom, "#222");
    canvas_.line(kLeft, bottom, kLeft + kPlotWidth, bottom, "#222");
    canvas_.text(kLeft + kPlotWidth / 2, bottom + 44, axis_title(chart_.x), Anchor::Middle, 13);
    canvas_.text(18, kTop + kPlotHeight / 2, axis_title(chart_.y), Anchor::Middle, 13, true);
  }

  void draw_x_tick(double x, const std::string& text) {
    canvas_.line(pixel_x(x), kTop + kPlotHeight, pixel_x(x), kTop + kPlotHeight + 5, "#222");
    canvas_.text(pixel_x(x), kTop + kPlotHeight + 20, text, Anchor::Middle);
  }

  std::string tooltip(const ChartSeries& series, const ChartPoint& point) const {
    const std::string unit = chart_.y.unit.empty() ? "" : " " + chart_.y.unit;
    const std::string& name = point.label.empty() ? series.name : point.label;
    return fmt::format("{}: {}{}{}", name, tick_text(point.y), unit, point.cut_off ? " (cut off)" : "");
  }

  void draw_curve(size_t i) {
    const ChartSeries& series = chart_.series[i];
    for (size_t p = 1; series.joined && p < series.points.size(); ++p) {
      const ChartPoint &from = series.points[p - 1], &to = series.points[p];
      canvas_.line(pixel_x(from.x), pixel_y(from.y), pixel_x(to.x), pixel_y(to.y), color(i), 2);
    }
    for (const ChartPoint& point : series.points) {
      canvas_.circle(pixel_x(point.x), pixel_y(point.y), 4, color(i), tooltip(series, point));
      if (point.cut_off) canvas_.circle(pixel_x(point.x), pixel_y(point.y), 2, "white");
    }
  }

  void draw_bars(size_t i) {
    const double width = 0.8 * slot() / static_cast<double>(chart_.series.size());
    for (const ChartPoint& point : chart_.series[i].points) {
      const double left = pixel_x(point.x) - 0.4 * slot() + width * static_cast<double>(i);
      const double top = pixel_y(point.y);
      canvas_.rect(left, top, width - 1, kTop + kPlotHeight - top, color(i), tooltip(chart_.series[i], point));
    }
  }

  const Chart& chart_;
  SvgCanvas& canvas_;
  const AxisScale x_, y_;
};

}  // namespace

std::string axis_title(const ChartAxis& axis) {
  return axis.unit.empty() ? axis.label : fmt::format("{} ({})", axis.label, axis.unit);
}

DrawnSize draw_chart(const Chart& chart, SvgCanvas& canvas) {
  ChartDrawing(chart, canvas).draw();
  return {kLeft + kPlotWidth + kLegend, kTop + kPlotHeight + kBottom};
}

}  // namespace isomer
