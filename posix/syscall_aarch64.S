/*
 * syscall_aarch64.S - syscall(2), which handles only the system calls for futexes itself,
 * and vfork(2). See syscall_x86_64.S.
 */
#define BTI_C hint #34

    .text

/* Changes x9, x16 and x17. */
.macro note_child
    mrs x16, tpidr_el0
    adrp x17, :gottprel:posix__may_be_child
    ldr x17, [x17, #:gottprel_lo12:posix__may_be_child]
    mov w9, #1
    strb w9, [x16, x17]
.endm

/* Changes x16. */
.macro jump_by variable
    adrp x16, \variable
    ldr x16, [x16, #:lo12:\variable]
    br x16
.endm

    .globl syscall
    .type syscall, %function
    .p2align 4
syscall:
    .cfi_startproc
    BTI_C
    cmp x0, #98 /* futex */
    b.eq 1f
    cmp x0, #449 /* futex_waitv, futex_wake, futex_wait, futex_requeue */
    b.eq 1f
    sub x16, x0, #454
    cmp x16, #2
    b.ls 1f
    cmp x0, #220 /* clone */
    b.eq 2f
    cmp x0, #435 /* clone3 */
    b.eq 2f
    jump_by next
1:
    b posix__syscall_of_futex
2:
    note_child
    jump_by next
    .cfi_endproc
    .size syscall, . - syscall

    .globl vfork
    .type vfork, %function
    .p2align 4
vfork:
    .cfi_startproc
    BTI_C
    note_child
    jump_by next_vfork
    .cfi_endproc
    .size vfork, . - vfork

    .type find_vfork, %function
find_vfork:
    .cfi_startproc
    BTI_C
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    bl posix__vfork_of_c_library
    mov x16, x0
    adrp x17, next_vfork
    str x16, [x17, #:lo12:next_vfork]
    ldp x29, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size find_vfork, . - find_vfork

    .type find, %function
find:
    .cfi_startproc
    BTI_C
    stp x29, x30, [sp, #-80]!
    .cfi_def_cfa_offset 80
    .cfi_offset x29, -80
    .cfi_offset x30, -72
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    bl posix__syscall_of_c_library
    mov x16, x0
    adrp x17, next
    str x16, [x17, #:lo12:next]
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x29, x30, [sp], #80
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size find, . - find

    .section .data.rel.local, "aw"
    .p2align 3
    .type next, %object
next:
    .xword find
    .size next, . - next

    .type next_vfork, %object
next_vfork:
    .xword find_vfork
    .size next_vfork, . - next_vfork

    .section .note.GNU-stack, "", %progbits

/*
 * Mark this file as supporting BTI. The linker marks the library only if all object files
 * are marked (GNU_PROPERTY_AARCH64_FEATURE_1_AND).
 */
    .section .note.gnu.property, "a"
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0
