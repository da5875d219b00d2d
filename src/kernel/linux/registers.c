/*
 * registers.c - reads the registers that the kernel passes to a signal handler.
 */
#include "../registers.h"

#include <ucontext.h>

struct coil__registers coil__registers_of(const void *context)
{
    const ucontext_t *interrupted = context;

#if defined(__x86_64__)
    return (struct coil__registers){
        .pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP],
        .sp = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP],
        .frame = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RBP],
    };
#else
    return (struct coil__registers){
        .pc = (uintptr_t)interrupted->uc_mcontext.pc,
        .sp = (uintptr_t)interrupted->uc_mcontext.sp,
        .frame = (uintptr_t)interrupted->uc_mcontext.regs[29],
    };
#endif
}
