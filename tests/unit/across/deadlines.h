/*
 * deadlines.h - detect operations that outlast their deadline, and kernel writes to a
 * buffer after it was returned.
 *
 *     struct watched op = {.what = "read"};
 *     unsigned char *buf = watched_buffer(n);
 *
 *     watch(&op, coil_in(COIL_MSEC(3)));
 *     ...                                      // under a scope of that deadline
 *     unwatch(&op);
 *     return_buffer(buf, n);
 *
 * A thread wakes up regularly, and measures how long each operation is past its deadline.
 * Delays on a busy machine prove nothing. Therefore time does not count if the thread
 * itself woke up late, and only one eighth of the time counts while the loop's thread is
 * busy or waits for a processor. If an operation is late by one second of such time, the
 * test prints the operation and the tasks, and ends.
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
 * Call on the loop's thread to start watching. If an operation is late, `fail` prints the
 * seed, and the test ends.
 */
void watchdog_begin(void (*fail)(void));
void watchdog_end(void);

void watch(struct watched *w, int64_t deadline);
void unwatch(struct watched *w);

/* Record that all watched operations were cancelled, so they must end now. */
void watch_all_cancelled(void);
/* Like watch_all_cancelled(), but for one operation, which need not be watched. */
void watch_cancelled(struct watched *w);

/*
 * Allocate a buffer of n bytes, and return it. A returned buffer is filled with a
 * pattern, and checked after other tasks have run. If the kernel has changed the buffer
 * meanwhile, the test fails.
 */
unsigned char *watched_buffer(size_t n);
void return_buffer(unsigned char *buffer, size_t n);

/* Check all returned buffers a last time. */
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
