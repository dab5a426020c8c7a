// SPDX-License-Identifier: Apache-2.0
// Corrects the biases and the rounding of weights of quantized products where the outputs gain
// (docs/float_to_int8.md, "Correcting").
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_H

#include "tools/lab/quantize/quantize_report.h"

// A correction that was taken, of a product or of neighbouring products.
typedef struct correction {
    size_t node, last;  // the first product and the last
    size_t products;
    bool rounding;          // of weights; false: biases
    size_t changed, count;  // weights whose code differs, and all
    double before, after;   // ratio of the median sample, in decibels
} correction;

// Weights that keep their codes.
typedef struct not_rounded {
    size_t node, depth, bytes;  // columns of the second moments, and their bytes
    bool shared;                // other products read the weights
} not_rounded;

typedef struct corrections {
    correction *taken;
    not_rounded *skipped;
    size_t count, skipped_count;
    size_t refused;        // tried and not taken
    size_t fits, judges;   // samples
    double before, after;  // of the median sample that judges
} corrections;

// Corrects the codes of --correct, and the quantized graph. Sets `corrections`. EXIT_OK, or another
// exit code after a message.
int correct_codes(quantization *q);

// Print the corrections as text, and write the key "corrected"; nothing without --correct.
void corrections_text(const quantization *q);
void corrections_json(qdq_json *json, const quantization *q);

#endif
