// Tests each built-in rule on a graph that it rewrites and a graph to which it does not apply: tests/rules/RULE.test.
//
//     --- graph       a graph
//     --- expect      what the first match makes of it
//     --- graph       another one
//     --- nothing     where the rule does not apply
//
// `--- graph with blocks of 8` is for a device that prefers these channel blocks.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "isomer/base/file.h"
#include "isomer/ir/text.h"
#include "isomer/ops/registry.h"
#include "isomer/rules/blocks.h"
#include "isomer/rules/builtin.h"
#include "isomer/rules/delta.h"
#include "isomer/rules/rewrite.h"

namespace isomer {

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

namespace {

const std::filesystem::path kCases = ISOMER_SOURCE_DIR "/tests/rules";

struct Section {
  std::string title;
  std::string text;
};

std::vector<Section> sections(const std::string& text) {
  std::vector<Section> out;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- "))
      out.push_back({line.substr(4), ""});
    else if (!out.empty())
      out.back().text += line + "\n";
  }
  return out;
}

Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text, find_op);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message) << "\n" << text;
  return graph ? std::move(*graph) : Graph();
}

/// The graph after the first applicable match; nullopt if there is none. Checks the hash that was predicted for it.
std::optional<Graph> rewritten(const Rule& rule, const Graph& graph) {
  for (const Match& match : find_matches(graph, OpIndex(graph), rule)) {
    auto out = apply_match(graph, match);
    const auto delta = delta_of(graph, match);
    EXPECT_EQ(out.has_value(), delta.has_value()) << rule.name;
    if (!out) continue;
    EXPECT_EQ(out->hash(), delta->hash) << rule.name;
    return std::move(*out);
  }
  return std::nullopt;
}

/// The rule on the device that the title of a graph describes.
Rule on_device(const Rule& rule, const std::string& title) {
  if (title == "graph") return rule;
  constexpr std::string_view kBlocks = "graph with blocks of ";
  EXPECT_TRUE(title.starts_with(kBlocks)) << title;
  const int64_t block = std::stoll(title.substr(std::min(kBlocks.size(), title.size())));
  return prefer_blocks({&rule, 1}, {&block, 1})[0];
}

class Golden : public ::testing::TestWithParam<Rule> {};

TEST_P(Golden, FiresWhereItShouldAndNowhereElse) {
  const Rule& rule = GetParam();
  const auto text = read_file(kCases / (rule.name + ".test"));
  ASSERT_TRUE(text.has_value()) << text.error().message;
  size_t fires = 0;
  size_t rests = 0;
  const auto parts = sections(*text);
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    const auto out = rewritten(on_device(rule, parts[i].title), graph_of(parts[i].text));
    if (parts[i + 1].title == "nothing") {
      EXPECT_FALSE(out.has_value()) << parts[i].text << "became\n" << print_graph(*out);
      ++rests;
      continue;
    }
    ASSERT_EQ(parts[i + 1].title, "expect");
    ASSERT_TRUE(out.has_value()) << "nothing happens to\n" << parts[i].text;
    EXPECT_EQ(out->hash(), graph_of(parts[i + 1].text).hash()) << print_graph(*out);
    ++fires;
  }
  EXPECT_GT(fires, 0U);
  EXPECT_GT(rests, 0U);
}

INSTANTIATE_TEST_SUITE_P(Written, Golden, ::testing::ValuesIn(builtin_rules().value_or(std::vector<Rule>{})),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Golden, EveryFileBelongsToARule) {
  const auto rules = builtin_rules();
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  std::set<std::string> names;
  for (const Rule& rule : *rules) names.insert(rule.name);
  for (const auto& entry : std::filesystem::directory_iterator(kCases))
    EXPECT_TRUE(names.contains(entry.path().stem().string())) << entry.path();
}

}  // namespace
}  // namespace isomer
