/*
 * tree.h - prints a snapshot: as a tree like coil_dump(), in groups, or as JSON.
 */
#ifndef COIL_PS_TREE_H
#define COIL_PS_TREE_H

#include "unwind.h"

/* which tasks to print */
struct filter {
    const char *waits;    /* kind of wait, such as "lock"; NULL for any kind */
    const char *function; /* function on the stack; NULL for any function */
    int64_t older_ns;     /* only tasks that have waited at least this long */
};

/*
 * Print all loops. A loop with up to `tree_max` tasks is printed as a tree; for a larger
 * loop, tasks with the same stack are printed as a group.
 */
void tree_print(const struct snapshot *snapshot, struct unwinder *unwinder,
                const struct filter *filter, size_t tree_max, FILE *out);

/*
 * Print the tasks with the most steps since `before`, followed by the tasks that have
 * waited longest: one line per task, at most `lines` lines. A task's steps are counted up
 * to 65,535.
 */
void tree_print_top(const struct snapshot *snapshot, const struct snapshot *before,
                    double seconds, struct unwinder *unwinder,
                    const struct filter *filter, size_t lines, FILE *out);

/* Print how often and how long the process was stopped. */
void tree_print_pauses(unsigned pauses, int64_t longest_ns, int64_t span_ns, FILE *out);

/* Print each task as a JSON object on its own line. */
void tree_print_json(const struct snapshot *snapshot, struct unwinder *unwinder,
                     const struct filter *filter, FILE *out);

#endif
