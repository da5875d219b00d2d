/*
 * own_aarch64.S - the functions coil__own_*(), to which own.h redirects calls. Each
 * function has an ordinary stack frame, so backtraces work.
 */
#include "own.h"

    .text

.macro own name
    .globl coil__own_\name
    .hidden coil__own_\name
    .type coil__own_\name, %function
    .p2align 4
coil__own_\name:
    .cfi_startproc
    hint #34 /* bti c */
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    bl \name
    ldp x29, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size coil__own_\name, . - coil__own_\name
.endm

    .globl coil__own_begin, coil__own_end
    .hidden coil__own_begin, coil__own_end
coil__own_begin:
#define OWN(name) own name;
COIL__OWN_CALLS(OWN)
COIL__OWN_CALLS_OF_SEVEN(OWN) /* up to eight arguments are in registers */
coil__own_end:

    .section .note.GNU-stack, "", %progbits

/*
 * Declare that this file supports BTI (GNU_PROPERTY_AARCH64_FEATURE_1_AND). The library
 * supports BTI only if all its files do.
 */
    .section .note.gnu.property, "a"
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0
