// Tests that no command destroys one of its files by writing another.

#include "isomer/cli/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "isomer/base/file.h"
#include "isomer/base/temp_dir.h"
#include "isomer/cli/commands.h"
#include "isomer/cli/testing.h"
#include "isomer/ir/text.h"
#include "isomer/onnx/content.h"
#include "isomer/onnx/export.h"
#include "isomer/onnx/import.h"
#include "isomer/onnx/input_file.h"
#include "isomer/onnx/npy.h"
#include "isomer/ops/registry.h"

namespace isomer {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

enum Access { kRead, kWritten, kUpdated };
using Words = std::vector<std::string>;

struct Command {
  Words words;
  std::vector<std::pair<std::string, Access>> positionals, options;
  Words others = {};  // arguments that the command requires
};

/// The use of each option for a file.
const std::vector<Command>& commands() {
  static const std::pair<std::string, Access> kDb = {"--profile-db", kUpdated};
  static const std::vector<Command> kCommands = {
      {{"optimize"},
       {{"model", kRead}},
       {{"--output", kWritten},
        {"--rules", kRead},
        {"--report", kWritten},
        {"--trace", kWritten},
        {"--certificate", kWritten},
        kDb}},
      {{"run"}, {{"model", kRead}}, {{"--trace", kWritten}, kDb}},
      {{"bench"}, {{"models", kRead}}, {{"--trace", kWritten}, kDb}},
      {{"compare"}, {{"a", kRead}, {"b", kRead}}, {kDb}},
      {{"inspect"}, {{"model", kRead}}, {{"--dot", kWritten}, {"--roofline", kWritten}, kDb}, {"--costs"}},
      {{"diff"}, {{"a", kRead}, {"b", kRead}}, {{"--dot", kWritten}}},
      {{"explain"}, {{"model", kRead}}, {{"--rules", kRead}, kDb}},
      {{"models"}, {}, {{"--output", kWritten}}, {"squeezenet"}},
      {{"grad"}, {{"model", kRead}}, {{"--output", kWritten}}, {"--loss", "loss"}},
      {{"rules", "list"}, {}, {{"--rules", kRead}}},
      {{"rules", "show"}, {}, {{"--rules", kRead}}, {"a-rule"}},
      {{"rules", "verify"}, {}, {{"--rules", kRead}, {"--write", kUpdated}}},
      {{"rules", "axioms"}, {}, {}},
      {{"rules", "generate"}, {}, {{"--universe", kRead}, {"--output", kWritten}, {"--equalities", kWritten}}},
      {{"rules", "derive"}, {}, {{"--from", kRead}, {"--rules", kRead}}},
      {{"verify"}, {{"certificate", kRead}, {"input", kRead}, {"output", kRead}}, {{"--lock", kRead}, kDb}},
      {{"profile", "show"}, {}, {{"--profile-db", kRead}}},
      {{"profile", "merge"}, {{"others", kRead}}, {kDb}},
      {{"options"}, {}, {}},
      {{"repro"}, {}, {{"--csv", kWritten}, {"--svg", kWritten}}, {"taso-t2.1"}},
  };
  return kCommands;
}

class CommandFilesTest : public testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  /// Writes a model of [1,8] x [8,512] whose result is transposed twice.
  std::string model(const std::string& name, uint64_t external_above = uint64_t{1} << 30) const {
    const auto graph = parse_graph(
        "input x: f32[1,8]\n w = f32[8,512]{seed 1}\n u = MatMul(x, w)\n v = Transpose(u) {perm=[1,0]}\n"
        " z = Transpose(v) {perm=[1,0]}\n return z",
        find_op);
    const Status written =
        export_model(make_model(graph.value(), "net", 17), file(name), {.external_above = external_above});
    EXPECT_TRUE(written.has_value());
    return file(name).string();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(folder_.path()), {}));
  }

  const TempDir folder_ = TempDir::make().value();
};

/// Returns `isomer COMMAND`, in which these options name these files and every other positional argument a different
/// file.
Words arguments_of(const Command& command, const std::map<std::string, std::string>& given, const fs::path& folder) {
  Words out = command.words;
  for (const auto& [name, access] : command.positionals)
    out.push_back(given.contains(name) ? given.at(name) : (folder / ("own-" + name)).string());
  out.insert(out.end(), command.others.begin(), command.others.end());
  for (const auto& [name, access] : command.options) {
    if (!given.contains(name) && name != "--output") continue;
    out.push_back(name);
    out.push_back(given.contains(name) ? given.at(name) : (folder / "own-output").string());
  }
  return out;
}

