/*
 * slow.h (internal) - debug mode: reports slow steps and late polls.
 */
#ifndef COIL_LOOP_SLOW_H
#define COIL_LOOP_SLOW_H

#include <coil/loop.h>

/* Private to slow.c and loop.h. */
struct coil__slow {
    bool timing; /* a batch is being timed */
    bool sampler_tried;
    int64_t slow_ns;
    struct coil__sampler *sampler; /* the sampler of this thread, or NULL */
    const void *callback;          /* the user's callback that is running or ran last */
    const void *requested_by;      /* address of the code that requested it, or NULL */
};

void coil__slow_init(struct coil__slow *slow);

/* Turn debug mode on or off. In debug mode slow steps and late polls are reported. */
void coil__loop_set_debug(coil_loop *loop, bool on);

/* Set the duration above which a step counts as slow. */
void coil__loop_set_slow(coil_loop *loop, int64_t ns);

/* Stop the sampler. Called when the loop closes. */
void coil__loop_finish_debug(coil_loop *loop);

/*
 * Forget the sampler, which belongs to the parent, and whose lock may be held. Called in
 * a child of fork(2).
 */
void coil__slow_forked(coil_loop *loop);

/*
 * The first function runs the batch, and reports slow steps. The second polls, and
 * reports if the poll returned late.
 */
void coil__loop_run_timed(coil_loop *loop);
int coil__loop_poll_timed(coil_loop *loop, int64_t timeout_ns);

/* Return the user's callback that is running or ran last. Async-signal-safe. */
const void *coil__loop_callback(const coil_loop *loop);

#endif
