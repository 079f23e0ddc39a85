#pragma once
// Text from files that strangers made, such as names of tensors, before it reaches a terminal.

#include <string>
#include <string_view>

namespace isomer {

/// `name` on one line, without anything that a terminal obeys: control characters, line breaks, marks that change the
/// direction of text, and bytes that are not UTF-8 become escapes ("\n", "\x1b", "\u202e"). Other text stays as it is,
/// so that printable(printable(x)) == printable(x).
std::string printable(std::string_view name);

/// As printable, for text of several lines: line breaks stay.
std::string printable_lines(std::string_view text);

}  // namespace isomer
