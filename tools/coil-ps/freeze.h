/*
 * freeze.h - stops the threads of loops for a moment, using ptrace(2).
 */
#ifndef COIL_PS_FREEZE_H
#define COIL_PS_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

/* A thread of a process, which is stopped. */
struct frozen {
    int thread; /* its id in the namespace of the process */
    int id;     /* its id here */
    int signal; /* a signal that it receives when it continues, or 0 */
};

/* Return the id that a thread has in its own namespace. */
int frozen_id_inside(int pid, int id);

/*
 * Find the ids that the threads of a process have here. Removes duplicates, and threads
 * that the process does not have. Returns the number of threads.
 */
size_t frozen_find(int pid, struct frozen *threads, size_t count);

/* List all threads of a process, in memory for free(3). Returns their number. */
size_t frozen_list(int pid, struct frozen **threads);

/*
 * Stop the threads. Threads that end meanwhile are left out. If it fails, returns false
 * with errno set, and no thread stopped.
 */
bool freeze(struct frozen *threads, size_t count);

/* Let them continue. */
void thaw(const struct frozen *threads, size_t count);

#endif
