#include "isomer/optimize/certify.h"

#include <algorithm>
#include <set>

#include "isomer/base/file.h"
#include "isomer/base/version.h"
#include "isomer/certificate/decisions.h"
#include "isomer/certificate/verify_files.h"
#include "isomer/onnx/import.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer {
namespace {

/// Joins the moves of a search.
class Chain {
 public:
  Chain(const Graph& start, std::span<const Move> folds, const replay::RuleBook& rules, const replay::Watch& watch,
        const replay::KnownConstants& known)
      : graph_(start), own_(replay::own_weights(start)), folds_(folds), rules_(rules), watch_(watch), known_(known) {}

  /// Appends the next move. If it does not begin with the current graph, constants were folded before it.
  Status add(const Move& move) {
    ISOMER_CHECK(reach(move.before));
    return take(move);
  }

  /// Folds constants as the search did, unless the graph already has this hash.
  Status reach(uint64_t hash) {
    if (graph_.hash() == hash) return {};
    const auto found = std::ranges::find_if(
        folds_, [&](const Move& fold) { return fold.before == graph_.hash() && fold.after == hash; });
    if (found == folds_.end())
      return fail("no recorded move leads from graph {:016x} to graph {:016x}", graph_.hash(), hash);
    return take(*found);
  }

  std::vector<Move> moves() && { return std::move(moves_); }

 private:
  Status take(const Move& move) {
    ISOMER_TRY(graph_, replay::replay_moves(graph_, {&move, 1}, rules_, tally_, watch_, &own_, known_));
    moves_.push_back(move);
    return {};
  }

  Graph graph_;
  const replay::OwnWeights own_;
  const std::span<const Move> folds_;
  const replay::RuleBook& rules_;
  const replay::Watch& watch_;
  const replay::KnownConstants& known_;
  replay::Tally tally_;
  std::vector<Move> moves_;
};

replay::CertifiedRule certified(Rule rule, const RuleSet& rules) {
  rule.doc.clear();
  const auto verdict = verdict_from_name(rules.verdicts.at(rule.name)).value_or(Verdict::Unknown);
  return {rule.name, rule.hash(), verdict, print_rule(rule)};
}

/// Returns the decisions that an engine finds in the file of a model.
Result<replay::NamedDecisions> file_decisions(const Model& model) {
  ISOMER_TRY(const Decisions stored, stored_decisions(model));
  replay::NamedDecisions out;
  add_decisions(
      stored, [&](ValueId value) { return std::optional(model.graph.name(value)); }, out);
  return out;
}

}  // namespace

void collect_rules(std::span<const Move> moves, std::set<std::string>& names) {
  for (const Move& move : moves) {
    for (const Application& one : move.applications) names.insert(one.rule);
    for (const PartRewrite& part : move.parts) collect_rules(part.moves, names);
  }
}

Result<std::vector<Move>> moves_of(const Graph& start, const Graph& end, const SearchReport& search,
                                   const RuleSet& rules, const replay::Watch& watch,
                                   const replay::KnownConstants& known) {
  if (start.hash() == end.hash()) return std::vector<Move>{};
  replay::RuleBook book;
  for (const Rule& rule : rules.rules) book.emplace(rule.name, rule);
  Chain chain(start, search.folds, book, watch, known);
  for (const SearchStep& step : search.steps)
    for (const Move& move : step.moves) ISOMER_CHECK(chain.add(move));
  ISOMER_CHECK(chain.reach(end.hash()));
  return std::move(chain).moves();
}

Result<replay::Certificate> begin_certificate(const OptimizeOptions& options, const Model& model,
                                              const SearchStart& start, const Graph& graph, const SearchReport& search,
                                              const RuleSet& rules) {
  replay::Certificate out;
  out.isomer = "isomer " + std::string(version());
  out.shapes = shape_texts(options.shapes);
  ISOMER_TRY(out.input, replay::stamp_of(options.input, model));
  out.merged = start.merged;
  auto moves = moves_of(start.model.graph, graph, search, rules);
  if (!moves) return fail_in("no certificate can be made", moves.error());
  out.moves = std::move(*moves);
  std::set<std::string> names;
  collect_rules(out.moves, names);
  for (const Rule& rule : rules.rules)
    if (names.contains(rule.name)) out.rules.push_back(certified(rule, rules));
  return out;
}

Status finish_certificate(const OptimizeOptions& options, const Model& model, const Graph& graph,
                          replay::Certificate certificate) {
  ISOMER_TRY(const Model output, import_model(options.output));
  ISOMER_TRY(certificate.output, replay::stamp_of(options.output, output));
  ISOMER_TRY(certificate.decisions, file_decisions(output));
  auto status = replay::same_model(model, graph, output);
  if (status) status = replay::check_decisions(certificate.decisions, output);
  const std::string text = replay::print_certificate(certificate);
  if (status && !(replay::parse_certificate(text).value_or(replay::Certificate{}) == certificate))
    status = fail("the model has a name that a certificate cannot contain");
  if (!status)
    return fail_in(fmt::format("{} was written, but no certificate can be made", options.output.string()),
                   status.error());
  return write_file(options.certificate, text);
}

}  // namespace isomer
