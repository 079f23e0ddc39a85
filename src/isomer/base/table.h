#pragma once
// Aligned text tables for the terminal.

#include <string>
#include <vector>

namespace isomer {

/// A table whose columns are two blanks apart. The first character of a heading aligns its column: '<' left, '>' right.
///
///     Table table({"<model", ">median us"});
///     table.row({"a.onnx", "12.5"});
class Table {
 public:
  explicit Table(std::vector<std::string> headings);

  /// Adds a row. Missing cells are blank, surplus cells are dropped. Cells are made printable, so each stays on one
  /// line.
  void row(std::vector<std::string> cells);

  /// The text of the table: the headings, then one line per row, without trailing blanks.
  std::string str() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// 1234567 as "1,234,567".
std::string grouped(int64_t number);

/// A number with three significant digits and a metric prefix: "1.23 G", "45.6 M", "789".
std::string metric(double number);

/// A number of bytes: "512 B", "1.5 KiB", "20.3 MiB".
std::string byte_str(double bytes);

}  // namespace isomer
