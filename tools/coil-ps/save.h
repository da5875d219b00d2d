/*
 * save.h - writes the memory of a process to a core file.
 */
#ifndef COIL_PS_SAVE_H
#define COIL_PS_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved {
    uint64_t bytes;     /* of memory */
    int64_t stopped_ns; /* how long the process was stopped */
};

/*
 * Stop all threads of a process, and write a core file of it, which must not exist yet.
 * Returns false with a message in `why`.
 */
bool save_core(int pid, const char *path, struct saved *saved, char *why, size_t size);

#endif
