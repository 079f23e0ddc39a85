#include "isomer/certificate/decisions.h"

#include <gmock/gmock.h>

#include "isomer/ir/builder.h"
#include "isomer/ops/registry.h"
#include "isomer/plan/stored_decisions.h"

namespace isomer::replay {
namespace {

using ::testing::HasSubstr;

/// Returns y = tanh(a), a = relu(x), with a text as its decisions.
Model decided_model(const std::string& text) {
  GraphBuilder builder;
  const auto named = [&](ValueId value, const char* name) {
    builder.name(value, name);
    return value;
  };
  const ValueId x = named(builder.input({DType::Float, Shape{Dim(1), Dim(2)}}), "x");
  const ValueId a = named(builder.add(*find_op("Relu"), {}, {x}).value(), "a");
  const ValueId y = named(builder.add(*find_op("Tanh"), {}, {a}).value(), "y");
  return with_metadata(make_model(builder.finish(std::vector{y}), "model", 17), "isomer.decisions", text);
}

/// The same text has the same decisions for the checker and for engines, or is an error for both.
TEST(CertifiedDecisions, AreReadAsEnginesReadThem) {
  for (const char* text :
       {"", "{}", "[", "[1]", "1", R"({"layouts": {"a": "plain"}})", R"({"layouts": 1})", R"({"algorithms": []})",
        R"({"layouts": {"x": "blocked", "a": "plain", "gone": 7}, "algorithms": {"y": "winograd", "a": "direct"}})",
        R"({"layouts": {"": "plain"}, "streams": [1]})", R"({"layouts": {"a": "winograd"}})",
        R"({"algorithms": {"a": "Direct"}})", R"({"algorithms": {"a": null}})", R"({"layouts": {"a": [[["plain"]]]}})",
        R"({"layouts": {"a": "plain", "a": "blocked"}})", R"({"layouts": {}, "algorithms": {"gone": "direct"}})"}) {
    const Model model = decided_model(text);
    const auto read = decisions_of(model);
    const auto theirs = stored_decisions(model);
    ASSERT_EQ(read.has_value(), theirs.has_value()) << text;
    if (!read) continue;
    NamedDecisions named;
    for (const auto& [value, layout] : theirs->layouts) named.layouts.emplace(model.graph.name(value), layout);
    for (const auto& [value, algorithm] : theirs->algorithms)
      named.algorithms.emplace(model.graph.name(value), algorithm);
    EXPECT_TRUE(*read == named) << text;
    EXPECT_TRUE(check_decisions(named, model).has_value()) << text;
  }
}

TEST(CertifiedDecisions, AreRefusedIfTheyAreNotThoseOfTheModel) {
  const Model model = decided_model(R"({"layouts": {"a": "plain", "gone": "plain"}, "algorithms": {"y": "winograd"}})");
  const NamedDecisions good{{{"a", Layout::Plain}}, {{"y", Algorithm::Winograd}}};
  EXPECT_TRUE(check_decisions(good, model).has_value());
  const auto problem = [&](const auto& change) {
    NamedDecisions bad = good;
    change(bad);
    const auto status = check_decisions(bad, model);
    return status ? "" : status.error().message;
  };
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.layouts["a"] = Layout::Blocked; }),
              HasSubstr("the layout of 'a' is plain, but the certificate has blocked"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.algorithms["y"] = Algorithm::Direct; }),
              HasSubstr("the algorithm of 'y' is winograd, but the certificate has direct"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.layouts.clear(); }),
              HasSubstr("the layout of 'a' is plain, but the certificate does not have it"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.algorithms.clear(); }),
              HasSubstr("the algorithm of 'y' is winograd, but the certificate does not have it"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.layouts["x"] = Layout::Plain; }),
              HasSubstr("it leaves the layout of 'x' open, but the certificate has plain"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.algorithms["a"] = Algorithm::Direct; }),
              HasSubstr("it leaves the algorithm of 'a' open, but the certificate has direct"));
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.layouts["gone"] = Layout::Plain; }),
              HasSubstr("'gone', a value that its graph does not have"))
      << "although the file has this decision";
  EXPECT_THAT(problem([](NamedDecisions& bad) { bad.algorithms[""] = Algorithm::Direct; }),
              HasSubstr("'', a value that its graph does not have"));
  const auto malformed = check_decisions({}, decided_model("[1]"));
  EXPECT_THAT(malformed.error().message, HasSubstr("metadata 'isomer.decisions' are not a JSON object"));
}

}  // namespace
}  // namespace isomer::replay
