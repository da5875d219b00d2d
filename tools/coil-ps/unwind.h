/*
 * unwind.h - finds the functions on the stacks of tasks, with libdw.
 */
#ifndef COIL_PS_UNWIND_H
#define COIL_PS_UNWIND_H

#include "snapshot.h"

#include <stdio.h>

/*
 * The return addresses of a stack, innermost first. Tasks with equal stacks share a
 * struct stack.
 */
struct stack {
    uint64_t *addresses;
    uint32_t count;
};

struct unwinder {
    struct stack *stacks;
    uint32_t stack_count;
    struct unwinding *private;
};

/*
 * Open the modules of a process, or of the file `core` if `pid` is 0. After this call,
 * the functions of error/symbol.h use the image's symbols. On failure, returns false with
 * a message in `why`.
 */
bool unwinder_open(struct unwinder *unwinder, struct image *image, int pid,
                   const char *core, char *why, size_t size);

/* Use this table for the following stacks. */
void unwinder_use_table(struct unwinder *unwinder, const struct table *table);

void unwinder_close(struct unwinder *unwinder);

/*
 * A callback for snapshot_take(): finds the functions on a task's stacks, and returns the
 * index of the resulting struct stack, or NONE. `arg` is the unwinder.
 */
stack_fn unwinder_stack;

/* Return true if a function on the stack, or inlined in one of them, has this name. */
bool unwinder_has_function(struct unwinder *unwinder, uint32_t stack, const char *name);

#endif
