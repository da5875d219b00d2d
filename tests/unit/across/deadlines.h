/*
 * deadlines.h - detects operations that exceed their deadlines, and buffers to which the
 * kernel writes after the call has returned.
 *
 *     struct watched op = {.what = "read"};
 *     unsigned char *buf = watched_buffer(n);
 *
 *     watch(&op, coil_in(COIL_MSEC(3)));
 *     ...                                      // under a scope of that deadline
 *     unwatch(&op);
 *     return_buffer(buf, n);
 *
 * A thread wakes up regularly, and adds up by how much each operation has exceeded its
 * deadline. Because delays are normal on a busy machine, a period is not counted if this
 * thread itself woke up late, and only an eighth of it is counted if the loop's thread
 * was running or waiting for a processor. If the total of an operation reaches one
 * second, the test prints the operation and the tasks, and fails.
 */
#ifndef COIL_TESTS_NET_DEADLINES_H
#define COIL_TESTS_NET_DEADLINES_H

#include <coil.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watched {
    const char *what;
    size_t bytes;
    int64_t deadline, over_ns;
    struct watched *next, **previous;
};

/*
 * Start the watching thread. Call this on the loop's thread. If an operation is late, the
 * test calls `fail`, which prints the seed, and fails.
 */
void watchdog_begin(void (*fail)(void));
void watchdog_end(void);

void watch(struct watched *w, int64_t deadline);
void unwatch(struct watched *w);

/* Set the deadlines of all watched operations to now, because they were cancelled. */
void watch_all_cancelled(void);
/* Like watch_all_cancelled(), but for one operation, which may be unwatched. */
void watch_cancelled(struct watched *w);

/*
 * Allocate a buffer of n bytes, to be freed with return_buffer(). return_buffer() fills
 * the buffer with a pattern and frees it later. If the kernel has written to the buffer
 * in the meantime, the test fails.
 */
unsigned char *watched_buffer(size_t n);
void return_buffer(unsigned char *buffer, size_t n);

/* Check all buffers that were passed to return_buffer(). */
void check_buffers(void);

/*
 * Start a thread that posts to the loop repeatedly, and checks that the loop handles each
 * post in time.
 */
void posts_begin(void);
void posts_end(void);

/* Wait until the loop has handled n more posts. */
COIL_SUSPENDS void posts_await(unsigned n);

#endif
