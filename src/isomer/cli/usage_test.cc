// Tests that an error of the command line is reported in one line, which names the file or the option.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/model_testing.h"
#include "isomer/onnx/npy.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

/// Calls `visit` for each command that has no subcommands.
void for_each_command(CLI::App& app, const Words& words, const std::function<void(const Words&, CLI::App&)>& visit) {
  const auto parts = app.get_subcommands({});
  if (parts.empty()) visit(words, app);
  for (CLI::App* part : parts) {
    Words longer = words;
    longer.push_back(part->get_name());
    for_each_command(*part, longer, visit);
  }
}

TEST(Usage, EveryNumberHasARange) {
  int exit_code = 0;
  CLI::App app;
  for (const AddCommand add : all_commands()) add(app, exit_code);
  size_t options = 0;
  for_each_command(app, {}, [&](const Words& words, CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
      const std::string type = option->get_type_name();
      if (!type.starts_with("INT") && !type.starts_with("UINT") && !type.starts_with("FLOAT")) continue;
      ++options;
      for (const char* value :
           {"nan", "-nan", "inf", "-inf", "1e999", "-1", "-1e300", "99999999999999999999", "0x10", "x", "1x", "1 2"}) {
        if (type.starts_with("FLOAT") && std::string(value) == "99999999999999999999" &&
            type.find("to") == std::string::npos)
          continue;  // large, but still a number
        Words arguments = words;
        arguments.push_back(option->get_name() + "=" + value);
        const Outcome outcome = isomer_program(arguments);
        SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
        EXPECT_EQ(outcome.exit_code, 2);
        EXPECT_THAT(outcome.err, StartsWith("isomer: " + option->get_name() + ": must be "));
        EXPECT_LT(outcome.err.size(), 200U);
      }
    }
  });
  EXPECT_GT(options, 40U);
}

TEST(Usage, NumbersAreDecimal) {
  const Outcome outcome = isomer_program({"rules", "axioms", "Nonesuch", "--threads", "010"});
  EXPECT_THAT(outcome.err, HasSubstr("no operator 'Nonesuch'"));
  EXPECT_THAT(isomer_program({"rules", "axioms", "Nonesuch", "--threads", "+4"}).err, HasSubstr("no operator"));
}

TEST(Usage, UnknownCommandsAreNamed) {
  EXPECT_THAT(isomer_program({"frobnicate"}).err, StartsWith("isomer: no command 'frobnicate'; there are: optimize, "));
  EXPECT_THAT(isomer_program({"frobnicate", "x", "--y"}).err, StartsWith("isomer: no command 'frobnicate'"));
  EXPECT_THAT(isomer_program({"rules", "frob"}).err,
              StartsWith("isomer: no command 'frob'; there are: list, show, verify"));
  EXPECT_THAT(isomer_program({"rules", "frob"}).err, HasSubstr("See isomer rules --help."));
  EXPECT_THAT(isomer_program({}).err, StartsWith("isomer: a command is needed; there are: optimize, "));
  EXPECT_THAT(isomer_program({"profile"}).err, StartsWith("isomer: a command is needed; there are: show, merge"));
  EXPECT_THAT(isomer_program({"--frob"}).err, StartsWith("isomer: no option '--frob'"));
  EXPECT_THAT(isomer_program({"models", "--frob"}).err, HasSubstr("--frob"));
}