/// Runs `test` for each pair of options of one command of which at least one is written.
void for_each_pair(
    const std::function<void(const Command&, const std::string&, const std::string&, bool only_written)>& test) {
  for (const Command& command : commands()) {
    auto all = command.positionals;
    all.insert(all.end(), command.options.begin(), command.options.end());
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        if (all[i].second == kRead && all[j].second == kRead) continue;
        test(command, all[j].first, all[i].first, all[i].second == kWritten && all[j].second == kWritten);
      }
  }
}

TEST_F(CommandFilesTest, NoTwoOptionsNameOneFile) {
  const std::string whole = "nothing of this may be lost";
  size_t pairs = 0;
  for_each_pair([&](const Command& command, const std::string& first, const std::string& second, bool) {
    ++pairs;
    for (const char* name : {"shared", "./shared", "link", "hard"}) {
      ASSERT_TRUE(write_file(file("shared"), whole));
      fs::create_symlink("shared", file("link"));
      fs::create_hard_link(file("shared"), file("hard"));
      const Words arguments =
          arguments_of(command, {{first, file("shared").string()}, {second, file(name).string()}}, folder_.path());
      SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
      const Outcome outcome = isomer_program(arguments);
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, AnyOf(HasSubstr("is an input ("), HasSubstr("are the same file")));
      EXPECT_THAT(outcome.err, HasSubstr(file("").string()));
      EXPECT_EQ(read_file(file("shared")).value(), whole);
      EXPECT_EQ(files(), 3U);
      for (const char* made : {"shared", "link", "hard"}) fs::remove(file(made));
    }
  });
  EXPECT_GT(pairs, 40U);
}

TEST_F(CommandFilesTest, NoTwoOptionsNameOneFileThatIsYetToBeMade) {
  fs::create_directory(file("folder"));
  fs::create_directory_symlink("folder", file("same"));
  for_each_pair([&](const Command& command, const std::string& first, const std::string& second, bool only_written) {
    if (!only_written) return;
    const Words arguments =
        arguments_of(command, {{first, file("folder/new").string()}, {second, file("same/new").string()}}, file(""));
    SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("are the same file"));
    EXPECT_EQ(files(), 2U);
  });
}

/// Returns the subcommands that have no subcommands.
void collect(CLI::App& app, const Words& words, std::map<Words, CLI::App*>& out) {
  const auto parts = app.get_subcommands({});
  for (CLI::App* part : parts) {
    Words longer = words;
    longer.push_back(part->get_name());
    collect(*part, longer, out);
  }
  if (parts.empty()) out.emplace(words, &app);
}

TEST_F(CommandFilesTest, EveryOptionForAFileIsKnownHere) {
  // Options whose text does not name a file, or names it in another way.
  const std::set<std::string> no_files = {"--shape", "--objective", "--skip-rule", "--rule",  "--node",
                                          "name",    "op",          "equality",    "--input", "--output-dir",
                                          "--limit", "--python",    "--provider",  "item",    "--network",
                                          "--loss",  "--wrt"};
  int exit_code = 0;
  CLI::App app;
  for (const AddCommand add : all_commands()) add(app, exit_code);
  std::map<Words, CLI::App*> leaves;
  collect(app, {}, leaves);
  EXPECT_EQ(leaves.size(), commands().size());
  for (const Command& command : commands()) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(command.words, " ")));
    ASSERT_TRUE(leaves.contains(command.words));
    std::set<std::string> expected, found;
    for (const auto& [name, access] : command.positionals) expected.insert(name);
    for (const auto& [name, access] : command.options) expected.insert(name);
    for (const CLI::Option* option : leaves[command.words]->get_options()) {
      const std::string type = option->get_type_name();
      if (type == CommandFiles::kTypeName) found.insert(option->get_name());
      EXPECT_TRUE(type != "TEXT" || no_files.contains(option->get_name())) << option->get_name();
    }
    EXPECT_EQ(found, expected);
  }
}

TEST_F(CommandFilesTest, TheDataOfAModelIsAnInput) {
  const std::string heavy = model("heavy.onnx", 1000);
  const auto names = external_files(import_model(heavy).value());
  ASSERT_EQ(names.size(), 1U);
  const std::string data = file(names[0]).string();
  const std::string whole = read_file(data).value();
  ASSERT_FALSE(whole.empty());
  const std::string out = file("out.onnx").string();
  const std::vector<Words> commands = {{"optimize", heavy, "--engine", "roofline", "-o", data},
                                       {"optimize", heavy, "--engine", "roofline", "-o", data, "--force"},
                                       {"optimize", heavy, "--engine", "roofline", "-o", out, "--report", data},
                                       {"optimize", heavy, "--engine", "roofline", "-o", out, "--trace", data},
                                       {"optimize", heavy, "--engine", "roofline", "-o", out, "--certificate", data},
                                       {"run", heavy, "--engine", "onednn", "--trace", data},
                                       {"bench", heavy, "--engine", "onednn", "--trace", data},
                                       {"inspect", heavy, "--dot", data},
                                       {"inspect", heavy, "--costs", "--engine", "onednn", "--roofline", data},
                                       {"diff", heavy, heavy, "--dot", data}};
  for (const Words& arguments : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("is an input (external data of"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("--force")));
    EXPECT_EQ(read_file(data).value(), whole);
    EXPECT_FALSE(fs::exists(out));
  }
}

