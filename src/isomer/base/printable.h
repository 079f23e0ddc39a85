#pragma once
// Makes text from untrusted files, such as names of tensors, safe to print on a terminal.

#include <string>
#include <string_view>

namespace isomer {

/// `name` on one line, without anything that a terminal interprets: control characters, line breaks, marks that change
/// the direction of text, and bytes that are not UTF-8 are escaped ("\n", "\x1b", "\u202e"). Other text is unchanged,
/// so printable(printable(x)) == printable(x).
std::string printable(std::string_view name);

/// As printable, but keeps line breaks.
std::string printable_lines(std::string_view text);

}  // namespace isomer
