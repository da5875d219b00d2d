/*
 * foreign.h - runs an unmodified third-party library in 20 tasks of one thread.
 *
 * Each call of the library waits for another task of the same thread, which either
 * forwards bytes between the library and a server (if `server` is set), or is the
 * library's peer (`other_side`). So if a call blocked the thread, it would never return,
 * and the test would hang.
 */
#ifndef COIL_TESTS_POSIX_FOREIGN_H
#define COIL_TESTS_POSIX_FOREIGN_H

#include <coil/hooks.h>

#include <stdbool.h>

#define FOREIGN_USES 20

struct foreign {
    const char *name;
    const char *tested; /* a short description, for docs/manual/libraries.md */
    /* an additional option that the library needs; may be NULL */
    const char *option;
    void (*before_run)(void);     /* called before coil_run(); may be NULL */
    bool thread_keys;             /* use coil_hooks_thread_keys() */
    void (*thread_locals)(void);  /* argument of coil_hooks_thread_locals(), or NULL */
    const coil_task_hooks *hooks; /* additional hooks to use; may be NULL */
    /*
     * true if the library needs a server, whose port on 127.0.0.1 is in the environment
     * variable FOREIGN_SERVER
     */
    bool server;
    bool (*start)(void); /* runs in a task before any call of use(); may be NULL */
    /*
     * runs in FOREIGN_USES tasks with the numbers 0, 1, ...; returns true if all results
     * are correct
     */
    bool (*use)(int number);
    bool (*other_side)(void); /* runs in a task during the calls of use(); may be NULL */
    bool (*stop)(void);       /* runs in a task after all calls of use(); may be NULL */
};

/* The library that this program tests. */
extern const struct foreign foreign;

/* The server's port. */
extern int foreign_port;

/* The number of calls of use() that have started. */
extern int foreign_begun;

/* Print the reason why a call of use() failed. Returns false. */
bool foreign_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
