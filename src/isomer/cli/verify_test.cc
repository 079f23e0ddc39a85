// Tests isomer verify: certificates of whole runs, and models that not every engine can run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "isomer/base/digest.h"
#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/testing.h"
#include "isomer/onnx/model_testing.h"

namespace isomer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Verify : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Writes y = op(x * 1) and v = relu(u), which is optimized to y = op(x), and certifies that. If only the element
  /// type of u is known, a run needs its extents.
  void certify(const std::string& domain, const std::string& op, bool u_is_known = true,
               const std::vector<std::string>& shapes = {}, const std::string& decisions = "") const {
    test::ProtoModel model;
    if (!decisions.empty()) {
      auto* entry = model.proto.add_metadata_props();
      entry->set_key("isomer.decisions");
      entry->set_value(decisions);
    }
    if (!domain.empty()) model.import(domain, 1);
    model.input("x", {"1", "8"});
    model.input("u", {"3"});
    model.output("y", {"1", "8"});
    model.output("v", {"3"});
    for (auto* value : {model.graph().mutable_input(1), model.graph().mutable_output(1)})
      if (!u_is_known) value->mutable_type()->mutable_tensor_type()->clear_shape();
    model.floats("one", {1}, {1});
    model.node("Mul", {"x", "one"}, {"scaled"});
    model.node(op, {"scaled"}, {"y"}, domain);
    model.node("Relu", {"u"}, {"v"});
    ASSERT_TRUE(write_file(path("in.onnx"), model.bytes()).has_value());
    std::vector<std::string> arguments = {"optimize", path("in.onnx"), "-o",         path("out.onnx"), "--engine",
                                          "roofline", "--certificate", path("cert"), "--json"};
    for (const std::string& shape : shapes) arguments.insert(arguments.end(), {"--shape", shape});
    const Outcome done = isomer_program(arguments);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    ASSERT_EQ(done.report()["improved"], true);
  }

  Outcome verify(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"verify", path("cert"), path("in.onnx"), path("out.onnx")});
    return isomer_program(more);
  }

  const TempDir folder_ = TempDir::make().value();
};

TEST_F(Verify, ReplaysACertificate) {
  const std::string in = path("sru.onnx"), out = path("out.onnx"), certificate = path("out.cert");
  ASSERT_EQ(isomer_program({"models", "sru-11", "-o", in}).exit_code, 0);
  const Outcome made =
      isomer_program({"optimize", in, "-o", out, "--engine", "roofline", "--certificate", certificate});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome good = isomer_program({"verify", certificate, in, out});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, StartsWith("holds: "));
  EXPECT_THAT(good.out, HasSubstr("random input"));
  const json report = isomer_program({"verify", certificate, in, out, "--engine", "ort", "--json"}).report();
  EXPECT_EQ(report["schema"], "isomer.verify.v1");
  EXPECT_EQ(report["holds"], true);
  EXPECT_GT(report["applications"], 0);
  EXPECT_LT(report["difference"]["max_rel"], 1e-4);

  const Outcome swapped = isomer_program({"verify", certificate, out, in});
  EXPECT_EQ(swapped.exit_code, 1);
  EXPECT_THAT(swapped.out, StartsWith("DOES NOT HOLD: " + out));
  EXPECT_EQ(isomer_program({"verify", certificate, in, in, "--json"}).report()["holds"], false);
  EXPECT_EQ(isomer_program({"verify", certificate, in, path("none.onnx")}).exit_code, 2);
  EXPECT_EQ(isomer_program({"verify", in, in, out}).exit_code, 2) << "not a certificate";
  ASSERT_TRUE(write_file(certificate, read_file(certificate).value() + "\n").has_value());
  const Outcome damaged = isomer_program({"verify", certificate, in, out});
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_THAT(damaged.err, StartsWith("isomer: " + certificate));
}

TEST_F(Verify, NamesTheFileThatCannotBeRead) {
  certify("", "Relu");
  ASSERT_TRUE(write_file(path("bad.lock"), "nonsense\n").has_value());
  EXPECT_THAT(verify({"--lock", path("bad.lock")}).err, StartsWith("isomer: " + path("bad.lock") + ": line 1: "));
  EXPECT_THAT(isomer_program({"verify", path("cert"), path("none.onnx"), path("out.onnx")}).err,
              StartsWith("isomer: " + path("none.onnx") + ": No such file"));
}

