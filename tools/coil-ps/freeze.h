/*
 * freeze.h - stops the threads of loops for a moment, using ptrace(2).
 */
#ifndef COIL_PS_FREEZE_H
#define COIL_PS_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

/* A stopped thread of a process. */
struct frozen {
    int thread; /* its ID in the namespace of the process */
    int id;     /* its ID in this program's namespace */
    int signal; /* a signal that the thread receives when it continues, or 0 */
};

/* Return the id that a thread has in its own namespace. */
int frozen_id_inside(int pid, int id);

/*
 * Find the IDs of a process's threads in this program's namespace. Removes duplicates,
 * and threads that do not belong to the process. Returns the number of threads.
 */
size_t frozen_find(int pid, struct frozen *threads, size_t count);

/* List all threads of a process, in memory for free(3). Returns their number. */
size_t frozen_list(int pid, struct frozen **threads);

/*
 * Stop the threads. Threads that end meanwhile are left out. On failure, returns false
 * with errno set, and no thread is stopped.
 */
bool freeze(struct frozen *threads, size_t count);

/* Let them continue. */
void thaw(const struct frozen *threads, size_t count);

#endif
