// Parses certificates.

#include "isomer/base/words.h"
#include "isomer/certificate/certificate.h"
#include "isomer/ir/scanner.h"

namespace isomer::replay {
namespace {

/// Maximum nesting of parts; no search nests them.
constexpr int kMaxDepth = 8;

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  /// Returns the line without indentation.
  std::string_view peek() const {
    std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
  }
  /// Consumes the line; returns the text after its first word (and a blank).
  std::string_view take() {
    const std::string_view line = peek();
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++number_;
    return line.substr(std::min(line.find(' '), line.size() - 1) + 1);
  }
  bool next_is(std::string_view word) const {
    const std::string_view line = peek();
    return !at_end() && line.substr(0, line.find(' ')) == word;
  }
  tl::unexpected<Error> error(std::string_view what) const { return fail("line {}: {}", number_ + 1, what); }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int number_ = 0;
};

/// The inverse of quoted().
std::optional<std::string> unquoted(std::string_view text) {
  Scanner scan(text);
  auto out = scan.quoted_string();
  return out && scan.position() == text.size() ? std::optional(std::move(*out)) : std::nullopt;
}

class CertificateParser {
 public:
  explicit CertificateParser(std::string_view text) : lines_(text) {}

  Result<Certificate> parse() {
    Certificate out;
    ISOMER_TRY(out.format, format());
    if (!lines_.peek().starts_with("made by ")) return lines_.error("expected 'made by'");
    out.isomer = lines_.take().substr(3);
    ISOMER_TRY(out.input, stamp("input"));
    ISOMER_TRY(out.output, stamp("output"));
    if (out.records_decisions())
      ISOMER_CHECK(
          check_each_kind([&](const auto& kind, auto& decided) { return decisions(kind, decided); }, out.decisions));
    while (out.format >= 2 && lines_.next_is("shape")) {
      const auto shape = unquoted(lines_.take());
      if (!shape) return lines_.error("a quoted shape is expected");
      out.shapes.push_back(*shape);
    }
    while (lines_.next_is("beside")) lines_.take();  // follows from the rest
    while (lines_.next_is("rule")) {
      ISOMER_TRY(CertifiedRule next, rule());
      out.rules.push_back(std::move(next));
    }
    while (out.format >= 4 && lines_.next_is("merge")) {
      ISOMER_TRY(MergedInput next, merged());
      out.merged.push_back(std::move(next));
    }
    ISOMER_TRY(out.moves, moves(0));
    if (!lines_.next_is("digest")) return lines_.error("unknown line");
    return out;
  }

 private:
  Result<int> format() {
    for (int format = 1; format <= kCertificateFormat; ++format) {
      if (lines_.at_end() || lines_.peek() != fmt::format("isomer certificate {}", format)) continue;
      lines_.take();
      return format;
    }
    return lines_.error("it is not a certificate of a format that this version reads");
  }

  Result<uint64_t> hash(std::string_view text, bool may_be_absent = false) {
    uint64_t out = 0;
    if (may_be_absent && text == "-") return out;
    if (text.size() != 16 || !read_number(text, out, 16) || out == 0) return lines_.error("a hash is expected");
    return out;
  }

  Result<std::vector<uint64_t>> hashes(std::string_view line) {
    std::vector<uint64_t> out;
    while (!line.empty()) {
      ISOMER_TRY(const uint64_t one, hash(word(line), true));
      out.push_back(one);
    }
    return out;
  }

  Result<FileDigest> digest(std::string_view& line) {
    FileDigest out;
    if (!read_number(word(line), out.bytes)) return lines_.error("a number of bytes is expected");
    out.digest = word(line);
    return out;
  }

  Result<ModelStamp> stamp(std::string_view what) {
    if (!lines_.next_is(what)) return lines_.error(fmt::format("expected '{}'", what));
    std::string_view line = lines_.take();
    ModelStamp out;
    ISOMER_TRY(out.file, digest(line));
    while (lines_.next_is("data")) {
      line = lines_.take();
      ISOMER_TRY(FileDigest file, digest(line));
      const auto name = unquoted(line);
      if (!name) return lines_.error("a quoted name is expected");
      out.data.emplace_back(*name, std::move(file));
    }
    while (lines_.next_is("opset")) {
      line = lines_.take();
      int version = 0;
      if (!read_number(word(line), version)) return lines_.error("a version is expected");
      const auto domain = unquoted(line);
      if (!domain) return lines_.error("a quoted domain is expected");
      out.opsets[*domain] = version;
    }
    if (!lines_.next_is("graph")) return lines_.error("expected 'graph'");
    ISOMER_TRY(out.graph, hash(lines_.take()));
    return out;
  }

