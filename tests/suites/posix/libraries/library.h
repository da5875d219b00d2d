/*
 * library.h - describes a third-party library, which 100 tasks use concurrently.
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
    const char *server;           /* the environment variable with the server's address */
    bool has_threads;             /* the library starts threads */
    /* Connect a handle for one caller. Returns NULL after printing an error. */
    void *(*open)(const char *server);
    /*
     * Make one blocking call that takes WAIT_MS. Returns false if the response is
     * wrong.
     */
    bool (*call)(void *handle);
    /* Make a call that ends by the library's own timeout. May be NULL. */
    bool (*times_out)(void *handle);
    void (*close)(void *handle);
    struct library *next;
};

/*
 * Each library's file registers its struct with a constructor. meson.build lists the
 * files.
 */
void library_register(struct library *library);

#endif
