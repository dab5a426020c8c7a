// SPDX-License-Identifier: Apache-2.0
#include "include/qdq/base.h"

const char *qdq_version(void) { return QDQ_VERSION; }
