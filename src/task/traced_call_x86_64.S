/*
 * traced_call_x86_64.S - calls a function and records the stack of a C++ exception: see
 * thrown.c. (The encoding 0x1b means four bytes, relative to their own address.)
 *
 * int coil_call_traced(int (*fn)(void *arg), void *arg, coil_error **thrown)
 */
    .text
    .globl coil_call_traced
    .type coil_call_traced, @function
    .p2align 4
coil_call_traced:
    .cfi_startproc
    .cfi_personality 0x1b, coil__thrown_personality
    endbr64
    pushq %rdx                      /* where the stack pointer points during the call */
    .cfi_def_cfa_offset 16
    movq $0, (%rdx)
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size coil_call_traced, . - coil_call_traced

    .section .note.GNU-stack, "", @progbits
