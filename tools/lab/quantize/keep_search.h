// SPDX-License-Identifier: Apache-2.0
// Searches the fewest products that must stay in float so that a quantized network is good enough.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_KEEP_SEARCH_H
#define QDQ_TOOLS_LAB_QUANTIZE_KEEP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

// `noise` is error / signal of the worst output.
typedef struct keep_search {
    size_t count;          // products
    const double *noises;  // [product]: noise with this product alone on codes; the greatest first
    double wanted;         // greatest noise that fits; INFINITY: another measure decides
    // Measures the network with products in float. Sets *fits if it is good enough. 0, or another
    // code, which ends the search.
    int (*measure)(void *with, const bool *kept, bool *fits, double *noise);
    void *with;
    bool *kept;     // [product]: the result
    bool found;     // else no set fits that leaves a product on codes
    size_t trials;  // calls of `measure`
} keep_search;

// Sets `kept` and `found`. 0, or the code of `measure`, or -1 if memory runs out.
int keep_search_run(keep_search *s);

#endif