TEST_F(Verify, FallsBackToOnnxRuntime) {
  certify("ai.onnx.ml", "Binarizer");
  const Outcome good = verify({"--json"});
  ASSERT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.report()["holds"], true);
  EXPECT_EQ(good.report()["difference"]["engine"], "ort");
  EXPECT_EQ(good.report()["difference"]["max_abs"], 0.0);
  EXPECT_EQ(good.report()["not_compared"], json::array());
  const Outcome asked = verify({"--engine", "reference"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_THAT(asked.err, HasSubstr("the steps hold, but the outputs cannot be compared: reference: "));
  EXPECT_THAT(asked.err, HasSubstr("Binarizer"));
}

TEST_F(Verify, HoldsWhereNoEngineCanRunTheModels) {
  certify("of.nobody", "Nothing");
  const Outcome good = verify();
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, StartsWith("holds: "));
  EXPECT_THAT(good.out, HasSubstr("outputs    not compared\n"));
  const json report = verify({"--json"}).report();
  EXPECT_EQ(report["holds"], true);
  EXPECT_EQ(report["difference"], nullptr);
  ASSERT_EQ(report["not_compared"].size(), 2);
  EXPECT_THAT(report["not_compared"][0], StartsWith("reference: "));
  EXPECT_THAT(report["not_compared"][1], StartsWith("ort: "));
}

/// The lower bound is a parameter that import does not compute, so Clip stays opaque. As a constant of the output it
/// would be a parameter that import reads.
TEST_F(Verify, HoldsWhereAParameterIsComputedFromConstants) {
  test::ProtoModel model;
  for (auto* value : {model.graph().add_input(), model.graph().add_output()})
    test::ProtoModel::describe(value, value == &model.graph().input(0) ? "x" : "y", {"2", "3"},
                               onnx::TensorProto::FLOAT16);
  model.floats("c", {}, {1.5});
  auto* to = model.node("Cast", {"c"}, {"low"})->add_attribute();
  to->set_name("to");
  to->set_type(onnx::AttributeProto::INT);
  to->set_i(onnx::TensorProto::FLOAT16);
  model.node("Transpose", {"x"}, {"a"});
  model.node("Transpose", {"a"}, {"b"});
  model.node("Clip", {"b", "low"}, {"y"});
  ASSERT_TRUE(write_file(path("in.onnx"), model.bytes()).has_value());
  const Outcome done = isomer_program({"optimize", path("in.onnx"), "-o", path("out.onnx"), "--engine", "roofline",
                                       "--certificate", path("cert"), "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  ASSERT_EQ(done.report()["improved"], true);
  EXPECT_EQ(verify().exit_code, 0) << verify().err;
}

TEST_F(Verify, TakesTheShapesThatTheCertificateRecords) {
  certify("", "Relu", false, {"u:2,3"});
  EXPECT_THAT(read_file(path("cert")).value(), HasSubstr("\nshape \"u:2,3\"\n"));
  const Outcome good = verify({"--json"});
  ASSERT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.report()["difference"]["engine"], "reference");
  EXPECT_EQ(verify({"--shape", "u:7"}).exit_code, 0);
  EXPECT_THAT(verify({"--shape", "w:7"}).err, HasSubstr("no input 'w'"));
}

TEST_F(Verify, SaysWhichShapeIsMissing) {
  certify("", "Relu", false);
  const Outcome good = verify();
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("give --shape u:EXTENTS"));
}

TEST_F(Verify, ReadsCertificatesOfTheFirstFormat) {
  certify("", "Relu");
  std::string text = read_file(path("cert")).value();
  text = text.substr(0, text.rfind("digest "));
  text.replace(text.find("certificate 4"), 13, "certificate 1");
  ASSERT_TRUE(write_file(path("cert"), text + "digest " + text_digest(text) + "\n").has_value());
  EXPECT_EQ(verify().exit_code, 0);
  EXPECT_EQ(verify({"--json"}).report()["decisions"], nullptr);
}

TEST_F(Verify, ListsTheDecisionsOfTheOutput) {
  certify("", "Relu");
  EXPECT_THAT(verify().out, Not(HasSubstr("decisions")));
  EXPECT_EQ(verify({"--json"}).report()["decisions"], json::object());
  const json decisions = {{"layouts", {{"u", "blocked"}, {"v", "plain"}}}, {"algorithms", {{"v", "direct"}}}};
  certify("", "Relu", true, {}, decisions.dump());
  EXPECT_THAT(read_file(path("cert")).value(), HasSubstr("\n  layout plain \"v\"\n  algorithm direct \"v\"\n"));
  const Outcome good = verify();
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("\ndecisions  3 in the output's file; they change only how it is executed\n"
                                  "           u: layout blocked\n           v: layout plain\n"
                                  "           v: algorithm direct\n"));
  EXPECT_EQ(verify({"--json"}).report()["decisions"], decisions);
}

}  // namespace
}  // namespace isomer
