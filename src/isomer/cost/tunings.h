#pragma once
// What an engine measures to choose between ways to compute the same, kept beside its kernels.

#include <memory>

#include "isomer/cost/profile_db.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Gives an engine the measurements that earlier runs of this version, on this processor and with as many threads, left
/// in the database, and keeps there what it measures from now on: its plans then rest on the same choices. Where the
/// database is locked, nothing is measured: of choices that are not in it, the first is taken, and the database misses
/// them.
Status keep_tunings(Engine& engine, std::shared_ptr<ProfileDb> db);

}  // namespace isomer
