/*
 * switch_x86_64.S - leave one stack and go on on another (System V ABI).
 *
 * What a call preserves is pushed, the stack pointer exchanged, and popped:
 *
 *     sp + 0   MXCSR (4 bytes), x87 control word (2 bytes)
 *     sp + 8   r15   r14   r13   r12   rbx   rbp
 *     sp + 56  return address
 *
 * The control words are loaded only if they differ from the current ones, because that
 * costs more than all the rest; the exception flags in MXCSR are no callee's to keep and
 * are not compared. 4 and 2 bytes are read as they were written, or the processor could
 * not forward the stores.
 *
 * The end is `pop; jmp`, not `ret`: the return stack in the processor remembers the calls
 * of the stack that was left, so a `ret` would always be mispredicted. No shadow-stack
 * note: a switch would violate one. `notrack`: return sites carry no endbr64.
 *
 * CFI holds at each instruction, in both directions: after the exchange the frame looks
 * the same on the other stack. The entry has no caller (its return address is undefined),
 * which is where unwinders stop.
 */
    .text

/* void *coil__switch(void **save_sp, void *to_sp, void *value) */
    .globl coil__switch
    .hidden coil__switch
    .type coil__switch, @function
    .p2align 5
coil__switch:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    pushq %rbx
    .cfi_def_cfa_offset 24
    .cfi_offset %rbx, -24
    pushq %r12
    .cfi_def_cfa_offset 32
    .cfi_offset %r12, -32
    pushq %r13
    .cfi_def_cfa_offset 40
    .cfi_offset %r13, -40
    pushq %r14
    .cfi_def_cfa_offset 48
    .cfi_offset %r14, -48
    pushq %r15
    .cfi_def_cfa_offset 56
    .cfi_offset %r15, -56
    subq $8, %rsp
    .cfi_def_cfa_offset 64
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movl (%rsp), %eax
    movzwl 4(%rsp), %ecx

    movq %rsp, (%rdi)
    movq %rsi, %rsp

    xorl (%rsp), %eax
    testl $0xffffffc0, %eax
    jnz 2f
    cmpw 4(%rsp), %cx
    jne 2f
1:
    addq $8, %rsp
    .cfi_def_cfa_offset 56
    popq %r15
    .cfi_def_cfa_offset 48
    .cfi_restore %r15
    popq %r14
    .cfi_def_cfa_offset 40
    .cfi_restore %r14
    popq %r13
    .cfi_def_cfa_offset 32
    .cfi_restore %r13
    popq %r12
    .cfi_def_cfa_offset 24
    .cfi_restore %r12
    popq %rbx
    .cfi_def_cfa_offset 16
    .cfi_restore %rbx
    popq %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore %rbp
    popq %rcx
    .cfi_def_cfa_offset 0
    .cfi_register %rip, %rcx
    movq %rdx, %rax
    notrack jmp *%rcx

2:
    .cfi_def_cfa_offset 64
    .cfi_offset %rbp, -16
    .cfi_offset %rbx, -24
    .cfi_offset %r12, -32
    .cfi_offset %r13, -40
    .cfi_offset %r14, -48
    .cfi_offset %r15, -56
    .cfi_offset %rip, -8
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    jmp 1b
    .cfi_endproc
    .size coil__switch, . - coil__switch

/* void *coil__switch_prepare(void *top, void (*main)(void *arg), void *arg) */
    .globl coil__switch_prepare
    .hidden coil__switch_prepare
    .type coil__switch_prepare, @function
    .p2align 4
coil__switch_prepare:
    .cfi_startproc
    endbr64
    leaq -64(%rdi), %rax
    stmxcsr (%rax)
    fnstcw 4(%rax)
    movq %rdx, 32(%rax)
    movq %rsi, 40(%rax)
    movq $0, 48(%rax)
    leaq switch_entry(%rip), %rcx
    movq %rcx, 56(%rax)
    ret
    .cfi_endproc
    .size coil__switch_prepare, . - coil__switch_prepare

/* Where the first switch to a stack arrives: r12 is arg, rbx main, rbp 0. */
    .type switch_entry, @function
    .p2align 4
switch_entry:
    .cfi_startproc
    .cfi_undefined %rip
    movq %r12, %rdi
    call *%rbx
    ud2
    .cfi_endproc
    .size switch_entry, . - switch_entry

    .section .note.GNU-stack, "", @progbits