TEST_F(CommandFilesTest, ForceIsForTheOutputAlone) {
  const std::string in = model("in.onnx");
  const std::string before = read_file(in).value();
  const Words base = {"optimize", in, "-o", in, "--engine", "roofline"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), base.begin(), base.end());
    return isomer_program(more);
  };
  EXPECT_THAT(with({}).err, HasSubstr("give --force to allow it"));
  EXPECT_EQ(with({"--force", "--report", in}).exit_code, 2);
  EXPECT_EQ(with({"--force", "--certificate", in}).exit_code, 2);
  EXPECT_EQ(read_file(in).value(), before);
  const Outcome forced = with({"--force"});
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_NE(read_file(in).value(), before);
}

TEST_F(CommandFilesTest, TheFilesBesideTheProfileDatabaseAreItsOwn) {
  const std::string in = model("in.onnx"), db = file("p.db").string();
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const Outcome outcome = isomer_program({"inspect", in, "--profile-db", db, "--dot", db + suffix});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--dot and the profile database are the same file"));
  }
}

TEST_F(CommandFilesTest, OutputsOfARunAreNoInputsOfIt) {
  const std::string in = model("in.onnx"), array = file("z.npy").string();
  ASSERT_TRUE(write_npy(array, Tensor::floats({1, 8}, std::vector<float>(8, 1.0F))));
  const std::string before = read_file(array).value();
  const Outcome outcome = isomer_program(
      {"run", in, "--engine", "reference", "--input", "x=" + array, "--output-dir", folder_.path().string()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("z.npy: is an input (--input), which --output-dir would overwrite"));
  EXPECT_EQ(read_file(array).value(), before);
}

TEST_F(CommandFilesTest, AnOutputIsNotMixedWithWhatIsPrinted) {
  const std::string in = model("in.onnx");
  const Outcome outcome = isomer_program({"inspect", in, "--dot", "/dev/stdout"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--dot and what the command prints are the same file"));
}

TEST_F(CommandFilesTest, NoOutputIsNamedLikeStandardOutput) {
  for (const Command& command : commands())
    for (const auto& [name, access] : command.options) {
      if (access == kRead) continue;
      const Words arguments = arguments_of(command, {{name, "-"}}, folder_.path());
      SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
      const Outcome outcome = isomer_program(arguments);
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, HasSubstr("'-' is ambiguous; give ./- for a file of this name"));
      EXPECT_FALSE(fs::exists("-"));
    }
}

TEST_F(CommandFilesTest, EveryOutputFollowsALink) {
  const std::string in = model("in.onnx"), rules = file("own.rules").string(), link = file("link").string();
  const std::string out = file("out.onnx").string(), db = file("p.db").string();
  ASSERT_TRUE(write_file(rules, "rule own (Relu (Relu ?x)) => (Relu ?x)"));
  const Words optimize = {"optimize", in, "--engine", "roofline", "-o", out};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Words run = {"--engine", "onednn", "--profile-db", db, "--trace", link};
  const Words generate = {"rules", "generate", "--universe", "activations", "--max-operators", "1"};
  const std::vector<Words> commands = {
      {"optimize", in, "--engine", "roofline", "-o", link},
      with(optimize, {"--report", link}),
      with(optimize, {"--trace", link}),
      with(optimize, {"--certificate", link}),
      with({"run", in}, run),
      with({"bench", in, "--runs", "1"}, run),
      {"inspect", in, "--dot", link},
      {"diff", in, in, "--dot", link},
      {"models", "sru", "-o", link},
      {"rules", "verify", "--rules", rules, "--write", link},
      with(generate, {"-o", link}),
      with(generate, {"--equalities", link}),
      {"inspect", in, "--costs", "--engine", "onednn", "--profile-db", link},
      with({"inspect", in, "--costs", "--engine", "onednn"}, {"--profile-db", db, "--roofline", link})};
  for (const Words& arguments : commands) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
    fs::create_symlink("target", link);
    const Outcome outcome = isomer_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::is_regular_file(file("target")));
    for (const char* made : {"link", "target"}) fs::remove(file(made));
  }
}

