/*
 * slow.h (internal) - debug mode: reports slow steps and late polls.
 */
#ifndef COIL_LOOP_SLOW_H
#define COIL_LOOP_SLOW_H

#include <coil/loop.h>

/* Private to slow.c, except for two functions of loop.h. */
struct coil__slow {
    bool timing; /* a timed batch is running */
    bool sampler_tried;
    int64_t slow_ns;
    struct coil__sampler *sampler; /* the thread that samples this one; or NULL */
    const void *callback;          /* the user's callback that runs or ran last */
    const void *asked_at;          /* the code that requested that callback, or NULL */
};

void coil__slow_init(struct coil__slow *slow);

/* Turn debug mode on or off: each slow step and each late poll is reported. */
void coil__loop_set_debug(coil_loop *loop, bool on);

/* Set the duration above which a step counts as slow. */
void coil__loop_set_slow(coil_loop *loop, int64_t ns);

/* Stop the sampler: nothing is timed any more. */
void coil__loop_finish_debug(coil_loop *loop);

/*
 * In a forked child: the sampler belongs to the parent, and its lock may have been held.
 */
void coil__slow_forked(coil_loop *loop);

/* Run the batch, or poll, and report what is slow. */
void coil__loop_run_timed(coil_loop *loop);
int coil__loop_poll_timed(coil_loop *loop, int64_t timeout_ns);

/* Return the user's callback that runs or ran last. Async-signal-safe. */
const void *coil__loop_callback(const coil_loop *loop);

#endif
