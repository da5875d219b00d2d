/*
 * take.h - takes snapshots of a process while it runs, or while it is stopped.
 */
#ifndef COIL_PS_TAKE_H
#define COIL_PS_TAKE_H

#include "unwind.h"

/* A process or a core, with a table for each copy of coil that it contains. */
struct inspected {
    struct image *image;
    int pid; /* 0: a core */
    struct table tables[TABLES_MAX];
    size_t table_count;
    struct unwinder unwinder;
};

struct how_to_take {
    bool stop;        /* stop the threads of the loops while tasks are read */
    int64_t pause_ns; /* maximum duration of one stop, or 0 to stop only once */
    int64_t limit_ns; /* maximum duration of reading */
};

/* How long a snapshot took. */
struct taken {
    unsigned pauses;
    int64_t longest_ns; /* duration of the longest pause */
    int64_t span_ns;    /* from the beginning of the first pause to the end of the last */
};

/*
 * Take a snapshot for each table. The image must stay open while the snapshots are used.
 * Returns false with a message in `why`.
 */
bool take_snapshots(struct inspected *inspected, const struct how_to_take *how,
                    struct snapshot snapshots[TABLES_MAX], struct taken *taken, char *why,
                    size_t size);

/* Return the time of CLOCK_MONOTONIC. */
int64_t monotonic_ns(void);

/* Sleep for `ns`, even if signals arrive. */
void sleep_ns(int64_t ns);

#endif
