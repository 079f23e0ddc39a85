#include "isomer/base/on_quit.h"

#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

namespace isomer {
namespace {

struct Actions {
  std::mutex mutex;
  std::vector<std::pair<const OnQuit*, std::function<void()>>> by_owner;
};

/// Never destroyed, because OnQuit objects may outlive static objects.
Actions& actions() {
  static auto* const kActions = new Actions;
  return *kActions;
}

/// The caller must hold the lock.
void run_all() {
  auto& entries = actions().by_owner;
  for (size_t i = entries.size(); i-- > 0;) entries[i].second();
}

}  // namespace

OnQuit::OnQuit(FunctionRef<void()> create, std::function<void()> action) {
  const std::lock_guard lock(actions().mutex);
  create();
  actions().by_owner.emplace_back(this, std::move(action));
}

OnQuit::~OnQuit() {
  const std::lock_guard lock(actions().mutex);
  std::erase_if(actions().by_owner, [&](const auto& entry) { return entry.first == this; });
}

void run_on_quit() {
  const std::lock_guard lock(actions().mutex);
  run_all();
}

void quit(int status) {
  const std::lock_guard lock(actions().mutex);
  run_all();
  ::_exit(status);
}

}  // namespace isomer
