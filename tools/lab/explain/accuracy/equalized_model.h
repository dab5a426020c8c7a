// SPDX-License-Identifier: Apache-2.0
// Gives a float model the channels of a quantized graph that was equalized.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EQUALIZED_MODEL_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EQUALIZED_MODEL_H

#include "tools/session.h"

// Replaces the graph of `real` by the same network with channels multiplied by powers of two, as
// the weights of the quantized graph show them, so that values of both graphs compare. Leaves it
// alone if no channel differs. The reports of both sessions end. EXIT_OK, or another exit code
// after a message.
int equalized_model(const session *quantized, session *real, const options *opt);

#endif
