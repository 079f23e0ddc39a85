#include "isomer/ir/text.h"
