#pragma once
// Keeps the measurements by which an engine chooses between implementations, in the same database as its kernels.

#include <memory>

#include "isomer/cost/profile_db.h"
#include "isomer/engine/engine.h"

namespace isomer {

/// Gives an engine the measurements that earlier runs of this version, on this processor and with as many threads, left
/// in the database, and stores new ones there. So its plans are based on the same choices. If the database is locked,
/// nothing is measured: an implementation that is not in it counts as the fastest, and is reported as missing.
Status keep_tunings(Engine& engine, std::shared_ptr<ProfileDb> db);

}  // namespace isomer
