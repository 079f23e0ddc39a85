#include "isomer/repro/table_text.h"

#include <algorithm>
#include <cmath>

#include "isomer/base/table.h"

namespace isomer {
namespace {

using nlohmann::json;

/// "ours (CPU s)".
std::string heading(const ResultColumn& column) {
  return column.unit.empty() ? column.name : column.name + " (" + column.unit + ")";
}

/// "same", or "other engine, rules".
std::string setting_of(const ResultRow& row) {
  return row.differs.empty() ? "same" : fmt::format("other {}", fmt::join(row.differs, ", "));
}

std::string cell_text(const json& cell, const ResultColumn& column) {
  if (cell.is_null()) return "";
  if (cell.is_number_integer()) return std::to_string(cell.get<int64_t>());
  if (!cell.is_number()) return cell.is_string() ? cell.get<std::string>() : cell.dump();
  const double number = cell.get<double>();
  return std::floor(number) == number && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{:.{}f}", number, column.decimals);
}

std::string table_of(const ExperimentResult& result) {
  std::vector<std::string> headings;
  for (size_t i = 0; i < result.columns.size(); ++i) {
    const auto numeric = [&](const ResultRow& row) { return row.cells[i].is_number(); };
    headings.push_back((std::ranges::any_of(result.rows, numeric) ? ">" : "<") + heading(result.columns[i]));
  }
  headings.emplace_back("<setting");
  Table table(headings);
  for (const ResultRow& row : result.rows) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.cells.size(); ++i) cells.push_back(cell_text(row.cells[i], result.columns[i]));
    cells.push_back(setting_of(row));
    table.row(std::move(cells));
  }
  return table.str();
}

/// A field of CSV (RFC 4180).
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// Numbers have all their digits.
std::string csv_cell(const json& cell) {
  if (cell.is_null()) return "";
  return quoted(cell.is_string() ? cell.get<std::string>() : cell.dump());
}

/// "alexnet 0123; benchmark.rules xxh128:4567".
std::string hashes_of(const ExperimentResult& result) {
  std::string out;
  for (const auto& [name, hash] : result.hashes) out += fmt::format("{}{} {}", out.empty() ? "" : "; ", name, hash);
  return out;
}

std::vector<std::string> headings_of(std::span<const ReproRun> runs) {
  std::vector<std::string> all;
  for (const ReproRun& run : runs)
    for (const ResultColumn& column : run.result.columns)
      if (std::ranges::find(all, heading(column)) == all.end()) all.push_back(heading(column));
  return all;
}

}  // namespace

std::string text_of(const ReproRun& run) {
  const ExperimentResult& result = run.result;
  std::string out = fmt::format("{}\n\n{}", run.item->title, table_of(result));
  if (!result.differences.empty()) out += "\nOther than in the paper:\n";
  for (const Difference& one : result.differences) out += fmt::format("  {}: {}.\n", one.name, one.text);
  if (!result.notes.empty()) out += '\n';
  for (const std::string& note : result.notes) out += note + "\n";
  out += fmt::format("\nCommand: {}\n", run.command);
  for (const auto& [name, hash] : result.hashes) out += fmt::format("Hash of {}: {}\n", name, hash);
  return out;
}

std::string csv_of(std::span<const ReproRun> runs) {
  const std::vector<std::string> headings = headings_of(runs);
  std::string out = "item";
  for (const std::string& one : headings) out += "," + quoted(one);
  out += ",setting,command,hashes\n";
  for (const ReproRun& run : runs) {
    const std::string identity = quoted(run.command) + "," + quoted(hashes_of(run.result));
    for (const ResultRow& row : run.result.rows) {
      out += run.item->id;
      for (const std::string& one : headings) {
        const auto at = std::ranges::find(run.result.columns, one, heading);
        out += ',';
        if (at != run.result.columns.end())
          out += csv_cell(row.cells[static_cast<size_t>(at - run.result.columns.begin())]);
      }
      out += "," + quoted(setting_of(row)) + "," + identity + "\n";
    }
  }
  return out;
}

json json_of(const ReproRun& run) {
  json rows = json::array();
  for (const ResultRow& row : run.result.rows) {
    json object;
    for (size_t i = 0; i < row.cells.size(); ++i) object[heading(run.result.columns[i])] = row.cells[i];
    object["setting"] = setting_of(row);
    rows.push_back(std::move(object));
  }
  json differences = json::object();
  for (const Difference& one : run.result.differences) differences[one.name] = one.text;
  return {{"id", run.item->id},         {"title", run.item->title},  {"command", run.command},     {"rows", rows},
          {"differences", differences}, {"notes", run.result.notes}, {"hashes", run.result.hashes}};
}

}  // namespace isomer
