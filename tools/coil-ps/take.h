/*
 * take.h - takes snapshots of a process while it runs, or while it is stopped.
 */
#ifndef COIL_PS_TAKE_H
#define COIL_PS_TAKE_H

#include "unwind.h"

/* A process or a core. A program may contain coil more than once; each copy has a table. */
struct inspected {
    struct image *image;
    int pid; /* 0: a core */
    struct table tables[TABLES_MAX];
    size_t table_count;
    struct unwinder unwinder;
};

struct how_to_take {
    bool stop;        /* the threads of the loops meanwhile */
    int64_t pause_ns; /* stop them for at most so long at a time; 0: once */
    int64_t limit_ns; /* the read may take so long */
};

/* How long a snapshot took. */
struct taken {
    unsigned pauses;
    int64_t longest_ns; /* pause */
    int64_t span_ns;    /* from the first to the last */
};

/*
 * Take a snapshot for each table. The image must stay open while the snapshots are used.
 * Returns false with a message in `why`.
 */
bool take_snapshots(struct inspected *inspected, const struct how_to_take *how,
                    struct snapshot snapshots[TABLES_MAX], struct taken *taken, char *why,
                    size_t size);

/* Return CLOCK_MONOTONIC. */
int64_t monotonic_ns(void);

/* Sleep for so long, whatever signals arrive. */
void sleep_ns(int64_t ns);

#endif
