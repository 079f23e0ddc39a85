#pragma once
// Shapes and text of an SVG document, in pixels from the upper left corner.

#include <string>
#include <string_view>

namespace isomer {

class SvgCanvas {
 public:
  enum class Anchor { Start, Middle, End };

  /// All shapes that follow are moved down by this much.
  void move_to(double top) { top_ = top; }

  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1);
  void rect(double x, double y, double width, double height, std::string_view color, std::string_view tooltip = "");
  void circle(double x, double y, double radius, std::string_view color, std::string_view tooltip = "");
  /// Text whose baseline is at `y`. `turned`: reads upwards.
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::Start, double size = 12,
            bool turned = false, std::string_view color = "#222");

  /// The document with a white background.
  std::string document(double width, double height) const;

 private:
  double top_ = 0;
  std::string shapes_;
};

}  // namespace isomer
