#pragma once
// What `isomer repro` prints and writes.

#include <optional>
#include <string>
#include <vector>

#include "isomer/base/output_file.h"
#include "isomer/repro/table_text.h"

namespace isomer {

/// Prints the results of experiments and writes them to files. Experiments take minutes, so each result is printed and
/// written at once, and is not lost if a later experiment fails or the program is ended.
class ReproResults {
 public:
  /// Opens the files, so that a wrong path is reported before the first experiment. An empty path: no file.
  static Result<ReproResults> open(const std::string& csv_file, const std::string& svg_file, bool as_json);

  /// Adds the next result: prints it as text, and replaces the files by the results so far. An Error names a file that
  /// cannot be written.
  Status add(ReproRun run);

  /// Prints and writes what has only one part for all results: JSON, and files that are devices or pipes. Without any
  /// result, it does nothing.
  Status finish();

 private:
  class File {
   public:
    static Result<File> open(const std::string& path);
    /// Replaces the contents. A device or pipe only gets the `last` text.
    Status write(const std::string& text, bool last);

   private:
    explicit File(std::string path) : path_(std::move(path)) {}

    std::string path_;
    std::optional<OutputFile> stream_;  // of a device or pipe
  };

  ReproResults(File csv, File svg, bool as_json) : csv_(std::move(csv)), svg_(std::move(svg)), as_json_(as_json) {}
  Status write(bool last);

  std::vector<ReproRun> runs_;
  File csv_, svg_;
  bool as_json_;
};

}  // namespace isomer
