// SPDX-License-Identifier: Apache-2.0
// The version of the library, which the build defines.
#include "include/qdq/base.h"

const char *qdq_version(void) { return QDQ_VERSION; }
