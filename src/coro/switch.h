/*
 * switch.h (internal) - the instructions that switch stacks: switch_x86_64.S,
 * switch_aarch64.S.
 */
#ifndef COIL_CORO_SWITCH_H
#define COIL_CORO_SWITCH_H

/*
 * Save the stack pointer in *save_sp and switch to the stack that was left at `to_sp`,
 * where coil__switch() now returns `value`. Returns the value that is passed when another
 * switch returns here.
 */
void *coil__switch(void **save_sp, void *to_sp, void *value);

/*
 * Like coil__switch(), but passes no value. Faster if the other stack was left through
 * the same chain of calls; otherwise slower.
 */
void coil__switch_alike(void **save_sp, void *to_sp);

/*
 * Leave the running stack forever, and enter the stack at `to_sp`. coil__switch_leave()
 * enters a stack that was left by a function above, coil__switch_begin() a stack that was
 * prepared. Neither function returns. The two functions are not declared `noreturn`, so
 * that compilers call them with a jump: see coil__switch_entry().
 */
void coil__switch_leave(void *to_sp);
void coil__switch_begin(void *to_sp);

/*
 * Prepare the stack below `top` (16-aligned). The first switch to it calls main(arg) with
 * the current floating-point modes, and then end() with main's result. end() must not
 * return. Returns the stack pointer for the first switch.
 */
void *coil__switch_prepare(void *top, int (*main)(void *arg), void *arg,
                           void (*end)(int rc));

/* The function that calls main() and end(). Unwinders stop there. */
void coil__switch_entry(void);

/*
 * Call fn(arg) on the running stack, but make the call look to an unwinder as if it came
 * from the stack that was left at `sp`: behind the frames of fn and of this function, the
 * unwinder finds the frames of that stack. That stack is neither changed nor entered.
 */
void coil__switch_look(void *sp, void (*fn)(void *arg), void *arg);

#endif
