// SPDX-License-Identifier: Apache-2.0
// Starts a program on a Cortex-M without an operating system, and prints through a debugger or an
// emulator (semihosting). The stack is painted, so that its greatest depth can be told.
#include "startup.h"

#include <string.h>

extern char data_load[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
int main(void);
void reset(void);

enum { SYS_WRITE0 = 0x04, SYS_EXIT = 0x18, APPLICATION_EXIT = 0x20026, RUNTIME_ERROR = 0x20023 };
enum { PAINT = 0x5A, LEFT_ALONE = 256 };  // bytes below the frame that paints

static void call(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *text) { call(SYS_WRITE0, text); }

void print_hex(uint32_t value, int digits) {
    char text[9];
    for (int i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
    text[digits] = '\0';
    print(text);
}

uint32_t stack_used(void) {
    const char *at = bss_end;
    while (at < stack_top && *at == PAINT) at++;
    return (uint32_t)(stack_top - at);
}

static void fault(void) {
    print("fault\n");
    call(SYS_EXIT, (const void *)RUNTIME_ERROR);
    for (;;) {
    }
}

void reset(void) {
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;  // CPACR: the floating-point unit is on
    __asm__ volatile("dsb\n isb");
#endif
    memcpy(data_begin, data_load, (size_t)(data_end - data_begin));
    memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
    char *here = (char *)__builtin_frame_address(0) - LEFT_ALONE;
    for (volatile char *at = bss_end; at < here; at++) *at = PAINT;
    main();
    call(SYS_EXIT, (const void *)APPLICATION_EXIT);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, reset, fault, fault, fault, fault, fault,
};
