// SPDX-License-Identifier: Apache-2.0
// Arrays of files, whole in a link.
#ifndef QDQ_TOOLS_LINK_LINK_ARRAYS_H
#define QDQ_TOOLS_LINK_LINK_ARRAYS_H

#include <qdq/base.h>

#include "tools/options/string_list.h"

// Returns the arrays of files "[NAME=]FILE[#TENSOR]" as one .safetensors file in base64url with
// quotes, from malloc. NULL with `err` set, also if the elements take more than LINK_TEXT_LIMIT.
char *link_arrays(const string_list *files, qdq_error *err);

#endif
