/*
 * coil/channel.h - a queue that threads share.
 *
 *     static void *camera(void *frames)           // a thread without a loop
 *     {
 *         struct frame *frame;
 *
 *         while ((frame = next_frame()) != NULL)
 *             coil_channel_put_wait(frames, &frame, COIL_NEVER);
 *         coil_channel_shutdown(frames);
 *         coil_channel_release(frames);
 *         return NULL;
 *     }
 *
 *     static int screen(void *frames)             // a task of any loop
 *     {
 *         struct frame *frame;
 *         int rc;
 *
 *         while ((rc = coil_channel_get(frames, &frame)) == 0)
 *             show(frame);
 *         coil_channel_release(frames);
 *         return rc;                              // -ESHUTDOWN: there are no more frames
 *     }
 *
 * Each of the two has a reference to the channel, which was created like this:
 *
 *     rc = coil_channel_create(sizeof(struct frame *), 16, &frames);
 *
 * Items are copied in and out, first in, first out, `item_bytes` each. A put waits while
 * the channel is full, a get while it is empty: a task suspends (_put, _get), a thread
 * without a running loop blocks (_put_wait, _get_wait). Tasks and threads wait in one
 * line, first come, first served.
 *
 * A coil_queue (coil/queue.h) belongs to one loop and takes no lock: use that between
 * tasks of one thread. All functions here may be called on any thread, but not in a
 * signal handler, because they take a lock. (Python: janus; Rust: bounded channels)
 */
#ifndef COIL_CHANNEL_H
#define COIL_CHANNEL_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_channel coil_channel;

/*
 * Create a channel for items of `item_bytes`, with one reference; maxsize of 0 means no
 * limit. Fails with -ENOMEM: there is room for all `maxsize` items from the start, and
 * later calls fail for lack of memory only where there is no limit. -EINVAL where
 * item_bytes is 0.
 */
COIL_API int coil_channel_create(size_t item_bytes, size_t maxsize, coil_channel **out);

/* One more reference, for coil_channel_release(). Any thread. */
COIL_API coil_channel *coil_channel_retain(coil_channel *channel);

/*
 * Drop a reference; NULL is accepted. With the last one the items that are left go, as
 * bytes: what they point to is the caller's to free, by getting them first.
 */
COIL_API void coil_channel_release(coil_channel *channel);

/*
 * Put a copy of *item in, suspending the running task while the channel is full.
 * -ECANCELED (nothing is put), -ESHUTDOWN, -ENOMEM (no limit).
 */
COIL_SUSPENDS int coil_channel_put(coil_channel *channel, const void *item);

/*
 * Take the oldest item, suspending the running task while the channel is empty.
 * -ECANCELED (no item is taken), or -ESHUTDOWN once it is shut down and empty.
 */
COIL_SUSPENDS int coil_channel_get(coil_channel *channel, void *item);

/*
 * The same on a thread whose loop does not run, blocking it for `timeout_ns` at most;
 * then -ETIMEDOUT. COIL_NEVER waits for ever. On a thread whose loop runs it would stop
 * the loop, and so, if it had to wait, it stops the program.
 */
COIL_API int coil_channel_put_wait(coil_channel *channel, const void *item,
                                   int64_t timeout_ns);
COIL_API int coil_channel_get_wait(coil_channel *channel, void *item, int64_t timeout_ns);

/* The same without waiting, anywhere: -EAGAIN where it is full or empty. */
COIL_API int coil_channel_put_nowait(coil_channel *channel, const void *item);
COIL_API int coil_channel_get_nowait(coil_channel *channel, void *item);

/*
 * Take nothing more: puts fail with -ESHUTDOWN, and gets once it is empty; all that wait
 * go on to see it. Any number of times.
 */
COIL_API void coil_channel_shutdown(coil_channel *channel);

/* How many items are in it, at this moment. */
COIL_API size_t coil_channel_count(coil_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
