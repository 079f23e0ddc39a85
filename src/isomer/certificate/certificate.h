#pragma once
// A certificate: why the output model computes the same as the input model. docs/reference/certificates.md describes
// the text.

#include <map>

#include "isomer/base/digest.h"
#include "isomer/ir/derivation.h"
#include "isomer/plan/decisions.h"
#include "isomer/rules/verdict.h"

namespace isomer::replay {

/// Identifies a model: its file, the files of its external weights, and its graph.
struct ModelStamp {
  FileDigest file = {};
  std::vector<std::pair<std::string, FileDigest>> data = {};  ///< by the names that the model uses
  uint64_t graph = 0;                                         ///< Graph::hash
  std::map<std::string, int> opsets = {};

  friend bool operator==(const ModelStamp&, const ModelStamp&) = default;
};

/// A rule that the moves use, with its text and verdict at that time.
struct CertifiedRule {
  std::string name;
  uint64_t hash = 0;  ///< Rule::hash
  Verdict verdict = Verdict::Unknown;
  std::string text = {};  ///< as parse_rules reads it

  friend bool operator==(const CertifiedRule&, const CertifiedRule&) = default;
};

/// How a model is executed, as far as its file decides it. Values are identified by their names in the file. Decisions
/// do not change what is computed, so nothing about them is proved.
using NamedDecisions = DecisionTables<std::string>;

/// The newest format, which print_certificate writes unless a certificate was read in an older one.
constexpr int kCertificateFormat = 4;

struct Certificate {
  int format = kCertificateFormat;
  std::string isomer = {};  ///< version that made it
  ModelStamp input = {};
  ModelStamp output = {};
  NamedDecisions decisions = {};  ///< of the output; none before format 3
  /// The values of `optimize --shape`, for runs of the two models; no step depends on them. None before format 2.
  std::vector<std::string> shapes = {};
  std::vector<CertifiedRule> rules = {};
  /// Inputs that were merged before the first move (merge_inputs). None before format 4.
  std::vector<MergedInput> merged = {};
  std::vector<Move> moves = {};  ///< from the graph of the input, or the merged one, to that of the output

  bool records_decisions() const { return format >= 3; }
  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// Returns what was done in addition to applying rules, one sentence each. It follows from the rest of the certificate.
std::vector<std::string> beside_rules(const Certificate& certificate);

/// Returns the text, whose last line is the digest of all lines above.
std::string print_certificate(const Certificate& certificate);

/// Fails, with the line, unless the text is exactly what print_certificate writes for some certificate.
Result<Certificate> parse_certificate(std::string_view text);

}  // namespace isomer::replay
