#pragma once
// A certificate: why the model in one file computes what the model in another does. docs/certificates.md describes the
// text.

#include <map>

#include "isomer/base/digest.h"
#include "isomer/ir/derivation.h"
#include "isomer/verify/verdict.h"

namespace isomer::replay {

/// A model's file, the files that it keeps weights in, and what it reads as.
struct ModelStamp {
  FileDigest file = {};
  std::vector<std::pair<std::string, FileDigest>> data = {};  ///< by the names that the model gives them
  uint64_t graph = 0;                                         ///< Graph::hash
  std::map<std::string, int> opsets = {};

  friend bool operator==(const ModelStamp&, const ModelStamp&) = default;
};

/// A rule that the moves use, as it was when they were made.
struct CertifiedRule {
  std::string name;
  uint64_t hash = 0;  ///< Rule::hash
  Verdict verdict = Verdict::Unknown;
  std::string text = {};  ///< as parse_rules reads it

  friend bool operator==(const CertifiedRule&, const CertifiedRule&) = default;
};

/// The newest format, which print_certificate writes unless a certificate was read in an older one.
constexpr int kCertificateFormat = 2;

struct Certificate {
  int format = kCertificateFormat;
  std::string isomer = {};  ///< version that made it
  ModelStamp input = {};
  ModelStamp output = {};
  /// The values of `optimize --shape`, for runs of the two models; no step rests on them. None before format 2.
  std::vector<std::string> shapes = {};
  std::vector<CertifiedRule> rules = {};
  std::vector<Move> moves = {};  ///< from the graph of the input to that of the output

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// What is done beside rules, a sentence each. It follows from the rest of the certificate.
std::vector<std::string> beside_rules(const Certificate& certificate);

/// The text, with the digest of all lines above in its last line.
std::string print_certificate(const Certificate& certificate);

/// Fails, with the line, where the text is not exactly what print_certificate writes of some certificate.
Result<Certificate> parse_certificate(std::string_view text);

}  // namespace isomer::replay
