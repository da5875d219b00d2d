/*
 * syscall_x86_64.S - syscall(2) and vfork(2).
 *
 * Only the system calls for futexes are handled here. For all other calls, the function
 * jumps to the C library's syscall(), with the registers and the stack as the caller left
 * them, because a child of clone(2) returns on another stack, and a child of vfork(2)
 * returns on its parent's. The jump goes through the pointer `next`, which points to
 * `find` until the C library's address is known.
 *
 * Calls that create a process or thread, such as clone(2) and vfork(2), first set
 * posix__may_be_child. waiting.c explains the reason.
 */
    .text

/* Changes rax. */
.macro note_child
    movq posix__may_be_child@gottpoff(%rip), %rax
    movb $1, %fs:(%rax)
.endm

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
    leaq -56(%rdi), %rax /* clone, fork, vfork */
    cmpq $2, %rax
    jbe 2f
    cmpq $435, %rdi /* clone3 */
    je 2f
    jmp *next(%rip)
1:
    jmp posix__syscall_of_futex
2:
    note_child
    jmp *next(%rip)
    .cfi_endproc
    .size syscall, . - syscall

    .globl vfork
    .type vfork, @function
    .p2align 4
vfork:
    .cfi_startproc
    endbr64
    note_child
    jmp *next_vfork(%rip)
    .cfi_endproc
    .size vfork, . - vfork

    .type find_vfork, @function
find_vfork:
    .cfi_startproc
    endbr64
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    call posix__vfork_of_c_library
    movq %rax, next_vfork(%rip)
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    jmp *%rax
    .cfi_endproc
    .size find_vfork, . - find_vfork

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
    call posix__syscall_of_c_library
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

    .type next_vfork, @object
next_vfork:
    .quad find_vfork
    .size next_vfork, . - next_vfork

    .section .note.GNU-stack, "", %progbits