  /// Reads the decisions of one kind.
  template <class Choice>
  Status decisions(const DecisionKind<Choice>& kind, std::map<std::string, Choice>& out) {
    while (lines_.next_is(kind.name)) {
      std::string_view line = lines_.take();
      const auto choice = kind.choice(word(line));
      const auto name = unquoted(line);
      if (!choice || !name) return lines_.error(fmt::format("a {} and a quoted name are expected", kind.name));
      out.emplace(*name, *choice);
    }
    return {};
  }

  Result<CertifiedRule> rule() {
    std::string_view line = lines_.take();
    CertifiedRule out;
    ISOMER_TRY(out.hash, hash(word(line)));
    const auto verdict = verdict_from_name(word(line));
    if (!verdict) return lines_.error("a verdict is expected");
    out.verdict = *verdict;
    out.name = line;
    while (lines_.next_is("|")) out.text.append(lines_.take()).append("\n");
    return out;
  }

  Result<MergedInput> merged() {
    std::string_view line = lines_.take();
    MergedInput out;
    if (!read_number(word(line), out.axis)) return lines_.error("an axis is expected");
    const auto name = unquoted(line);
    if (!name) return lines_.error("a quoted name is expected");
    out.input = *name;
    while (lines_.next_is("of")) {
      const auto part = unquoted(lines_.take());
      if (!part) return lines_.error("a quoted name is expected");
      out.parts.push_back(*part);
    }
    return out;
  }

  // NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
  Result<std::vector<Move>> moves(int depth) {
    if (depth > kMaxDepth) return lines_.error("parts are nested too deeply");
    std::vector<Move> out;
    while (lines_.next_is("step")) {
      std::string_view line = lines_.take();
      Move& move = out.emplace_back();
      ISOMER_TRY(move.before, hash(word(line)));
      ISOMER_TRY(move.after, hash(line));
      while (lines_.next_is("apply")) {
        ISOMER_TRY(Application next, application());
        move.applications.push_back(std::move(next));
      }
      while (lines_.next_is("part")) {
        ISOMER_TRY(PartRewrite next, part(depth));
        move.parts.push_back(std::move(next));
      }
      while (lines_.next_is("fold")) {
        line = lines_.take();
        ISOMER_TRY(const uint64_t value, hash(word(line)));
        ISOMER_TRY(const uint64_t tensor, hash(line));
        move.constants.emplace_back(value, tensor);
      }
    }
    return out;
  }

  // NOLINTNEXTLINE(misc-no-recursion): see moves
  Result<PartRewrite> part(int depth) {
    lines_.take();
    PartRewrite out;
    if (!lines_.next_is("reads")) return lines_.error("expected 'reads'");
    ISOMER_TRY(out.inputs, hashes(lines_.take()));
    if (!lines_.next_is("gives")) return lines_.error("expected 'gives'");
    ISOMER_TRY(out.outputs, hashes(lines_.take()));
    ISOMER_TRY(out.moves, moves(depth + 1));
    if (!lines_.next_is("end")) return lines_.error("expected 'end'");
    lines_.take();
    return out;
  }

  Result<Application> application() {
    Application out;
    out.rule = lines_.take();
    if (!lines_.next_is("replaces")) return lines_.error("expected 'replaces'");
    ISOMER_TRY(out.roots, hashes(lines_.take()));
    for (;;) {
      const std::string_view line = lines_.peek();
      const std::string name(line.substr(0, line.find(' ')));
      if (lines_.at_end() || !(name.starts_with('?') || name.starts_with('@') || name.starts_with(".."))) return out;
      std::string_view rest = lines_.take();
      if (rest.starts_with("= ")) {
        out.attributes.emplace_back(name, rest.substr(2));
      } else if (name[0] == '@') {
        ISOMER_TRY(auto list, hashes(rest));
        out.sequences.emplace_back(name.substr(1), std::move(list));
      } else {
        ISOMER_TRY(const uint64_t value, hash(rest, true));
        out.values.emplace_back(name.substr(1), value);
      }
    }
  }

  Lines lines_;
};

/// Returns the number of the first line in which two texts differ.
int first_difference(std::string_view a, std::string_view b) {
  int line = 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) line += a[i] == '\n' ? 1 : 0;
  return line;
}

}  // namespace

Result<Certificate> parse_certificate(std::string_view text) {
  constexpr std::string_view kLast = "digest ";
  const size_t end = text.size() > 1 ? text.rfind('\n', text.size() - 2) : std::string_view::npos;
  if (end == std::string_view::npos || !text.substr(end + 1).starts_with(kLast))
    return fail("it is not a certificate, or its end is missing");
  if (text.substr(end + 1) != fmt::format("{}{}\n", kLast, text_digest(text.substr(0, end + 1))))
    return fail("it was changed after it was written: its digest is not that of its text");
  ISOMER_TRY(Certificate out, CertificateParser(text).parse());
  if (const std::string again = print_certificate(out); again != text)
    return fail("line {}: it is not written as certificates are", first_difference(again, text));
  return out;
}

}  // namespace isomer::replay
