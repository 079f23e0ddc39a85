#include "isomer/plan/stored_decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;

Model stored_model() {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, Shape{Dim(1), Dim(2)}});
  builder.name(x, "x");
  const ValueId a = builder.add(*find_op("Relu"), {}, {x}).value();
  builder.name(a, "a");
  const ValueId b = builder.add(*find_op("Tanh"), {}, {a}).value();
  return make_model(builder.finish(std::vector{b}), "model", 17);
}

Model reread(const Model& model) { return import_bytes(export_bytes(model).value(), "", "model").value(); }

TEST(StoredDecisions, ComeBackFromAFileByName) {
  const Model model = stored_model();
  EXPECT_TRUE(stored_decisions(model).value().empty());
  const Decisions decisions{.layouts = {{1, Layout::Blocked}, {2, Layout::Plain}},
                            .algorithms = {{1, Algorithm::Winograd}},
                            .computations = {{1, Computation::Twice}},
                            .teams = {{1, Team::All}},
                            .divisions = {{1, Division::Axis0}}};
  const Candidate candidate(model.graph, decisions);
  EXPECT_EQ(decisions_by_name(model, candidate).value().dump(),
            R"({"algorithms":{"a":"winograd"},"computations":{"a":"twice"},"divisions":{"a":"axis0"},)"
            R"("layouts":{"a":"blocked","output_0":"plain"},"teams":{"a":"all"}})");
  const Model written = reread(with_candidate(model, candidate).value());
  EXPECT_EQ(stored_decisions(written).value(), decisions);
  const Model undecided = reread(with_candidate(written, model.graph).value());
  EXPECT_TRUE(stored_decisions(undecided).value().empty());
  EXPECT_EQ(metadata(undecided, "isomer.decisions"), std::nullopt);
}

TEST(StoredDecisions, SkipNamesThatAreNotUtf8) {
  GraphBuilder builder;
  const ValueId x = builder.input({DType::Float, Shape{Dim(2)}});
  const ValueId bad = builder.add(*find_op("Relu"), {}, {x}).value();
  builder.name(bad, "a\xff");
  const ValueId good = builder.add(*find_op("Tanh"), {}, {bad}).value();
  builder.name(good, "\u00e4");
  const Model model = make_model(builder.finish(std::vector{good}), "model", 17);
  const Candidate both(model.graph, {.layouts = {{bad, Layout::Plain}, {good, Layout::Blocked}}});
  const Model written = reread(with_candidate(model, both).value());
  EXPECT_EQ(metadata(written, "isomer.decisions"), "{\"layouts\":{\"\u00e4\":\"blocked\"}}");
  EXPECT_EQ(stored_decisions(written).value().layouts.size(), 1U);
  const Candidate lost(model.graph, {.layouts = {{bad, Layout::Plain}}});
  EXPECT_EQ(metadata(with_candidate(model, lost).value(), "isomer.decisions"), std::nullopt);
}

TEST(StoredDecisions, OfUnknownKindsAreNotWritten) {
  const Model unknown = with_metadata(stored_model(), "isomer.decisions", R"({"streams": {"a": 1}})");
  EXPECT_EQ(metadata(with_candidate(unknown, unknown.graph).value(), "isomer.decisions"), std::nullopt);
  const Candidate candidate(unknown.graph, {.layouts = {{1, Layout::Plain}}});
  EXPECT_EQ(metadata(with_candidate(unknown, candidate).value(), "isomer.decisions"), R"({"layouts":{"a":"plain"}})");
}

TEST(StoredDecisions, SkipWhatIsNotKnownAndRefuseWhatIsMalformed) {
  const auto read = [](const std::string& text) {
    return stored_decisions(with_metadata(stored_model(), "isomer.decisions", text));
  };
  EXPECT_TRUE(read(R"({"layouts": {"gone": "plain"}, "streams": [1]})").value().empty());
  EXPECT_EQ(read(R"({"layouts": {"a": "plain"}})").value().layout(1), Layout::Plain);
  EXPECT_THAT(read("[").error().message, HasSubstr("metadata 'isomer.decisions': not a JSON object"));
  EXPECT_THAT(read("[1]").error().message, HasSubstr("not a JSON object"));
  EXPECT_THAT(read("{\"layouts\": {\"\xff\": \"plain\"}}").error().message, HasSubstr("not a JSON object in UTF-8"));
  EXPECT_THAT(read(R"({"layouts": 1})").error().message, HasSubstr("layouts are not listed by value"));
  EXPECT_THAT(read(R"({"algorithms": {"a": "fast"}})").error().message,
              HasSubstr("algorithms of 'a': 'fast' is not known"));
  // Too deep to be shown by recursion.
  EXPECT_THAT(
      read(R"({"layouts": {"a": )" + std::string(200000, '[') + std::string(200000, ']') + "}}").error().message,
      HasSubstr("layouts of 'a': not a word"));
  EXPECT_LT(read(R"({"layouts": {"a": ")" + std::string(100000, 'x') + "\"}}").error().message.size(), 200);
}

}  // namespace
}  // namespace isomer
