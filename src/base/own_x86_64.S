/*
 * own_x86_64.S - the functions coil__own_*(), to which own.h redirects calls. Each
 * function has an ordinary stack frame, so backtraces work.
 */
#include "own.h"

    .text

.macro begin name
    .globl coil__own_\name
    .hidden coil__own_\name
    .type coil__own_\name, @function
    .p2align 4
coil__own_\name:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
.endm

.macro end name
    call \name@PLT
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size coil__own_\name, . - coil__own_\name
.endm

.macro own name
    begin \name
    end \name
.endm

/*
 * For functions with seven arguments. The seventh argument is passed on the stack, which
 * must be aligned to 16 bytes at the call.
 */
.macro own_of_seven name
    begin \name
    subq $8, %rsp
    pushq 16(%rbp)
    end \name
.endm

    .globl coil__own_begin, coil__own_end
    .hidden coil__own_begin, coil__own_end
coil__own_begin:
#define OWN(name) own name;
COIL__OWN_CALLS(OWN)
#define OWN_OF_SEVEN(name) own_of_seven name;
COIL__OWN_CALLS_OF_SEVEN(OWN_OF_SEVEN)
coil__own_end:

    .section .note.GNU-stack, "", @progbits
