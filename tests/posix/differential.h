/*
 * differential.h - the C library as the judge: what a call does outside of tasks, it must
 * do in one.
 *
 *     SAME(reads_of_a_pipe, true)
 *     {
 *         ...
 *         SAY(read(ends[0], buf, sizeof buf));
 *     }
 *
 * The body runs on a thread of its own, and then in a task. Everything that it says must
 * be the same both times: results, errno, what came and what is left. `true`: it waits,
 * and in a task others must have run meanwhile.
 */
#ifndef COIL_TESTS_POSIX_DIFFERENTIAL_H
#define COIL_TESTS_POSIX_DIFFERENTIAL_H

#include "../harness/harness.h"

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

/* Addresses that are none, more than there is: not where a tool would complain of it. */
bool may_call_wrongly(void);

void compare_in_and_out(void (*scenario)(void), bool waits);

/* Write down what happened, a line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The call, its result, and its errno if that is -1. */
#define SAY(call) (errno = 0, say_result(#call, (long)(call)))
void say_result(const char *call, long result);

/* What the call took: at least so long, or less. */
#define SAY_AT_LEAST(ms, call) SAY_FROM(milliseconds(), ms, call)
#define SAY_FROM(time, ms, call)                                                         \
    do {                                                                                 \
        int64_t began = (time);                                                          \
        SAY(call);                                                                       \
        say(milliseconds() - began >= (ms) ? "took its time" : "was too fast");          \
    } while (0)
int64_t milliseconds(void);

/* The same of a call that ends by SO_RCVTIMEO or SO_SNDTIMEO: see from_latest_tick(). */
#define SAY_TIME_OUT(ms, call) SAY_FROM(from_latest_tick(), ms, call)
int64_t from_latest_tick(void);

/* A point of time by a clock, and whether it has come. */
struct timespec from_now(clockid_t clock, int ms);
bool has_come(clockid_t clock, const struct timespec *t);

/* A call that gives up at `due`, which is soon. */
#define SAY_DUE(clock, call)                                                             \
    do {                                                                                 \
        struct timespec due = from_now(clock, 15);                                       \
        SAY(call);                                                                       \
        say("%s", has_come(clock, &due) ? "it was time" : "too early");                  \
    } while (0)

/*
 * Something that another thread does, so long after the caller has begun to wait for
 * something: a task must really be suspended by then, or it is never done. finish_later()
 * waits for all of them.
 */
void later(int ms, void (*fn)(int arg), int arg);
void finish_later(void);

/* To be done later: write a byte, close; read all, slowly, to the end. */
void write_byte(int fd);
void close_fd(int fd);
void read_slowly(int fd);

/* Connected, blocking. */
void make_pipe(int ends[2]);
void make_tcp(int ends[2]);
void make_unix(int ends[2], int type);
int listen_tcp(struct sockaddr_storage *address, socklen_t *bytes, int backlog);

void close_both(const int ends[2]);

/* Run it in a task with room for code that knows nothing of coil's stacks. */
coil_task *start_task(int (*fn)(void *arg), void *arg);
void finish_task(coil_task *task);
void settle(void);

#endif
