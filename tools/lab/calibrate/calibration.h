// SPDX-License-Identifier: Apache-2.0
// Collects the statistics of all float values of a graph, run by run, in a state of qdq calibrate.
#ifndef QDQ_TOOLS_LAB_CALIBRATE_CALIBRATION_H
#define QDQ_TOOLS_LAB_CALIBRATE_CALIBRATION_H

#include "tools/lab/dataset/state.h"
#include "tools/session.h"

typedef struct calibration {
    const options *opt;
    session session;  // whose plan keeps every value
    void *elements;   // room for the largest value; elements_free
} calibration;

// Steps of a data_run_task with a calibration. EXIT_OK, or another exit code after a message:
// calibration_begin adds a row for each float value, calibration_add runs the graph and adds the
// statistics of its values.
int calibration_begin(void *with, state *s);
int calibration_add(void *with, state *s, size_t index);

// Collects statistics in process: over the samples of --data, or of the run of -i or --fill. The
// graph and the options of its exec are those of a session. EXIT_OK, or another exit code after a
// message; release the state in either case.
int calibrate_in_process(const session *of, const options *opt, state *out);

#endif
