/*
 * differential.h - runs a test outside tasks, where the C library executes its calls, and
 * in a task, where libcoil-posix does. The results must be equal.
 *
 *     SAME(reads_of_a_pipe, true)
 *     {
 *         ...
 *         RECORD(read(ends[0], buf, sizeof buf));
 *     }
 *
 * The test runs first in a new thread, and then in a task. Both runs must record the same
 * lines, such as results, errnos and received bytes. If the second argument is true,
 * other tasks must have run during the second run, because the test waits.
 */
#ifndef COIL_TESTS_POSIX_DIFFERENTIAL_H
#define COIL_TESTS_POSIX_DIFFERENTIAL_H

#include "../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SAME(name, waits)                                                                \
    static void scenario_of_##name(void);                                                \
    IO_TEST(name)                                                                        \
    {                                                                                    \
        compare_in_and_out(scenario_of_##name, waits);                                   \
    }                                                                                    \
    static void scenario_of_##name(void)

/*
 * Return true if tests may pass invalid addresses and sizes. Some sanitizers would report
 * these calls.
 */
bool may_call_wrongly(void);

void compare_in_and_out(void (*scenario)(void), bool waits);

/* Append a line to the record of this run. */
void record(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Record the call, its result, and its errno if the result is -1. */
#define RECORD(call) (errno = 0, record_result(#call, (long)(call)))
void record_result(const char *call, long result);

/* Record the call and its result, and whether it took at least `ms` milliseconds. */
#define RECORD_AT_LEAST(ms, call) RECORD_FROM(milliseconds(), ms, call)
#define RECORD_FROM(time, ms, call)                                                      \
    do {                                                                                 \
        int64_t began = (time);                                                          \
        RECORD(call);                                                                    \
        record(milliseconds() - began >= (ms) ? "took its time" : "was too fast");       \
    } while (0)
int64_t milliseconds(void);

/*
 * Like RECORD_AT_LEAST, but for a call with a timeout from SO_RCVTIMEO or SO_SNDTIMEO: see
 * from_latest_tick().
 */
#define RECORD_TIME_OUT(ms, call) RECORD_FROM(from_latest_tick(), ms, call)
int64_t from_latest_tick(void);

/*
 * from_now() returns the clock's time plus `ms` milliseconds. has_come() returns true
 * once the clock has reached the given time.
 */
struct timespec from_now(clockid_t clock, int ms);
bool has_come(clockid_t clock, const struct timespec *t);

/*
 * Record a call with the deadline `due`, which is 15 ms from now, and whether the call
 * returned too early.
 */
#define RECORD_DUE(clock, call)                                                          \
    do {                                                                                 \
        struct timespec due = from_now(clock, 15);                                       \
        RECORD(call);                                                                    \
        record("%s", has_come(clock, &due) ? "it was time" : "too early");               \
    } while (0)

/*
 * Call fn(arg) on another thread, `ms` milliseconds after the caller of later() has begun
 * to wait. If the caller is a task, fn() is not called before the task is suspended.
 * finish_later() waits until all such calls have returned.
 */
void later(int ms, void (*fn)(int arg), int arg);
void finish_later(void);

/*
 * Functions for later(): write a byte, close the descriptor, or read slowly until end of
 * file.
 */
void write_byte(int fd);
void close_fd(int fd);
void read_slowly(int fd);

/* Make two connected, blocking descriptors. */
void make_pipe(int ends[2]);
void make_tcp(int ends[2]);
void make_unix(int ends[2], int type);
int listen_tcp(struct sockaddr_storage *address, socklen_t *bytes, int backlog);

void close_both(const int ends[2]);

/* Run fn in a task whose stack is large enough for third-party code. */
coil_task *start_task(int (*fn)(void *arg), void *arg);
void finish_task(coil_task *task);
void settle(void);

#endif
