// SPDX-License-Identifier: Apache-2.0
// Parts and values of float32 patterns, for the files of this folder.
#ifndef QDQ_RUNTIME_TENSTORRENT_PATTERNS_H
#define QDQ_RUNTIME_TENSTORRENT_PATTERNS_H

#define SIGN_BIT 0x80000000u
#define MAGNITUDE 0x7FFFFFFFu
#define INFINITY_BITS 0x7F800000u
#define NAN_BITS 0x7FC00000u
#define LEAST_NORMAL 0x00800000u
#define ONE 0x3F800000u
#define MINUS_ONE 0xBF800000u
#define HALF 0x3F000000u
#define TWO 0x40000000u

#endif
