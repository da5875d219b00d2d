/*
 * save.h - writes the memory of a process to a core file.
 */
#ifndef COIL_PS_SAVE_H
#define COIL_PS_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved {
    uint64_t bytes;     /* bytes of memory in the core file */
    int64_t stopped_ns; /* how long the process was stopped */
};

/*
 * Stop all threads of a process, and write its memory to a core file. The file must not
 * exist yet. On failure, returns false with a message in `why`.
 */
bool save_core(int pid, const char *path, struct saved *saved, char *why, size_t size);

#endif
