#include "isomer/cost/tunings.h"

#include <limits>
#include <map>
#include <unordered_map>

#include "isomer/base/hash.h"

namespace isomer {
namespace {

/// Change this whenever times are measured differently.
constexpr uint64_t kTimingVersion = 1;

class KeptTunings : public TuningStore {
 public:
  KeptTunings(std::shared_ptr<ProfileDb> db, ProfileKey key, const std::vector<ProfiledKernel>& known,
              const std::map<uint64_t, std::string>& failures)
      : db_(std::move(db)), key_(std::move(key)) {
    for (const auto& [signature, reason] : failures) known_.emplace(signature, kFailed);
    for (const ProfiledKernel& kernel : known) known_[kernel.signature] = kernel.time.us;
  }

  std::optional<double> find(const std::string& key) override {
    const auto known = known_.find(signature(key));
    if (known != known_.end()) return known->second;
    if (!db_->locked()) return std::nullopt;
    db_->miss(description(key));
    return 0;
  }

  void store(const std::string& key, double us) override {
    known_[signature(key)] = us;
    // The plan is valid even if this fails: the next run measures again.
    const Status ignored = us == kFailed ? db_->store_failure(key_, signature(key), "the kernel cannot be made")
                                         : db_->store(key_, signature(key), {.us = us, .runs = 1}, description(key));
  }

 private:
  static constexpr double kFailed = std::numeric_limits<double>::infinity();

  static std::string description(const std::string& key) { return "choice: " + key; }
  static uint64_t signature(const std::string& key) { return hash_text(description(key), kTimingVersion); }

  const std::shared_ptr<ProfileDb> db_;
  const ProfileKey key_;
  std::unordered_map<uint64_t, double> known_;
};

}  // namespace

Status keep_tunings(Engine& engine, std::shared_ptr<ProfileDb> db) {
  ISOMER_TRY(ProfileKey key, db->resolve({engine.name(), engine.version(), engine.device(), engine.threads()}));
  ISOMER_TRY(const auto known, db->load(key));
  std::map<uint64_t, std::string> failures;  // which only locked runs do not try again
  if (db->locked()) {
    ISOMER_TRY(failures, db->load_failures(key));
  }
  engine.keep_tunings(std::make_shared<KeptTunings>(std::move(db), std::move(key), known, failures));
  return {};
}

}  // namespace isomer
