/*
 * freeze.h - briefly stops threads of another process, with ptrace(2).
 */
#ifndef COIL_PS_FREEZE_H
#define COIL_PS_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

/* A stopped thread of a process. */
struct frozen {
    int thread; /* ID in the process's PID namespace */
    int id;     /* ID in this program's PID namespace */
    int signal; /* signal to deliver when the thread continues, or 0 */
};

/* Return a thread's ID in the PID namespace of its process. */
int frozen_id_inside(int pid, int id);

/*
 * Find each thread by its member `thread`, and set its member `id`. Removes duplicates,
 * and threads that do not belong to the process. Returns the number of remaining threads.
 */
size_t frozen_find(int pid, struct frozen *threads, size_t count);

/* List all threads of a process. Returns their number. The caller frees *threads. */
size_t frozen_list(int pid, struct frozen **threads);

/*
 * Stop the threads. Threads that have ended are skipped. On failure, returns false with
 * errno set, and leaves no thread stopped.
 */
bool freeze(struct frozen *threads, size_t count);

/* Let the stopped threads continue. */
void thaw(const struct frozen *threads, size_t count);

#endif
