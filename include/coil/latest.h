/*
 * coil/latest.h - the latest value of something, for tasks that follow it.
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
 * Another task of the same loop calls coil_latest_set(&latest, &value). Values that are
 * replaced before a follower runs are not seen: followers want the newest one, such as a
 * configuration or a progress. Use coil/broadcast.h if each value counts. Nothing is
 * allocated. (tokio: sync::watch)
 */
#ifndef COIL_LATEST_H
#define COIL_LATEST_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_latest {
    coil_waiters waiters;
    void *value; /* private, as all fields are */
    size_t bytes;
    uint64_t version;
    bool is_shut_down;
} coil_latest;

/* clang-format off */
#define COIL_LATEST_INIT(value, bytes) {COIL_WAITERS_INIT, (value), (bytes), 1, false}
/* clang-format on */

/*
 * Initialise at run time, as COIL_LATEST_INIT does. `value` is the caller's memory for the
 * current value, and has the first value.
 */
COIL_API void coil_latest_init(coil_latest *latest, void *value, size_t bytes);

/* End it; no task may still be waiting. NULL is accepted. */
COIL_API void coil_latest_finish(coil_latest *latest);

/*
 * Replace the value by a copy of *value, and wake the followers, also if it is equal. Never
 * suspends. Fails with -ESHUTDOWN.
 */
COIL_API int coil_latest_set(coil_latest *latest, const void *value);

/* Copy the current value to *value. */
COIL_API void coil_latest_get(const coil_latest *latest, void *value);

/*
 * Wait for a value that the caller has not seen, and copy it to *value.
 *
 * *seen is the follower's own, and 0 at first: so the first call returns the current value
 * at once. Returns 0. Fails with -ECANCELED, or -ESHUTDOWN once it is shut down and the
 * last value was seen.
 */
COIL_SUSPENDS COIL_CHECKED int coil_latest_wait(coil_latest *latest, uint64_t *seen,
                                                void *value);

/* Shut it down: there is no further value. */
COIL_API void coil_latest_shutdown(coil_latest *latest);

#ifdef __cplusplus
}
#endif

#endif
