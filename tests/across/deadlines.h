/*
 * deadlines.h - who waits for longer than its deadline allows, and what the kernel does
 * to a buffer that was given back.
 *
 *     struct watched op = {.what = "read"};
 *     unsigned char *buf = watched_buffer(n);
 *
 *     watch(&op, coil_in(COIL_MSEC(3)));
 *     ...                                      // under a scope of that deadline
 *     unwatch(&op);
 *     return_buffer(buf, n);
 *
 * A thread beats, and counts for each operation the time for which it has gone on past
 * its deadline, as far as the beats came in time themselves and the loop's thread slept:
 * a machine that is busy with something else proves nothing. A second of that ends the
 * test, with a word about the operation, and the tasks. While the loop's thread is kept
 * busy, or has no processor, a second counts for an eighth.
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

/* On the loop's thread: from now on all is watched. `fail` says which seed it was; then
   the test ends. */
void watchdog_begin(void (*fail)(void));
void watchdog_end(void);

void watch(struct watched *w, int64_t deadline);
void unwatch(struct watched *w);

/* All that are watched should have ended by now: they have been cancelled. */
void watch_all_cancelled(void);
void watch_cancelled(struct watched *w); /* only this one, if it is watched */

/*
 * A buffer of n bytes; and back with it: it is painted, and looked at again when others
 * have run. Whoever has changed it meanwhile is the kernel, and that fails the test.
 */
unsigned char *watched_buffer(size_t n);
void return_buffer(unsigned char *buffer, size_t n);

/* Look at all of them, for the last time. */
void check_buffers(void);

/* On another thread, again and again: post to the loop, and see it called in time. */
void posts_begin(void);
void posts_end(void);

/* In a task: until n more have been seen. */
COIL_SUSPENDS void posts_await(unsigned n);

#endif
