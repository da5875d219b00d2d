/*
 * queue_wait_aarch64.S - coil__queue_wait(), which queue.c describes. This version always
 * returns, because a jump to a return address would need a landing pad there (BTI).
 *
 * int coil__queue_wait(coil_queue *queue, void *item, enum side side)
 */
#define BTI_C hint #34

    .text
    .globl coil__queue_wait
    .hidden coil__queue_wait
    .type coil__queue_wait, %function
    .p2align 6
coil__queue_wait:
    .cfi_startproc
    BTI_C
    mov x3, x30                     /* the fourth argument: the return address */
    b coil__queue_put_or_get        /* its result is in x0 */
    .cfi_endproc
    .size coil__queue_wait, . - coil__queue_wait

    .section .note.GNU-stack, "", %progbits

    .section .note.gnu.property, "a"
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 1, 0
