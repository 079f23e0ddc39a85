#include "isomer/engine/worker/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace isomer {
namespace {

using testing::HasSubstr;

/// Answers each message with the same message, only by shell tools: `cat` copies what it reads back into the socket.
/// `exec` replaces the shell, since a child of the shell would go on answering after the shell is killed.
const std::vector<std::string> kEcho = {"sh", "-c", "exec cat >&0"};

std::string failure(const tl::expected<Message, ChildFailure>& answer) { return answer ? "" : answer.error().message; }

TEST(Child, AnswersComeBack) {
  const auto child = Child::start(kEcho).value();
  for (const size_t size : {0, 1, 50000}) {
    const Message question{{{"n", size}, {"text", "\xC3\xBC"}}, std::string(size, 'x')};
    const auto answer = child->call(&question, 20);
    ASSERT_TRUE(answer.has_value()) << failure(answer);
    EXPECT_EQ(answer->header, question.header);
    EXPECT_EQ(answer->payload, question.payload);
  }
}

TEST(Child, MissingProgramIsNamed) {
  EXPECT_THAT(Child::start({"/nowhere/python"}).error().message, HasSubstr("/nowhere/python: No such file"));
}

TEST(Child, DeathIsReportedWithWhatItSaid) {
  const auto child = Child::start({"sh", "-c", "echo out of luck >&2; exit 3"}).value();
  const auto answer = child->call(nullptr, 20);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ChildFailure::Died);
  EXPECT_EQ(answer.error().message, "ended with status 3: out of luck");
  EXPECT_EQ(child->call(nullptr, 20).error().message, answer.error().message) << "it stays dead";
}

TEST(Child, KillIsReportedAsSignal) {
  const auto child = Child::start(kEcho).value();
  ::kill(child->pid(), SIGKILL);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid()), &info, WEXITED | WNOWAIT), 0) << "until it is dead";
  const Message question{{{"n", 1}}};
  EXPECT_THAT(failure(child->call(&question, 20)), HasSubstr("killed by signal 9"));
}

TEST(Child, SilenceTimesOut) {
  const auto child = Child::start({"sh", "-c", "sleep 100"}).value();
  const pid_t pid = child->pid();
  const auto answer = child->call(nullptr, 0.05);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ChildFailure::TimedOut);
  EXPECT_THAT(answer.error().message, HasSubstr("did not answer within 0.05 s"));
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1) << "it is still there";
  EXPECT_EQ(errno, ECHILD);
}

TEST(Child, NonsenseIsNoAnswer) {
  const auto child = Child::start({"sh", "-c", "printf '%020000d' 7 >&0; sleep 100"}).value();
  EXPECT_EQ(child->call(nullptr, 20).error().kind, ChildFailure::Died);
}

TEST(Child, NoZombieStays) {
  pid_t pid = 0;
  {
    const auto child = Child::start(kEcho).value();
    pid = child->pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace isomer
