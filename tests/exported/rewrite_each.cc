// rewrite_each IN.onnx FOLDER: applies every usable rule by itself, wherever it matches, and writes FOLDER/RULE.onnx
// for each that changes the model. For rewrite_test.py.

#include "isomer/eval/fold_testing.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/optimize/rule_set.h"
#include "isomer/search/exhaustive.h"

namespace {

// Rules that undo nothing of their own may grow a graph round by round; three show what they do.
constexpr int kRounds = 3;

isomer::Status rewrite_each(const char* in, const std::filesystem::path& folder) {
  ISOMER_TRY(const isomer::Model model, isomer::import_model(in));
  ISOMER_TRY(const isomer::RuleSet rules, isomer::usable_rules("", {}));
  for (const isomer::Rule& rule : rules.rules) {
    const isomer::ExhaustiveRewrite rewritten =
        isomer::apply_exhaustively(model.graph, rule, isomer::Deadline::never(), nullptr, kRounds);
    if (!rewritten.after) continue;
    ISOMER_TRY(const isomer::Graph folded, isomer::fold_constants(rewritten.after->graph));
    if (!isomer::exportable(model, folded)) continue;
    ISOMER_CHECK(isomer::export_model(model.with(folded), folder / (rule.name + ".onnx")));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} IN.onnx FOLDER\n", argv[0]);
    return 2;
  }
  const isomer::Status done = rewrite_each(argv[1], argv[2]);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 2;
}
