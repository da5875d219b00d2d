/*
 * registers.h (internal) - the registers of a thread that a signal has interrupted.
 */
#ifndef COIL_KERNEL_REGISTERS_H
#define COIL_KERNEL_REGISTERS_H

#include <stdint.h>

struct coil__registers {
    uintptr_t pc, sp, frame; /* frame: the frame pointer register, if used as such */
};

/* `context` is the third argument of a handler with SA_SIGINFO. Async-signal-safe. */
struct coil__registers coil__registers_of(const void *context);

#endif
