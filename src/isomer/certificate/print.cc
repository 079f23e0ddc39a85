// Prints certificates.

#include <fmt/ranges.h>

#include "isomer/certificate/certificate.h"
#include "isomer/certificate/replay.h"
#include "isomer/ir/text.h"

namespace isomer::replay {
namespace {

std::string hash_text(uint64_t hash) { return hash == 0 ? "-" : fmt::format("{:016x}", hash); }

std::string hash_list(const std::vector<uint64_t>& hashes) {
  std::string out;
  for (const uint64_t hash : hashes) out += " " + hash_text(hash);
  return out;
}

void print_stamp(std::string& out, const char* what, const ModelStamp& stamp) {
  out += fmt::format("{} {} {}\n", what, stamp.file.bytes, stamp.file.digest);
  for (const auto& [name, file] : stamp.data)
    out += fmt::format("  data {} {} {}\n", file.bytes, file.digest, isomer::quoted(name));
  for (const auto& [domain, version] : stamp.opsets)
    out += fmt::format("  opset {} {}\n", version, isomer::quoted(domain));
  out += fmt::format("  graph {:016x}\n", stamp.graph);
}

void print_decisions(std::string& out, const NamedDecisions& decisions) {
  for_each_kind(
      [&](const auto& kind, const auto& decided) {
        for (const auto& [name, choice] : decided)
          out += fmt::format("  {} {} {}\n", kind.name, kind.word(choice), isomer::quoted(name));
      },
      decisions);
}

void print_merged(std::string& out, const MergedInput& merged) {
  out += fmt::format("merge {} {}\n", merged.axis, isomer::quoted(merged.input));
  for (const std::string& part : merged.parts) out += fmt::format("  of {}\n", isomer::quoted(part));
}

void print_rule_lines(std::string& out, const CertifiedRule& rule) {
  out += fmt::format("rule {:016x} {} {}\n", rule.hash, verdict_name(rule.verdict), rule.name);
  size_t at = 0;
  while (at < rule.text.size()) {
    const size_t end = std::min(rule.text.find('\n', at), rule.text.size());
    out += "| " + rule.text.substr(at, end - at) + "\n";
    at = end + 1;
  }
}

void print_application(std::string& out, const Application& one, const std::string& indent) {
  out += indent + "apply " + one.rule + "\n";
  out += indent + "  replaces" + hash_list(one.roots) + "\n";
  for (const auto& [name, hash] : one.values) out += indent + fmt::format("  ?{} {}\n", name, hash_text(hash));
  for (const auto& [name, hashes] : one.sequences) out += indent + fmt::format("  @{}{}\n", name, hash_list(hashes));
  for (const auto& [name, text] : one.attributes) out += indent + fmt::format("  {} = {}\n", name, text);
}

void print_moves(std::string& out, const std::vector<Move>& moves, const std::string& indent) {
  for (const Move& move : moves) {
    out += indent + fmt::format("step {:016x} {:016x}\n", move.before, move.after);
    for (const Application& one : move.applications) print_application(out, one, indent + "  ");
    for (const PartRewrite& part : move.parts) {
      out += indent + "  part\n";
      out += indent + "    reads" + hash_list(part.inputs) + "\n";
      out += indent + "    gives" + hash_list(part.outputs) + "\n";
      print_moves(out, part.moves, indent + "    ");
      out += indent + "  end\n";
    }
    for (const auto& [value, tensor] : move.constants)
      out += indent + fmt::format("  fold {:016x} {:016x}\n", value, tensor);
  }
}

}  // namespace

std::vector<std::string> beside_rules(const Certificate& certificate) {
  const size_t folded = tally_of(certificate.moves).constants;
  std::vector<std::string> out = {
      fmt::format("import: the input reads as graph {:016x}: parameters are attributes whatever the opset, equal nodes "
                  "are one, what is not known is kept as it is",
                  certificate.input.graph),
      fmt::format("constants: {} value{} that depend{} on constants alone {} computed by the reference kernels", folded,
                  folded == 1 ? "" : "s", folded == 1 ? "s" : "", folded == 1 ? "is" : "are"),
      "shapes: nothing is assumed; every condition holds for all values of the symbolic dimensions",
      "dead code: what no output needs any more is dropped after every step",
      "opset: the output imports the opsets of the input",
      fmt::format(
          "export: what is written reads as graph {:016x}; an Identity stands where one value has several names",
          certificate.output.graph),
  };
  if (!certificate.merged.empty())
    out.emplace_back(
        "merged inputs: each holds several inputs of the input model; if every run gets the outputs new/NAME of the "
        "run "
        "before as its inputs NAME, both models compute the same in all runs");
  return out;
}

std::string print_certificate(const Certificate& certificate) {
  std::string out = fmt::format("isomer certificate {}\nmade by {}\n", certificate.format, certificate.isomer);
  print_stamp(out, "input", certificate.input);
  print_stamp(out, "output", certificate.output);
  print_decisions(out, certificate.decisions);
  for (const std::string& shape : certificate.shapes) out += fmt::format("shape {}\n", isomer::quoted(shape));
  for (const std::string& sentence : beside_rules(certificate)) out += "beside " + sentence + "\n";
  for (const CertifiedRule& rule : certificate.rules) print_rule_lines(out, rule);
  for (const MergedInput& merged : certificate.merged) print_merged(out, merged);
  print_moves(out, certificate.moves, "");
  return out + "digest " + text_digest(out) + "\n";
}

}  // namespace isomer::replay
