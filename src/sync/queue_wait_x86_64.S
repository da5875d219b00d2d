/*
 * queue_wait_x86_64.S - coil__queue_wait(), which queue.c describes. `notrack` is necessary
 * because return sites have no endbr64.
 *
 * int coil__queue_wait(coil_queue *queue, void *item, enum side side)
 */
    .text
    .globl coil__queue_wait
    .hidden coil__queue_wait
    .type coil__queue_wait, @function
    .p2align 6
coil__queue_wait:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq 8(%rbp), %rcx              /* the fourth argument: the return address */
    call coil__queue_put_or_get
    popq %rbp
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    testb %dl, %dl
    jz 1f
    ret
1:
    popq %rcx
    .cfi_def_cfa_offset 0
    .cfi_register %rip, %rcx
    notrack jmp *%rcx
    .cfi_endproc
    .size coil__queue_wait, . - coil__queue_wait

    .section .note.GNU-stack, "", @progbits
