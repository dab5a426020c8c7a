// SPDX-License-Identifier: Apache-2.0
// How far elements may differ without being counted.
#ifndef QDQ_TOOLS_LAB_COMPARE_TOLERANCE_H
#define QDQ_TOOLS_LAB_COMPARE_TOLERANCE_H

// Elements a and b differ if |a - b| exceeds atol + rtol |a|. All zero: every bit counts.
typedef struct tolerances {
    double atol, rtol;
} tolerances;

#endif
