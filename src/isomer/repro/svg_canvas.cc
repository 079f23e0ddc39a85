#include "isomer/repro/svg_canvas.h"

#include <fmt/format.h>

namespace isomer {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

/// The end of a shape: a title, which viewers show as a tooltip, or nothing.
std::string closed(std::string_view tag, std::string_view tooltip) {
  return tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(tooltip), tag);
}

}  // namespace

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view color, double width) {
  shapes_ += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)"
                         "\n",
                         x1, y1 + top_, x2, y2 + top_, color, width);
}

void SvgCanvas::rect(double x, double y, double width, double height, std::string_view color,
                     std::string_view tooltip) {
  shapes_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}")", x, y + top_, width,
                         height, color);
  shapes_ += closed("rect", tooltip);
}

void SvgCanvas::circle(double x, double y, double radius, std::string_view color, std::string_view tooltip) {
  shapes_ += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}")", x, y + top_, radius, color);
  shapes_ += closed("circle", tooltip);
}

void SvgCanvas::text(double x, double y, std::string_view text, Anchor anchor, double size, bool turned,
                     std::string_view color) {
  const char* const anchors[] = {"start", "middle", "end"};
  shapes_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="{}")", x, y + top_,
                         anchors[static_cast<int>(anchor)], size, color);
  if (turned) shapes_ += fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y + top_);
  shapes_ += fmt::format(">{}</text>\n", escaped(text));
}

std::string SvgCanvas::document(double width, double height) const {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
                     R"(viewBox="0 0 {0:.0f} {1:.0f}" font-family="sans-serif">)"
                     "\n"
                     R"(<rect width="100%" height="100%" fill="white"/>)"
                     "\n{2}</svg>\n",
                     width, height, shapes_);
}

}  // namespace isomer
