#include "isomer/certificate/certificate.h"

#include <gmock/gmock.h>

#include "isomer/base/rng.h"

namespace isomer::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns a certificate with everything that one can contain.
Certificate example() {
  Certificate out;
  out.isomer = "isomer 0.1.0";
  out.input = {{12, text_digest("in")}, {{"weights \"1\"\n.bin", {3, text_digest("w")}}}, 1, {{"", 17}, {"a.b", 2}}};
  out.output = {{34, text_digest("out")}, {}, 0xffffffffffffffff, {{"", 17}}};
  out.decisions = {{{"conv \"1\"\n", Layout::Blocked}, {"pool", Layout::Plain}},
                   {{"conv \"1\"\n", Algorithm::Winograd}, {"conv2", Algorithm::Direct}},
                   {{"conv2", Computation::Twice}},
                   {{"conv2", Team::All}, {"pool", Team::One}},
                   {{"conv2", Division::Axis1}}};
  out.shapes = {"x \"1\":0:1,3", "N=8"};
  out.rules = {{"drop-identity", 5, Verdict::Tested, "rule drop-identity\n  (Identity ?x)\n  => ?x\n"}};
  const Application application{"drop-identity",
                                {7, 8},
                                {{"x", 9}, {"y", 0}},
                                {{"z", {1, 0, 2}}, {"w", {}}},
                                {{"?a", "[1,N]"}, {"..c", "{group=2, mode=\"a b\"}"}}};
  Move inner;
  inner.before = 10;
  inner.after = 11;
  inner.applications = {application, application};
  Move outer;
  outer.before = 1;
  outer.after = 12;
  outer.parts = {{{3, 4}, {5}, {inner, inner}}, {{}, {6}, {inner}}};
  Move fold;
  fold.before = 12;
  fold.after = 0xffffffffffffffff;
  fold.constants = {{13, 14}, {15, 16}};
  out.merged = {{1, "a+b", {"a", "b \"1\"\n"}}, {0, "c", {}}};
  out.moves = {inner, outer, fold};
  return out;
}

std::string signed_text(const std::string& text) { return text + "digest " + text_digest(text) + "\n"; }

/// Returns the text without its last line.
std::string unsigned_text(const std::string& text) { return text.substr(0, text.rfind("digest ")); }

TEST(Certificate, ReadsBackAsItself) {
  const auto again = parse_certificate(print_certificate(example()));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(*again == example());
  const auto empty =
      parse_certificate(print_certificate({.isomer = "isomer", .input = {.graph = 1}, .output = {.graph = 1}}));
  ASSERT_TRUE(empty.has_value()) << empty.error().message;
}

TEST(Certificate, OlderFormatsAreRead) {
  Certificate old = example();
  for (const int format : {3, 2, 1}) {
    old.format = format;
    old.merged = {};
    if (format < 3) old.decisions = {};
    if (format == 1) old.shapes = {};
    const std::string text = print_certificate(old);
    EXPECT_THAT(text, StartsWith(fmt::format("isomer certificate {}\n", format)));
    const auto again = parse_certificate(text);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(*again == old);
    EXPECT_EQ(again->records_decisions(), format == 3);
  }
}

TEST(Certificate, WithoutDecisionsOnlyTheFormatDiffersFromTheSecond) {
  Certificate certificate = example();
  certificate.decisions = {};
  certificate.merged = {};
  certificate.format = 3;
  std::string text = unsigned_text(print_certificate(certificate));
  certificate.format = 2;
  text.replace(text.find("certificate 3"), 13, "certificate 2");
  EXPECT_EQ(unsigned_text(print_certificate(certificate)), text);
}

TEST(Certificate, RefusesEveryChangedByte) {
  const std::string text = print_certificate(example());
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char with : {' ', '\n', '0', '\0'}) {
      std::string changed = text;
      if (changed[i] == with) continue;
      changed[i] = with;
      EXPECT_FALSE(parse_certificate(changed).has_value()) << "byte " << i;
    }
    std::string shorter = text;
    shorter.erase(i, 1);
    EXPECT_FALSE(parse_certificate(shorter).has_value()) << "byte " << i;
  }
  EXPECT_FALSE(parse_certificate(text + "\n").has_value());
  EXPECT_FALSE(parse_certificate(text + text).has_value());
  EXPECT_FALSE(parse_certificate("").has_value());
}

TEST(Certificate, HasOneWayToBeWritten) {
  const std::string text = unsigned_text(print_certificate(example()));
  ASSERT_TRUE(parse_certificate(signed_text(text)).has_value());
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string changed = text;
    changed.replace(changed.find(what), what.size(), by);
    return parse_certificate(signed_text(changed));
  };
  EXPECT_THAT(with("\nstep", "\n step").error().message, HasSubstr("line"));
  EXPECT_FALSE(with("  graph", "   graph").has_value());
  EXPECT_FALSE(with("ffffffffffffffff", "FFFFFFFFFFFFFFFF").has_value());
  EXPECT_FALSE(with("input 12", "input 012").has_value());
  EXPECT_FALSE(with("2 values", "3 values").has_value()) << "the sentences follow from the rest";
  EXPECT_FALSE(with("certificate 4", "certificate 3").has_value()) << "format 3 has no merged inputs";
  EXPECT_FALSE(with("certificate 4", "certificate 2").has_value()) << "format 2 has no decisions";
  EXPECT_FALSE(with("certificate 4", "certificate 5").has_value());
  EXPECT_THAT(text, HasSubstr("\nmerge 1 \"a+b\"\n  of \"a\"\n"));
  EXPECT_FALSE(with("merge 1 ", "merge x ").has_value());
  EXPECT_FALSE(with("\"a+b\"", "a+b").has_value());
  EXPECT_FALSE(with("of \"a\"", "of  \"a\"").has_value());
  EXPECT_THAT(text, HasSubstr("\n  layout blocked \"conv"));
  EXPECT_FALSE(with("layout blocked", "layout striped").has_value());
  EXPECT_FALSE(with("algorithm winograd", "algorithm blocked").has_value());
  EXPECT_FALSE(with("team all", "team two").has_value());
  EXPECT_FALSE(with("division axis1", "division axis9").has_value());
  EXPECT_FALSE(with("plain \"pool\"", "plain pool").has_value());
  EXPECT_FALSE(with("plain \"pool\"", "plain \"a\"").has_value()) << "they are sorted by name";
  EXPECT_FALSE(with("plain \"pool\"", "plain \"pool\"\n  layout plain \"pool\"").has_value());
  EXPECT_FALSE(with("plain \"pool\"", "plain \"pool\"\n  layout blocked \"pool\"").has_value());
  EXPECT_FALSE(with("  layout plain", "layout plain").has_value());
  EXPECT_FALSE(with("shape \"N=8\"", "shape N=8").has_value());
  EXPECT_FALSE(with("tested", "certain").has_value());
}

TEST(Certificate, SurvivesRandomEdits) {
  const std::string text = unsigned_text(print_certificate(example()));
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = text;
    for (uint64_t edits = 1 + rng.below(4); edits > 0; --edits) {
      const size_t at = rng.below(changed.size());
      if (rng.below(3) == 0)
        changed.erase(at, 1 + rng.below(20));
      else if (rng.below(2) == 0)
        changed.insert(at, changed.substr(rng.below(changed.size()), rng.below(40)));
      else
        changed[at] = static_cast<char>(rng.below(256));
    }
    const auto read = parse_certificate(signed_text(changed));
    if (read) {
      EXPECT_EQ(print_certificate(*read), signed_text(changed));
    }
  }
}

}  // namespace
}  // namespace isomer::replay
