#pragma once
// Draws the pictures of figures as SVG.

#include <span>
#include <string>

#include "isomer/repro/picture.h"

namespace isomer {

/// An SVG document with the pictures one below the other. Numbers are those of the pictures; nothing depends on the
/// locale or the machine.
std::string svg_of(std::span<const Picture> pictures);

}  // namespace isomer
