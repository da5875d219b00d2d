/*
 * staggered_race.h (internal) - a staggered race of attempts ("works") that need not all
 * be known when it starts.
 */
#ifndef COIL_TASK_STAGGERED_RACE_H
#define COIL_TASK_STAGGERED_RACE_H

#include "../base/base.h"

/* The works, numbered from 0 in the order in which they begin. */
struct coil__race_works {
    const char *what; /* name of the owner's wait, for reports */
    void *arg;
    /*
     * Called before work `i` begins. May suspend until that work is available. Return
     * 0, or -ENOENT after the last work. Any other error counts as the result of work
     * `i`. */
    int (*next)(void *arg, size_t i);
    /* Do work `i`. A result of 0 or more is success. */
    int (*run)(void *arg, size_t i);
    /* Return true if there may be a work `i`. Must not suspend. */
    bool (*expected)(const void *arg, size_t i);
    /* Called when work `i` has ended or could not begin. May be NULL. */
    void (*ended)(void *arg, size_t i, int rc);
};

/*
 * Run the works like coil_staggered_race(). Returns the result of the winner and stores
 * its number in *winner. Without a winner, returns -ECANCELED or the first failure, and
 * *winner is SIZE_MAX. `address` is the code that called the public function.
 */
int coil__staggered_race(const struct coil__race_works *works, int64_t delay_ns,
                         size_t *winner, const void *address);

#endif
