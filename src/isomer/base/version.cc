#include "isomer/base/version.h"

namespace isomer {

std::string_view version() { return ISOMER_VERSION; }

}  // namespace isomer
