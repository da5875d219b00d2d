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
 * A thread wakes up regularly, and adds up how long each operation has exceeded its
 * deadline. A delay on a busy machine proves nothing. Therefore a period is not counted
 * if the thread itself woke up late, and is counted as an eighth if the loop's thread was
 * running or waiting for a processor. When the total for an operation reaches one second,
 * the test prints the operation and the tasks, and ends.
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
 * Start the thread that watches. Call this on the loop's thread. If an operation is late,
 * `fail` is called to print the seed, and the test ends.
 */
void watchdog_begin(void (*fail)(void));
void watchdog_end(void);

void watch(struct watched *w, int64_t deadline);
void unwatch(struct watched *w);

/* Record that all watched operations were cancelled, so that their deadline is now. */
void watch_all_cancelled(void);
/* Like watch_all_cancelled(), but for one operation, which need not be watched. */
void watch_cancelled(struct watched *w);

/*
 * Allocate a buffer of n bytes. return_buffer() fills it with a pattern, which is checked
 * after other tasks have run. If the kernel has written to the buffer meanwhile, the test
 * fails.
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
