#include "isomer/cli/repro_results.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "isomer/base/file.h"
#include "isomer/base/processor.h"
#include "isomer/base/version.h"
#include "isomer/cli/common.h"
#include "isomer/repro/svg.h"

namespace isomer {
namespace {

using nlohmann::json;

std::string svg_of_runs(std::span<const ReproRun> runs) {
  std::vector<Picture> pictures;
  for (const ReproRun& run : runs)
    pictures.insert(pictures.end(), run.result.pictures.begin(), run.result.pictures.end());
  return svg_of(pictures);
}

json json_of_runs(std::span<const ReproRun> runs) {
  json items = json::array();
  for (const ReproRun& run : runs) items.push_back(json_of(run));
  return {{"schema", "isomer.repro.v1"}, {"isomer", version()}, {"processor", processor_name()}, {"items", items}};
}

}  // namespace

Result<ReproResults::File> ReproResults::File::open(const std::string& path) {
  File file(path);
  if (path.empty()) return file;
  ISOMER_TRY(OutputFile output, in_context(path, OutputFile::open(path)));
  if (output.is_stream()) file.stream_.emplace(std::move(output));
  return file;
}

Status ReproResults::File::write(const std::string& text, bool last) {
  if (path_.empty()) return {};
  if (!stream_) return write_file(path_, text);
  return last ? in_context(path_, stream_->write(std::as_bytes(std::span(text)))) : Status();
}

Result<ReproResults> ReproResults::open(const std::string& csv_file, const std::string& svg_file, bool as_json) {
  ISOMER_TRY(File csv, File::open(csv_file));
  ISOMER_TRY(File svg, File::open(svg_file));
  return ReproResults(std::move(csv), std::move(svg), as_json);
}

Status ReproResults::add(ReproRun run) {
  if (!as_json_) {
    fmt::print("{}{}Processor: {}\n", runs_.empty() ? "" : "\n", text_of(run), processor_name());
    std::fflush(stdout);
  }
  runs_.push_back(std::move(run));
  return write(false);
}

Status ReproResults::finish() {
  if (runs_.empty()) return {};
  if (as_json_) print_json(json_of_runs(runs_));
  return write(true);
}

Status ReproResults::write(bool last) {
  ISOMER_CHECK(csv_.write(csv_of(runs_), last));
  const bool plotted = std::ranges::any_of(runs_, [](const ReproRun& run) { return !run.result.pictures.empty(); });
  return plotted ? svg_.write(svg_of_runs(runs_), last) : Status();
}

}  // namespace isomer
