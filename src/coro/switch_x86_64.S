/*
 * switch_x86_64.S - leaves one stack and continues on another (System V ABI).
 *
 * A switch stores the callee-saved registers, exchanges the stack pointer, and loads the
 * registers of the other stack:
 *
 *     sp + 0   MXCSR (4 bytes), x87 control word (2 bytes)
 *     sp + 8   r15   r14   r13   r12   rbx   rbp
 *     sp + 56  return address
 *
 * The x87 control word is loaded only if it differs, which saves half a nanosecond. The
 * comparison reads the same two bytes that were written, because otherwise the processor
 * could not forward the store. MXCSR is always loaded, because comparing the value that
 * stmxcsr has just stored takes longer. (On Zen, a switch would take 6.6 ns instead of
 * 5.0; without control words, it would take 2.5 ns.)
 *
 * There are two endings. The processor's return-address predictor contains the return
 * addresses of the stack that was left. If the two stacks were left in different
 * functions, a `ret` would be mispredicted, so coil__switch() ends in a jump. The jump's
 * target is loaded before ldmxcsr, which delays later loads. Tasks, however, all wait in
 * the same few functions, so one task's return addresses are mostly right for the next
 * task, provided that each call is matched by a `ret`. So coil__switch_alike() ends in
 * `ret`. (On Zen, a yield among 1,000 tasks takes 19 ns instead of 27.)
 *
 * There is no shadow-stack note, because a switch would violate a shadow stack. `notrack`
 * is necessary because return sites have no endbr64.
 *
 * The CFI is correct at each instruction, because after the exchange the frame of the
 * other stack has the same layout. The return address of coil__switch_entry() is
 * undefined, so unwinders stop there.
 */
#include "note.inc"

    .section .text.hot, "ax", @progbits

/*
 * Load the stored registers, and the control word into cx. After that the return address
 * is on top of the stack, and in r8.
 */
.macro load_registers
    movq 56(%rsp), %r8
    ldmxcsr (%rsp)
    cmpw 4(%rsp), %cx
    jne 2f
1:
    movq 8(%rsp), %r15
    movq 16(%rsp), %r14
    movq 24(%rsp), %r13
    movq 32(%rsp), %r12
    movq 40(%rsp), %rbx
    movq 48(%rsp), %rbp
    .cfi_remember_state
    .cfi_restore %r15
    .cfi_restore %r14
    .cfi_restore %r13
    .cfi_restore %r12
    .cfi_restore %rbx
    .cfi_restore %rbp
.endm

/* The first half of a switch. load_registers must be used right after it. */
.macro exchange_stacks
    endbr64
    leaq -56(%rsp), %rsp
    .cfi_def_cfa_offset 64
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movzwl 4(%rsp), %ecx
    movq %r15, 8(%rsp)
    movq %r14, 16(%rsp)
    movq %r13, 24(%rsp)
    movq %r12, 32(%rsp)
    movq %rbx, 40(%rsp)
    movq %rbp, 48(%rsp)
    .cfi_offset %r15, -56
    .cfi_offset %r14, -48
    .cfi_offset %r13, -40
    .cfi_offset %r12, -32
    .cfi_offset %rbx, -24
    .cfi_offset %rbp, -16

    movq %rsp, (%rdi)
    movq %rsi, %rsp
.endm

/*
 * Load the control word if it differs. This code is after the ending because it is rarely
 * used.
 */
.macro load_control_word
2:
    .cfi_restore_state
    fldcw 4(%rsp)
    jmp 1b
.endm

/* void *coil__switch(void **save_sp, void *to_sp, void *value) */
    .globl coil__switch
    .hidden coil__switch
    .type coil__switch, @function
    .p2align 6
coil__switch:
    .cfi_startproc
    exchange_stacks
    load_registers
    movq %rdx, %rax
    leaq 64(%rsp), %rsp
    .cfi_def_cfa_offset 0
    .cfi_register %rip, %r8
    notrack jmp *%r8
    load_control_word
    .cfi_endproc
    .size coil__switch, . - coil__switch

/* void coil__switch_alike(void **save_sp, void *to_sp) */
    .globl coil__switch_alike
    .hidden coil__switch_alike
    .type coil__switch_alike, @function
    .p2align 6
