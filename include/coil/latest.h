/*
 * coil/latest.h - a value that changes, and tasks that wait for its latest version.
 *
 *     static int level;
 *     static coil_latest latest = COIL_LATEST_INIT(&level, sizeof level);
 *
 *     static int follow(void *arg)
 *     {
 *         uint64_t seen = 0;
 *         int value, rc;
 *
 *         (void)arg;
 *         while ((rc = coil_latest_wait(&latest, &seen, &value)) == 0)
 *             printf("the level is %d\n", value);
 *         return rc == -ESHUTDOWN ? 0 : rc;
 *     }
 *
 * Another task of the same loop calls coil_latest_set(&latest, &value). A follower misses
 * values that are replaced before it runs. Use a coil_latest if followers need only the
 * newest value, such as a configuration or the progress of a job. If every value matters,
 * use coil/broadcast.h. A coil_latest allocates no memory. (tokio: sync::watch)
 */
#ifndef COIL_LATEST_H
#define COIL_LATEST_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_latest {
    coil_waiters waiters;
    void *value; /* private, like all members */
    size_t bytes;
    uint64_t version;
    bool is_shut_down;
} coil_latest;

/* clang-format off */
#define COIL_LATEST_INIT(value, bytes) {COIL_WAITERS_INIT, (value), (bytes), 1, false}
/* clang-format on */

/*
 * Initialise the object at run time, like COIL_LATEST_INIT. `value` points to the
 * caller's memory for the current value, which already contains the first value.
 */
COIL_API void coil_latest_init(coil_latest *latest, void *value, size_t bytes);

/* Destroy the object; no task may still be waiting for it. NULL is accepted. */
COIL_API void coil_latest_finish(coil_latest *latest);

/*
 * Replace the value with a copy of *value, and wake the followers, even if the new value
 * is equal to the old one. Never suspends. Fails with -ESHUTDOWN.
 */
COIL_API int coil_latest_set(coil_latest *latest, const void *value);

/* Copy the current value to *value. */
COIL_API void coil_latest_get(const coil_latest *latest, void *value);

/*
 * Wait for a value that the caller has not seen, and copy it to *value.
 *
 * *seen is a variable of the follower, which initialises it to 0, so that the first call
 * returns the current value immediately. Returns 0. Fails with -ECANCELED, or -ESHUTDOWN
 * once the object is shut down and the last value was seen.
 */
COIL_SUSPENDS COIL_CHECKED int coil_latest_wait(coil_latest *latest, uint64_t *seen,
                                                void *value);

/* Shut the object down: coil_latest_set() fails from now on. */
COIL_API void coil_latest_shutdown(coil_latest *latest);

#ifdef __cplusplus
}
#endif

#endif
