/*
 * switch.h - the few instructions that exchange stacks; see switch_*.S.
 */
#ifndef COIL_CORO_SWITCH_H
#define COIL_CORO_SWITCH_H

/*
 * Leave the running stack, whose pointer goes to *save_sp, for the one at `to_sp`, whose
 * own coil__switch() returns `value`. Returns what the switch back hands over.
 */
void *coil__switch(void **save_sp, void *to_sp, void *value);

/*
 * The same, faster where the other side was left by the same calls as this one, slower
 * where not.
 */
void *coil__switch_alike(void **save_sp, void *to_sp, void *value);

/*
 * Make the stack below `top`, 16-aligned, such that the first switch to it calls
 * main(arg), which must not return, with the floating-point modes of today. Returns the
 * stack pointer to switch to.
 */
void *coil__switch_prepare(void *top, void (*main)(void *arg), void *arg);

/*
 * Call fn(arg), here, such that an unwinder takes it for called by the stack that was
 * left at `sp`: behind fn's frame, and one of ours, come those of that stack. Nothing of
 * it is touched, nor is it switched to.
 */
void coil__switch_look(void *sp, void (*fn)(void *arg), void *arg);

#endif