TEST(Usage, ArgumentsAreSafeToPrint) {
  EXPECT_THAT(isomer_program({"frob\x1b[31m"}).err, StartsWith("isomer: no command 'frob\\x1b[31m'"));
  EXPECT_THAT(isomer_program({"models", "squeezenet", "x\x1b[31m"}).err, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(isomer_program({"optimize", "m.onnx", "--search", "x\x1b[31m"}).err, testing::Not(HasSubstr("\x1b")));
}

TEST(Usage, WhatMayBeGivenManyTimesTakesOneTextEach) {
  for (const auto& [command, option] : std::vector<std::pair<std::string, std::string>>{
           {"run", "--input"}, {"run", "--shape"}, {"inspect", "--shape"}, {"optimize", "--skip-rule"}}) {
    const std::string help = isomer_program({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr(option + " TEXT"));
    EXPECT_THAT(help, Not(HasSubstr(option + " TEXT ...")));
    EXPECT_THAT(help, HasSubstr("may be repeated"));
  }
}

class UsageOfModels : public testing::Test {
 protected:
  void SetUp() override {
    const auto graph = parse_graph("input x: f32[N,M]\n z = Relu(x)\n return z", find_op);
    ASSERT_TRUE(export_model(make_model(graph.value(), "net", 17), model_));
  }

  const TempDir folder_ = TempDir::make().value();
  const std::string model_ = (folder_.path() / "net.onnx").string();
};

TEST_F(UsageOfModels, OptionsGivenTwiceBothCount) {
  const Outcome both =
      isomer_program({"run", model_, "--engine", "reference", "--shape", "N=3", "--shape", "M=5", "--json"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(both.report()["outputs"][0]["type"], "f32[3,5]");
  EXPECT_EQ(isomer_program({"run", model_, "--shape", "N=3", "M=5"}).exit_code, 2);
}

TEST_F(UsageOfModels, AnUnknownInputIsNamedBeforeItsFile) {
  EXPECT_THAT(isomer_program({"run", model_, "--input", "nosuch=f"}).err, HasSubstr("no input 'nosuch'; there are: x"));
  EXPECT_THAT(isomer_program({"run", model_, "--input", "x=f"}).err, HasSubstr("f: No such file"));
}

TEST_F(UsageOfModels, AnInputIsGivenOnce) {
  const std::string x = (folder_.path() / "x.npy").string();
  ASSERT_TRUE(write_npy(x, Tensor::floats({1, 1}, {1})).has_value());
  const Outcome twice = isomer_program({"run", model_, "--input", "x=" + x, "--input", "x=" + x});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, StartsWith("isomer: --input: input 'x' is given twice"));
}

TEST_F(UsageOfModels, TheFileOfAWrongInputIsNamed) {
  const std::string x = (folder_.path() / "x.npy").string();
  ASSERT_TRUE(write_npy(x, Tensor::ints({1, 1}, {1})).has_value());
  EXPECT_THAT(isomer_program({"run", model_, "--input", "x=" + x}).err,
              StartsWith("isomer: " + x + ": input 'x' is f32[N,M]: "));
}

TEST_F(UsageOfModels, TheModelThatLacksANameIsNamed) {
  EXPECT_THAT(isomer_program({"explain", model_, "--shape", "Q=3"}).err,
              StartsWith("isomer: " + model_ + ": no symbolic dimension 'Q'"));
  EXPECT_THAT(isomer_program({"explain", model_, "--node", "q"}).err,
              StartsWith("isomer: " + model_ + ": there is no node that makes a value called 'q'"));
}

/// y = op(x), where no engine of this process knows `op`.
TEST_F(UsageOfModels, AModelThatCannotBeRunIsNamed) {
  test::ProtoModel model;
  model.import("of.nobody", 1);
  model.input("x", {"1", "1"});
  model.output("y", {"1", "1"});
  model.node("Nothing", {"x"}, {"y"}, "of.nobody");
  const std::string path = (folder_.path() / "other.onnx").string();
  ASSERT_TRUE(write_file(path, model.bytes()).has_value());
  for (const std::string engine : {"reference", "onednn"}) {
    for (Words arguments :
         std::vector<Words>{{"run", path}, {"bench", path}, {"bench", model_, path}, {"compare", path, path}}) {
      arguments.insert(arguments.end(), {"--engine", engine});
      SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
      const Outcome outcome = isomer_program(arguments);
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, StartsWith("isomer: " + path + ": node "));
    }
  }
}

TEST_F(UsageOfModels, ObjectivesWithoutAValueAreRefused) {
  for (const char* objective : {"1/0", "latency/0", "0/0", "1", "latency*(1/0)", "-(1/0)"}) {
    const Outcome outcome =
        isomer_program({"optimize", model_, "--engine", "roofline", "--dry-run", "--objective", objective});
    EXPECT_EQ(outcome.exit_code, 2) << objective;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("'") + objective + "': ")) << objective;
  }
}

TEST_F(UsageOfModels, AnObjectiveHasAValueForTheModel) {
  const Outcome outcome = isomer_program(
      {"optimize", model_, "--engine", "roofline", "--dry-run", "--objective", "latency / (kernels - 1)"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--objective latency / (kernels - 1): has no finite value for the model"));
}

TEST_F(UsageOfModels, TheBatchOfANetworkIsBounded) {
  EXPECT_THAT(isomer_program({"models", "sru", "-o", model_, "--batch", "4097"}).err,
              HasSubstr("--batch: must be an integer from 1 to 4096, not '4097'"));
}

}  // namespace
}  // namespace isomer
