/*
 * segments.h - lists the pages of a process that a core file contains.
 *
 *     core: [segment: run, gap, run] [segment: nothing] [segment: run] ...
 */
#ifndef COIL_PS_SEGMENTS_H
#define COIL_PS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of the process. */
struct area {
    uint64_t begin, end, offset;
    unsigned flags; /* flags of the program header, such as PF_R */
    bool is_private, has_file;
    bool is_excluded; /* by MADV_DONTDUMP */
    char *path;
};

struct areas {
    struct area *list; /* sorted by address */
    size_t count, room;
};

/* Consecutive pages that are saved. */
struct run {
    uint64_t begin, end;
};

/* A segment of the core: a part of a mapping. */
struct segment {
    uint64_t begin, end;
    uint64_t stored_end; /* address of the first byte that is not in the core */
    unsigned flags;
    size_t first_run, run_count; /* in `runs` */
};

/* The memory of a process. Initialize the struct with the process id only. */
struct memory {
    int pid, pagemap;
    bool has_no_scan;    /* the kernel has no PAGEMAP_SCAN */
    struct areas before; /* the mappings before the process was stopped */
    struct areas areas;
    struct segment *segments; /* sorted by address */
    size_t segment_count, segment_room;
    struct run *runs;
    size_t run_count, run_room;
};

/*
 * Read the flags of the mappings of a process that is still running, because this takes
 * long. Returns false with an errno.
 */
bool memory_prepare(struct memory *m);

/*
 * List the mappings of a stopped process in `areas`, and divide them into segments. Call
 * memory_prepare() before. Returns false with an errno.
 */
bool memory_find(struct memory *m);

void memory_free(struct memory *m);

#endif
