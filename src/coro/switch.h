/*
 * switch.h (internal) - the instructions that switch stacks: switch_x86_64.S,
 * switch_aarch64.S.
 */
#ifndef COIL_CORO_SWITCH_H
#define COIL_CORO_SWITCH_H

/*
 * Save the running stack's pointer in *save_sp and switch to the stack at `to_sp`, whose
 * own coil__switch() returns `value`. Returns the value of the switch back.
 */
void *coil__switch(void **save_sp, void *to_sp, void *value);

/*
 * The same without a value. Faster if the other stack was left through the same calls,
 * slower if not.
 */
void coil__switch_alike(void **save_sp, void *to_sp);

/*
 * Leave the running stack for good, and enter the one at `to_sp`. That stack was left by
 * one of the functions above, or prepared for coil__switch_begin(). They do not return,
 * and are not declared so, to be jumped to: see coil__switch_entry().
 */
void coil__switch_leave(void *to_sp);
void coil__switch_begin(void *to_sp);

/*
 * Prepare the stack below `top` (16-aligned): the first switch to it calls main(arg), with
 * the current floating-point modes, and what that returns is given to end(), which must
 * not return. Returns the stack pointer for that switch.
 */
void *coil__switch_prepare(void *top, int (*main)(void *arg), void *arg,
                           void (*end)(int rc));

/* The function that calls main() and end(): unwinders stop there. */
void coil__switch_entry(void);

/*
 * Call fn(arg) on the running stack, so that an unwinder sees it as called from the stack
 * that was left at `sp`: behind the frames of fn and of this function come those of that
 * stack. The other stack is neither changed nor entered.
 */
void coil__switch_look(void *sp, void (*fn)(void *arg), void *arg);

#endif
