#include "isomer/certificate/verify_files.h"

#include "isomer/base/file.h"
#include "isomer/certificate/decisions.h"
#include "isomer/certificate/merge_inputs.h"
#include "isomer/certificate/same_graph.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/import.h"

namespace isomer::replay {
namespace {

Status same_file(const FileDigest& actual, const FileDigest& expected) {
  if (actual == expected) return {};
  return fail("it is not the file of the certificate: it has {} bytes with digest {}, but {} with {} are expected",
              actual.bytes, actual.digest, expected.bytes, expected.digest);
}

/// Checks the digest of the file itself, before anything is read from it.
Status check_file(const std::filesystem::path& path, const FileDigest& actual, const ModelStamp& expected) {
  if (auto status = same_file(actual, expected.file); !status) return fail_in(path.string(), status.error());
  return {};
}

/// Checks the graph that the file contains, and its data files.
Status check_stamp(const std::filesystem::path& path, const ModelStamp& actual, const ModelStamp& expected) {
  if (actual.data.size() != expected.data.size())
    return fail("{}: it has {} files of external data, but the certificate has {}", path.string(), actual.data.size(),
                expected.data.size());
  for (size_t i = 0; i < actual.data.size(); ++i) {
    const auto& [name, file] = actual.data[i];
    if (name != expected.data[i].first)
      return fail("{}: it reads '{}', but the certificate has '{}'", path.string(), name, expected.data[i].first);
    if (auto status = same_file(file, expected.data[i].second); !status)
      return fail_in((path.parent_path() / name).string(), status.error());
  }
  if (actual.opsets != expected.opsets) return fail("{}: it imports other opsets", path.string());
  if (actual.graph != expected.graph)
    return fail("{}: it reads as graph {:016x}, but the certificate has {:016x}", path.string(), actual.graph,
                expected.graph);
  return {};
}

/// Returns the rules of the certificate; each must have its recorded hash and a verdict in the lock.
Result<RuleBook> check_rules(const Certificate& certificate, const Lock& lock) {
  RuleBook out;
  for (const CertifiedRule& stated : certificate.rules) {
    const std::string where = "rule " + stated.name;
    const auto parsed = parse_rules(stated.text);
    if (!parsed) return fail_in(where, parsed.error());
    if (parsed->size() != 1 || parsed->front().name != stated.name)
      return fail("{}: its text is that of another rule", where);
    const Rule& rule = parsed->front();
    if (rule.hash() != stated.hash)
      return fail("{}: its text has the hash {:016x}, not {:016x}", where, rule.hash(), stated.hash);
    const LockEntry* entry = lock.find(rule);
    if (entry == nullptr)
      return fail("{}: the lock of verdicts does not have it, or only a verdict of another version", where);
    if (entry->verdict != Verdict::Proved && entry->verdict != Verdict::Tested)
      return fail("{}: its verdict is {}", where, verdict_name(entry->verdict));
    if (entry->verdict != stated.verdict)
      return fail("{}: its verdict is {}, not {}", where, verdict_name(entry->verdict), verdict_name(stated.verdict));
    if (!out.emplace(stated.name, rule).second) return fail("{}: it is listed twice", where);
  }
  return out;
}

/// Runs all checks whose failure is a result of the verification, not an error.
Status check_all(Verification& out, const std::filesystem::path& input, const std::filesystem::path& output,
                 const FileDigest& input_file, const FileDigest& output_file, const Lock& lock, const Watch& watch) {
  const Certificate& certificate = out.certificate;
  ISOMER_CHECK(check_file(input, input_file, certificate.input));
  ISOMER_CHECK(check_file(output, output_file, certificate.output));
  ISOMER_TRY(const RuleBook rules, check_rules(certificate, lock));
  ISOMER_TRY(out.input, import_model(input));
  ISOMER_TRY(const ModelStamp input_stamp, stamp_of(input, out.input));
  ISOMER_CHECK(check_stamp(input, input_stamp, certificate.input));
  ISOMER_TRY(out.output, import_model(output));
  ISOMER_TRY(const ModelStamp output_stamp, stamp_of(output, out.output));
  ISOMER_CHECK(check_stamp(output, output_stamp, certificate.output));
  const auto merged = merge_inputs(out.input, certificate.merged);
  if (!merged) return fail_in("merged inputs", merged.error());
  ISOMER_TRY(const Graph graph, replay_moves(merged->graph, certificate.moves, rules, out.tally, watch));
  const OwnWeights own = own_weights(merged->graph);
  ISOMER_CHECK(Computed(graph, own).check_all());
  if (auto status = same_model(*merged, graph, out.output); !status) return fail_in(output.string(), status.error());
  if (!certificate.records_decisions()) return {};
  if (auto status = check_decisions(certificate.decisions, out.output); !status)
    return fail_in(output.string(), status.error());
  return {};
}

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> out;
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) out.push_back("input " + input_name(model, i));
  for (size_t i = 0; i < model.graph.outputs().size(); ++i) out.push_back("output " + output_name(model, i));
  return out;
}

}  // namespace

Result<ModelStamp> stamp_of(const std::filesystem::path& path, const Model& model) {
  ModelStamp out;
  ISOMER_TRY(out.file, file_digest(path));
  for (const std::string& name : external_files(model)) {
    ISOMER_TRY(FileDigest file, file_digest(path.parent_path() / name));
    out.data.emplace_back(name, std::move(file));
  }
  out.graph = model.graph.hash();
  out.opsets = opset_imports(model);
  return out;
}

Status same_model(const Model& input, const Graph& graph, const Model& output) {
  if (auto status = same_graph(graph, output.graph, opaque_content); !status)
    return fail_in("it is not the graph with which the replay ends", status.error());
  if (names_of(input) != names_of(output)) return fail("its inputs or outputs have other names");
  if (opset_imports(input) != opset_imports(output)) return fail("it imports other opsets than the input");
  if (!same_functions_and_defaults(input, output))
    return fail("its functions or the default values of its inputs differ from those of the input");
  return {};
}

Result<Verification> verify_certificate(const std::filesystem::path& certificate, const std::filesystem::path& input,
                                        const std::filesystem::path& output, const Lock& lock, const Watch& watch) {
  ISOMER_TRY(const std::string text, read_file(certificate));
  auto parsed = parse_certificate(text);
  if (!parsed) return fail_in(certificate.string(), parsed.error());
  ISOMER_TRY(const FileDigest input_file, file_digest(input));
  ISOMER_TRY(const FileDigest output_file, file_digest(output));
  Verification out;
  out.certificate = std::move(*parsed);
  if (auto status = check_all(out, input, output, input_file, output_file, lock, watch); !status)
    out.problem = status.error().message;
  return out;
}

}  // namespace isomer::replay
