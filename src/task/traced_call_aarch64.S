/*
 * traced_call_aarch64.S - calls a function and records the stack of a C++ exception: see
 * thrown.c. (The encoding 0x1b means four bytes, relative to their own address.)
 *
 * int coil_call_traced(int (*fn)(void *arg), void *arg, coil_error **thrown)
 */
#define BTI_C hint #34

    .text
    .globl coil_call_traced
    .type coil_call_traced, %function
    .p2align 4
coil_call_traced:
    .cfi_startproc
    .cfi_personality 0x1b, coil__thrown_personality
    BTI_C
    sub sp, sp, #32
    .cfi_def_cfa_offset 32
    stp x29, x30, [sp, #16]
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    add x29, sp, #16
    str x2, [sp]                    /* where the stack pointer points during the call */
    str xzr, [x2]
    mov x3, x0
    mov x0, x1
    blr x3
    ldp x29, x30, [sp, #16]
    .cfi_restore x29
    .cfi_restore x30
    add sp, sp, #32
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size coil_call_traced, . - coil_call_traced

    .section .note.GNU-stack, "", %progbits

    .section .note.gnu.property, "a"
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0
