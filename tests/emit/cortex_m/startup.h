// SPDX-License-Identifier: Apache-2.0
// What startup.c offers to a program.
#ifndef QDQ_TESTS_EMIT_CORTEX_M_STARTUP_H
#define QDQ_TESTS_EMIT_CORTEX_M_STARTUP_H

#include <stdint.h>

void print(const char *text);
// The low digits of a number, with zeros in front.
void print_hex(uint32_t value, int digits);
// The most bytes of stack that have been in use.
uint32_t stack_used(void);

#endif
