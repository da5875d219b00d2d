/*
 * library.h - a library that knows nothing of coil, as it is used by 100 tasks at once.
 */
#ifndef COIL_TESTS_POSIX_LIBRARY_H
#define COIL_TESTS_POSIX_LIBRARY_H

#include <stdbool.h>

/* What each call makes its server wait. */
#define WAIT_MS 300
#define WAIT_S "0.3"

struct library {
    const char *name;
    const char *version, *tested; /* for docs/manual/libraries.md */
    const char *server;           /* the environment variable that says where it is */
    bool has_threads;             /* it starts some by itself */
    /* Connected, and ready for one caller; NULL if that fails, and it was said why. */
    void *(*open)(const char *server);
    /* One blocking call, which takes WAIT_MS; false if it is not answered as it should.
     */
    bool (*call)(void *handle);
    /* A call that is given up by the library's own time-out; may be NULL. */
    bool (*times_out)(void *handle);
    void (*close)(void *handle);
    struct library *next;
};

/* Each library's file registers itself; which files there are, meson.build says. */
void library_register(struct library *library);

#endif
