/*
 * library.h - struct library, which describes a third-party library that 100 tasks use
 * concurrently.
 */
#ifndef COIL_TESTS_POSIX_LIBRARY_H
#define COIL_TESTS_POSIX_LIBRARY_H

#include <stdbool.h>

/* The server takes this long to answer each call. */
#define WAIT_MS 300
#define WAIT_S "0.3"

struct library {
    const char *name;
    const char *version, *tested; /* for docs/manual/libraries.md */
    const char *server;           /* environment variable with the server's address */
    bool has_threads;             /* true if the library starts threads */
    /* Open a connection for one caller. Prints an error and returns NULL on failure. */
    void *(*open)(const char *server);
    /*
     * Make one blocking call that takes WAIT_MS. Returns false if the response is
     * wrong.
     */
    bool (*call)(void *handle);
    /* Make a call that exceeds the library's own timeout. May be NULL. */
    bool (*times_out)(void *handle);
    void (*close)(void *handle);
    struct library *next;
};

/* Register a library. Called by a constructor in the library's file. */
void library_register(struct library *library);

#endif
