/*
 * unwind.h - the functions on the stacks of tasks, found with libdw.
 */
#ifndef COIL_PS_UNWIND_H
#define COIL_PS_UNWIND_H

#include "snapshot.h"

#include <stdio.h>

/* A stack that several tasks have in common: return addresses, innermost first. */
struct stack {
    uint64_t *addresses;
    uint32_t count;
    uint32_t tasks; /* number of tasks with this stack */
};

struct unwinder {
    struct stack *stacks;
    uint32_t stack_count;
    struct unwinding *private;
};

/*
 * Open the modules of a process, or of a core, for which `pid` is 0. `program` is the
 * core's program, or NULL if the core's own name for it is right. From then on,
 * error/symbol.h prints the image's symbols. Returns false with a message in `why`.
 */
bool unwinder_open(struct unwinder *unwinder, const struct table *table, int pid,
                   const char *core, const char *program, char *why, size_t size);
void unwinder_close(struct unwinder *unwinder);

/* For snapshot_take(): the stack of a task. `arg` is the unwinder. */
stack_fn unwinder_stack;

/* True if a function on the stack, or inlined there, has this name. */
bool unwinder_has_function(struct unwinder *unwinder, uint32_t stack, const char *name);

#endif
