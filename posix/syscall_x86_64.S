/*
 * syscall_x86_64.S - syscall(2), of which only the calls for futexes are ours.
 *
 * Every other call jumps to the C library's syscall(), with the registers and the stack
 * as the caller left them: a child of clone(2) returns on another stack, and one of
 * vfork(2) on its parent's. The jump goes through `next`, which leads to `find` until the
 * C library's address is known.
 */
    .text

    .globl syscall
    .type syscall, @function
    .p2align 4
syscall:
    .cfi_startproc
    endbr64
    cmpq $202, %rdi /* futex */
    je 1f
    cmpq $449, %rdi /* futex_waitv, futex_wake, futex_wait, futex_requeue */
    je 1f
    leaq -454(%rdi), %rax
    cmpq $2, %rax
    jbe 1f
    jmp *next(%rip)
1:
    jmp posix__syscall_of_futex
    .cfi_endproc
    .size syscall, . - syscall

    .type find, @function
find:
    .cfi_startproc
    endbr64
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $8, %rsp
    .cfi_def_cfa_offset 64
    call posix__syscall_to_c_library
    movq %rax, next(%rip)
    addq $8, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_def_cfa_offset 8
    jmp *%rax
    .cfi_endproc
    .size find, . - find

    .section .data.rel.local, "aw"
    .p2align 3
    .type next, @object
next:
    .quad find
    .size next, . - next

    .section .note.GNU-stack, "", %progbits