/// While a command runs that reads `pipe` after importing the model: changes a file, then writes the text to the pipe.
std::thread change_during_run(const std::string& pipe, const std::string& text, const std::function<void()>& change) {
  return std::thread([=] {
    const int descriptor = ::open(pipe.c_str(), O_WRONLY);  // waits for the command
    change();
    EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(descriptor);
  });
}

TEST_F(CommandFilesTest, AnInputThatChangesIsNamed) {
  const std::string heavy = model("heavy.onnx", 1000), pipe = file("pipe").string(), out = file("out").string();
  const std::string data = file(external_files(import_model(heavy).value())[0]).string();
  ASSERT_TRUE(write_npy(file("x.npy"), Tensor::floats({1, 8}, std::vector<float>(8, 1.0F))));
  const std::string array = read_file(file("x.npy")).value(), weights = read_file(data).value();
  const std::string graph = read_file(heavy).value();
  const std::string rules = "rule own (Relu (Relu ?x)) => (Relu ?x)";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto truncate = [&] { fs::resize_file(data, 100); };
  const auto scribble = [&] {
    std::ofstream(data, std::ios::in | std::ios::binary).seekp(64) << "something else, as long";
    fs::last_write_time(data, fs::last_write_time(data) + std::chrono::seconds(1));
  };
  const auto touch = [&] { fs::last_write_time(heavy, fs::last_write_time(heavy) + std::chrono::seconds(1)); };
  for (const auto& [changed, change] :
       std::vector<std::pair<std::string, std::function<void()>>>{{data, truncate}, {data, scribble}, {heavy, touch}}) {
    for (const auto& [arguments, text] : std::vector<std::pair<Words, std::string>>{
             {{"run", heavy, "--engine", "reference", "--input", "x=" + pipe, "--output-dir", out}, array},
             {{"run", heavy, "--engine", "ort", "--input", "x=" + pipe, "--output-dir", out}, array},
             {{"optimize", heavy, "--engine", "roofline", "--rules", pipe, "-o", out}, rules},
             {{"optimize", heavy, "--engine", "onednn", "--rules", pipe, "-o", out}, rules}}) {
      SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
      ASSERT_TRUE(write_file(data, weights));
      ASSERT_TRUE(write_file(heavy, graph));
      std::thread writer = change_during_run(pipe, text, change);
      const Outcome outcome = isomer_program(arguments);
      writer.join();
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, HasSubstr(changed + ": has changed since the command began to read it"));
      EXPECT_EQ(outcome.out, "");
      EXPECT_FALSE(fs::exists(out));
    }
  }
}

TEST_F(CommandFilesTest, DataThatAreTruncatedWhileTheyAreMappedEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string heavy = model("heavy.onnx", 1000), pipe = file("pipe").string(), out = file("out").string();
  const std::string data = file(external_files(import_model(heavy).value())[0]).string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto program = [&] {
    map_input_files();
    change_during_run(pipe, "rule own (Relu (Relu ?x)) => (Relu ?x)", [&] { fs::resize_file(data, 100); }).detach();
    const std::vector<const char*> arguments = {"isomer",  "optimize",   heavy.c_str(), "--engine", "onednn",
                                                "--rules", pipe.c_str(), "-o",          out.c_str()};
    _exit(run_program(static_cast<int>(arguments.size()), arguments.data()));
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(2), "isomer: .*data: (was truncated|has changed)");
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(CommandFilesTest, OutputsGoThroughPipes) {
  const std::string in = model("in.onnx"), pipe = file("pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto through = [&](const Words& arguments) {
    std::string got;
    std::thread reader([&] { got = read_file(pipe).value(); });
    const Outcome outcome = isomer_program(arguments);
    // The reader waits for a writer, in case the command did not open the pipe.
    ::close(::open(pipe.c_str(), O_RDWR));
    reader.join();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(fs::is_fifo(pipe));
    return got;
  };
  const std::string optimized = through({"optimize", in, "--engine", "roofline", "-o", pipe});
  EXPECT_TRUE(import_bytes(optimized, "", "pipe").has_value());
  EXPECT_THAT(through({"inspect", in, "--dot", pipe}), testing::StartsWith("digraph"));
  const Outcome certified =
      isomer_program({"optimize", in, "--engine", "roofline", "-o", pipe, "--certificate", file("c").string()});
  EXPECT_EQ(certified.exit_code, 2);
  EXPECT_THAT(certified.err, HasSubstr("a certificate needs an output that is a regular file"));
}

}  // namespace
}  // namespace isomer