coil__switch_alike:
    .cfi_startproc
    exchange_stacks
.Lresume:
    load_registers
    leaq 56(%rsp), %rsp
    .cfi_def_cfa_offset 8
    ret
    load_control_word
    .cfi_endproc
    .size coil__switch_alike, . - coil__switch_alike
    coil_note .Lresume

/* Switch without storing registers. The CFI describes the other stack from the start. */
.macro leave_stack
    endbr64
    fnstcw -8(%rsp)
    movzwl -8(%rsp), %ecx
    movq %rdi, %rsp
    .cfi_def_cfa_offset 64
    .cfi_offset %r15, -56
    .cfi_offset %r14, -48
    .cfi_offset %r13, -40
    .cfi_offset %r12, -32
    .cfi_offset %rbx, -24
    .cfi_offset %rbp, -16
    load_registers
.endm

/* void coil__switch_leave(void *to_sp) */
    .globl coil__switch_leave
    .hidden coil__switch_leave
    .type coil__switch_leave, @function
    .p2align 6
coil__switch_leave:
    .cfi_startproc
    leave_stack
    xorl %eax, %eax
    leaq 56(%rsp), %rsp
    .cfi_def_cfa_offset 8
    ret
    load_control_word
    .cfi_endproc
    .size coil__switch_leave, . - coil__switch_leave

/* void coil__switch_begin(void *to_sp) */
    .globl coil__switch_begin
    .hidden coil__switch_begin
    .type coil__switch_begin, @function
    .p2align 6
coil__switch_begin:
    .cfi_startproc
    leave_stack
    leaq 64(%rsp), %rsp
    .cfi_def_cfa_offset 0
    .cfi_register %rip, %r8
    notrack jmp *%r8
    load_control_word
    .cfi_endproc
    .size coil__switch_begin, . - coil__switch_begin

/* void *coil__switch_prepare(void *top, int (*main)(void *arg), void *arg,
                              void (*end)(int rc)) */
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
    movq %rcx, 24(%rax)
    movq %rdx, 32(%rax)
    movq %rsi, 40(%rax)
    movq $0, 48(%rax)
    leaq coil__switch_entry+1(%rip), %rcx
    movq %rcx, 56(%rax)
    ret
    .cfi_endproc
    .size coil__switch_prepare, . - coil__switch_prepare

/*
 * The target of the first switch to a stack: r12 is arg, rbx main, r13 end, rbp 0. The
 * target is after a nop, because unwinders look up the return address minus one. The code
 * jumps to end(), which does not return. With a call instead of a jump, the processor's
 * return stack would be off by one, and each return of the next task would be
 * mispredicted. No exception leaves the stack: see coil__exceptions_stop(). (The encoding
 * 0x1b means four bytes, relative to their own address.)
 */
    .globl coil__switch_entry
    .hidden coil__switch_entry
    .type coil__switch_entry, @function
    .p2align 4
coil__switch_entry:
    .cfi_startproc
    .cfi_personality 0x1b, coil__exceptions_stop
    .cfi_undefined %rip
    nop
    movq %r12, %rdi
    call *%rbx
    movl %eax, %edi
    pushq $0
    jmp *%r13
    .cfi_endproc
    .size coil__switch_entry, . - coil__switch_entry

/*
 * void coil__switch_look(void *sp, void (*fn)(void *arg), void *arg)
 *
 * While fn runs, the CFI describes the frame of the stack at `sp`, not of this function.
 * The registers of that stack are where exchange_stacks stored them.
 */
    .globl coil__switch_look
    .hidden coil__switch_look
    .type coil__switch_look, @function
    .p2align 4
coil__switch_look:
    .cfi_startproc
    endbr64
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    movq %rdi, %rbx
    movq %rdx, %rdi
    .cfi_remember_state
    .cfi_def_cfa %rbx, 64
    .cfi_offset %r15, -56
    .cfi_offset %r14, -48
    .cfi_offset %r13, -40
    .cfi_offset %r12, -32
    .cfi_offset %rbx, -24
    .cfi_offset %rbp, -16
    call *%rsi
    .cfi_restore_state
    popq %rbx
    .cfi_def_cfa_offset 8
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size coil__switch_look, . - coil__switch_look

    .section .note.GNU-stack, "", @progbits
