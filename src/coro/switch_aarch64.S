/*
 * switch_aarch64.S - leaves one stack and continues on another (AAPCS64).
 *
 * A switch stores the callee-saved registers, exchanges the stack pointer, and loads the
 * registers of the other stack:
 *
 *     sp + 0    x19 ... x28
 *     sp + 80   x29 (frame pointer), x30 (return address)
 *     sp + 96   d8 ... d15
 *     sp + 160  FPCR
 *
 * FPCR is written only if it differs, because writing it stalls the pipeline. The
 * switch ends in `ret`: with branch target identification (BTI), a plain branch to a
 * return site would fault. The functions themselves begin with `bti c`. For the CFI see
 * switch_x86_64.S.
 */
#include "note.inc"

#define FRAME 176
#define BTI_C hint #34

    .text

/* void *coil__switch(void **save_sp, void *to_sp, void *value)
   void coil__switch_alike(void **save_sp, void *to_sp) */
    .globl coil__switch
    .hidden coil__switch
    .type coil__switch, %function
    .globl coil__switch_alike
    .hidden coil__switch_alike
    .type coil__switch_alike, %function
    .p2align 5
coil__switch:
coil__switch_alike:
    .cfi_startproc
    BTI_C
    sub sp, sp, #FRAME
    .cfi_def_cfa_offset FRAME
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    .cfi_offset x19, 0 - FRAME
    .cfi_offset x20, 8 - FRAME
    .cfi_offset x21, 16 - FRAME
    .cfi_offset x22, 24 - FRAME
    .cfi_offset x23, 32 - FRAME
    .cfi_offset x24, 40 - FRAME
    .cfi_offset x25, 48 - FRAME
    .cfi_offset x26, 56 - FRAME
    .cfi_offset x27, 64 - FRAME
    .cfi_offset x28, 72 - FRAME
    .cfi_offset x29, 80 - FRAME
    .cfi_offset x30, 88 - FRAME
    .cfi_offset d8, 96 - FRAME
    .cfi_offset d9, 104 - FRAME
    .cfi_offset d10, 112 - FRAME
    .cfi_offset d11, 120 - FRAME
    .cfi_offset d12, 128 - FRAME
    .cfi_offset d13, 136 - FRAME
    .cfi_offset d14, 144 - FRAME
    .cfi_offset d15, 152 - FRAME
    mrs x9, fpcr
    str x9, [sp, #160]

    mov x10, sp
    str x10, [x0]
    mov sp, x1
load_registers:
    ldr x10, [sp, #160]
    cmp x9, x10
    b.eq 1f
    msr fpcr, x10
1:
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #FRAME
    .cfi_def_cfa_offset 0
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x21
    .cfi_restore x22
    .cfi_restore x23
    .cfi_restore x24
    .cfi_restore x25
    .cfi_restore x26
    .cfi_restore x27
    .cfi_restore x28
    .cfi_restore x29
    .cfi_restore x30
    .cfi_restore d8
    .cfi_restore d9
    .cfi_restore d10
    .cfi_restore d11
    .cfi_restore d12
    .cfi_restore d13
    .cfi_restore d14
    .cfi_restore d15
    mov x0, x2
    ret
    .cfi_endproc
    coil_note load_registers
    .size coil__switch, . - coil__switch
    .size coil__switch_alike, . - coil__switch_alike

/* void coil__switch_leave(void *to_sp)
   void coil__switch_begin(void *to_sp) */
    .globl coil__switch_leave
    .hidden coil__switch_leave
    .type coil__switch_leave, %function
    .globl coil__switch_begin
    .hidden coil__switch_begin
    .type coil__switch_begin, %function
    .p2align 4
coil__switch_leave:
coil__switch_begin:
    .cfi_startproc
    .cfi_undefined x30
    BTI_C
    mrs x9, fpcr
    mov x2, xzr
    mov sp, x0
    b load_registers
    .cfi_endproc
    .size coil__switch_leave, . - coil__switch_leave
    .size coil__switch_begin, . - coil__switch_begin

/* void *coil__switch_prepare(void *top, int (*main)(void *arg), void *arg,
                              void (*end)(int rc)) */
    .globl coil__switch_prepare
    .hidden coil__switch_prepare
    .type coil__switch_prepare, %function
    .p2align 4
coil__switch_prepare:
    .cfi_startproc
    BTI_C
    sub x0, x0, #FRAME
    mrs x9, fpcr
    str x9, [x0, #160]
    stp x2, x1, [x0, #0]
    str x3, [x0, #16]
    adr x10, coil__switch_entry + 4
    stp xzr, x10, [x0, #80]
    ret
    .cfi_endproc
    .size coil__switch_prepare, . - coil__switch_prepare

/*
 * The target of the first switch to a stack: x19 is arg, x20 main, x21 end, x29 0. The
 * target is after a nop, because unwinders look up the return address minus one. As in
 * switch_x86_64.S, the code jumps to end(), which does not return. No exception leaves
 * the stack: see coil__exceptions_stop(). (The encoding 0x1b means four bytes, relative
 * to their own address.)
 */
    .globl coil__switch_entry
    .hidden coil__switch_entry
    .type coil__switch_entry, %function
    .p2align 4
coil__switch_entry:
    .cfi_startproc
    .cfi_personality 0x1b, coil__exceptions_stop
    .cfi_undefined x30
    nop
    mov x0, x19
    blr x20
    mov x30, xzr
    mov x16, x21
    br x16
    .cfi_endproc
    .size coil__switch_entry, . - coil__switch_entry

/*
 * void coil__switch_look(void *sp, void (*fn)(void *arg), void *arg)
 *
 * While fn runs, the CFI describes the frame of the stack at `sp`, not of this function.
 */
    .globl coil__switch_look
    .hidden coil__switch_look
    .type coil__switch_look, %function
    .p2align 4
coil__switch_look:
    .cfi_startproc
    BTI_C
    stp x19, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x19, -16
    .cfi_offset x30, -8
    mov x19, x0
    mov x0, x2
    .cfi_remember_state
    .cfi_def_cfa x19, FRAME
    .cfi_offset x19, 0 - FRAME
    .cfi_offset x20, 8 - FRAME
    .cfi_offset x21, 16 - FRAME
    .cfi_offset x22, 24 - FRAME
    .cfi_offset x23, 32 - FRAME
    .cfi_offset x24, 40 - FRAME
    .cfi_offset x25, 48 - FRAME
    .cfi_offset x26, 56 - FRAME
    .cfi_offset x27, 64 - FRAME
    .cfi_offset x28, 72 - FRAME
    .cfi_offset x29, 80 - FRAME
    .cfi_offset x30, 88 - FRAME
    blr x1
    .cfi_restore_state
    ldp x19, x30, [sp], #16
    .cfi_def_cfa_offset 0
    .cfi_restore x19
    .cfi_restore x30
    ret
    .cfi_endproc
    .size coil__switch_look, . - coil__switch_look

    .section .note.GNU-stack, "", %progbits

/*
 * Declare that this file supports BTI (GNU_PROPERTY_AARCH64_FEATURE_1_AND). The linker
 * marks the library only if all of its files support BTI.
 */
    .section .note.gnu.property, "a"
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0
