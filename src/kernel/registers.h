/*
 * registers.h (internal) - reads the registers of a thread that a signal has interrupted.
 */
#ifndef COIL_KERNEL_REGISTERS_H
#define COIL_KERNEL_REGISTERS_H

#include <stdint.h>

struct coil__registers {
    /* frame: the register for frame pointers, if the code uses them */
    uintptr_t pc, sp, frame;
};

/* `context` is the third argument of a handler with SA_SIGINFO. Async-signal-safe. */
struct coil__registers coil__registers_of(const void *context);

#endif
