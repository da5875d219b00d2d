/*
 * wakeup.h (internal) - posts from other threads, and wake-ups by signal handlers.
 */
#ifndef COIL_LOOP_WAKEUP_H
#define COIL_LOOP_WAKEUP_H

#include "runnable.h"
#include "spin.h"

#include <coil/loop.h>

#include <pthread.h>
#include <stdatomic.h>

/*
 * A post is stored in the poster's memory, which must stay valid until the post runs on
 * the loop's thread.
 */
struct coil__post {
    struct coil__post *next;
    struct coil__runnable runnable;
};

/* How a post must wake the loop. */
enum coil__sleep {
    COIL__POLLS,  /* by writing to `fd`, because the loop may be in a poll */
    COIL__AWAKE,  /* not at all: the loop checks `woken` before it waits */
    COIL__SLEEPS, /* with futex(2) on `woken`: see coil__wakeup_wait() */
};

/* The fields used by other threads and signal handlers. Private to wakeup.c. */
struct coil__wakeup {
    /* 1 after a post or wake-up; also a futex on which the loop may wait */
    _Atomic uint32_t woken;
    _Atomic bool interrupted, dump_asked;
    _Atomic enum coil__sleep sleep;
    int fd; /* see kernel/descriptors.h */
    struct coil__runnable watch;
    pthread_mutex_t lock;
    struct coil__post *first_post, **last_post;
    bool takes_posts;
    struct coil__runnable *on_interrupt, *on_dump;
    struct coil__spin spin;
};

/* Post to the loop, from any thread. Never allocates. Fails with -ESHUTDOWN if the loop
 * is closed; in that case the post will not run. */
int coil__loop_post(coil_loop *loop, struct coil__post *post);

/* A sleeping thread that must be woken, or NULL. */
struct coil__wake {
    _Atomic uint32_t *sleeper;
};

/*
 * Like coil__loop_post(), but leaves waking the loop's thread to the caller, who holds a
 * lock. If the thread were woken now, it might run at once and have to wait for the lock.
 * *wake must be initialised; if it contains another thread, that thread is woken first.
 */
int coil__loop_post_unwoken(coil_loop *loop, struct coil__post *post,
                            struct coil__wake *wake);

/* Unlock the mutex, which guards *wake, and then wake the thread, if there is one. */
void coil__unlock_and_wake(pthread_mutex_t *lock, struct coil__wake *wake);

/*
 * Cancel a post, which may be in the list of posts or in the ready queue. Called on the
 * loop's thread.
 */
void coil__loop_withdraw(coil_loop *loop, struct coil__post *post);

int coil__wakeup_init(coil_loop *loop);

/*
 * Refuse further posts, and call the functions that were posted by coil_post(). Called
 * when the loop closes.
 */
void coil__wakeup_run_last(coil_loop *loop);
void coil__wakeup_finish(coil_loop *loop);

/* True if there was a post or wake-up since the last coil__wakeup_collect(). */
static inline bool coil__wakeup_pending(const struct coil__wakeup *wakeup)
{
    return atomic_load_explicit(&wakeup->woken, memory_order_acquire);
}

/* Move the posts to the ready queue. */
void coil__wakeup_collect(coil_loop *loop);

/*
 * Called before a wait, so that a post will end it. Returns false if there was already a
 * post or wake-up: in that case the loop must not wait.
 */
static inline bool coil__wakeup_begin_wait(struct coil__wakeup *wakeup,
                                           enum coil__sleep how)
{
    /*
     * This function stores `sleep`, then loads `woken`; set_woken() stores `woken`, then
     * loads `sleep`. So at least one of the two functions sees the other's store.
     */
    atomic_store(&wakeup->sleep, how);
    return !atomic_load(&wakeup->woken);
}

/* Called after the wait. */
static inline void coil__wakeup_end_wait(struct coil__wakeup *wakeup)
{
    atomic_store_explicit(&wakeup->sleep, COIL__AWAKE, memory_order_relaxed);
}

/*
 * Wait for a post, for at most timeout_ns (COIL_NEVER: without limit). May return early.
 * Used if the loop waits for no descriptor, because a futex takes fewer system calls than
 * a poll.
 */
void coil__wakeup_wait(coil_loop *loop, int64_t timeout_ns);

/*
 * Called in a child of fork(2): close the child's copy of the descriptor.
 * Async-signal-safe.
 */
void coil__wakeup_forked(coil_loop *loop);

/* Close the loop's wake-up descriptor, after which the loop can no longer be woken. */
void coil__wakeup_close(coil_loop *loop);

/*
 * Destroy the lock. Called after the last reference to the loop is dropped, when no
 * thread can post any more.
 */
void coil__wakeup_destroy(coil_loop *loop);

/* ---- signals ----------------------------------------------------------------------- */

/*
 * Get or set the runnable that coil__loop_interrupt() makes ready, or NULL. Setting the
 * runnable discards an interrupt that the loop has not handled yet.
 */
struct coil__runnable *coil__loop_on_interrupt(const coil_loop *loop);
void coil__loop_set_on_interrupt(coil_loop *loop, struct coil__runnable *runnable);

/*
 * Make the runnable of coil__loop_set_on_interrupt() ready, and wake the loop.
 * Async-signal-safe.
 */
void coil__loop_interrupt(coil_loop *loop);

/* Set the runnable that coil__loop_ask_for_dump() makes ready. */
void coil__loop_set_on_dump(coil_loop *loop, struct coil__runnable *runnable);
void coil__loop_ask_for_dump(coil_loop *loop);

#endif
