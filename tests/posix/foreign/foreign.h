/*
 * foreign.h - a library that nobody tuned to coil, or coil to it, in 20 tasks of one
 * thread.
 *
 * What a use waits for is done by that same thread: its bytes pass through tasks of it
 * (`server`), or a task of it is the other side (`other_side`). So a call that stops the
 * thread is never answered, and no clock is needed to see that it does.
 */
#ifndef COIL_TESTS_POSIX_FOREIGN_H
#define COIL_TESTS_POSIX_FOREIGN_H

#include <stdbool.h>

#define FOREIGN_USES 20

struct foreign {
    const char *name;
    const char *tested;      /* a few words, for docs/manual/libraries.md */
    const char *option;      /* that it needs, other than thread_keys; may be NULL */
    bool thread_keys;        /* the tasks have coil_hooks_thread_keys() */
    bool server;             /* on 127.0.0.1, at the port that FOREIGN_SERVER says */
    bool (*start)(void);     /* in a task, before all; may be NULL */
    bool (*use)(int number); /* from 0, each in a task: was everything as it should be? */
    bool (*other_side)(void); /* in a task beside them; may be NULL */
    bool (*stop)(void);       /* in a task, when all have ended; may be NULL */
};

/* The one that this program is about. */
extern const struct foreign foreign;

/* The port by which the server is to be used. */
extern int foreign_port;

/* How many uses have begun. */
extern int foreign_begun;

/* Say why a use failed. Returns false. */
bool foreign_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
