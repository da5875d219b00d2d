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
 * The thread and the task each have a reference to the channel, which was created like
 * this:
 *
 *     rc = coil_channel_create(sizeof(struct frame *), 16, &frames);
 *
 * Items, each `item_bytes` long, are copied into and out of the channel in first-in,
 * first-out order. A put waits while the channel is full, and a get waits while it is
 * empty. A task suspends (_put, _get); a thread without a running loop blocks (_put_wait,
 * _get_wait). Tasks and threads are served in the order of their calls.
 *
 * Between tasks of one thread use a coil_queue (coil/queue.h), which belongs to one loop
 * and needs no lock. All functions here may be called on any thread, but not in a signal
 * handler, because they take a lock. (Python: janus; Rust: bounded channels)
 */
#ifndef COIL_CHANNEL_H
#define COIL_CHANNEL_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_channel coil_channel;

/*
 * Create a channel for items of `item_bytes`, with one reference; a maxsize of 0 means no
 * limit.
 *
 * Memory for `maxsize` items is allocated now. Later calls fail with -ENOMEM only if
 * maxsize is 0. Fails with -ENOMEM, or with -EINVAL if item_bytes is 0.
 */
COIL_API COIL_CHECKED int coil_channel_create(size_t item_bytes, size_t maxsize,
                                              coil_channel **out);

/*
 * Add a reference, to be dropped with coil_channel_release(). Returns the channel. May be
 * called on any thread.
 */
COIL_API coil_channel *coil_channel_retain(coil_channel *channel);

/*
 * Drop a reference; NULL is accepted. The last release frees the remaining items, but not
 * the memory to which they point. To free that memory, take the items out first.
 */
COIL_API void coil_channel_release(coil_channel *channel);

/*
 * Append a copy of *item, suspending the running task while the channel is full. Fails
 * with -ECANCELED (the item is not added), -ESHUTDOWN, or -ENOMEM (only without a limit).
 */
COIL_SUSPENDS int coil_channel_put(coil_channel *channel, const void *item);

/*
 * Take the oldest item, suspending the running task while the channel is empty. Fails
 * with -ECANCELED (no item is taken), or -ESHUTDOWN once the channel is shut down and
 * empty.
 */
COIL_SUSPENDS COIL_CHECKED int coil_channel_get(coil_channel *channel, void *item);

/*
 * Put or get an item on a thread without a running loop, blocking the thread for at most
 * `timeout_ns`. COIL_NEVER means no limit.
 *
 * Both fail with -ETIMEDOUT, or like coil_channel_put() and coil_channel_get(). On a
 * thread whose loop is running, blocking would stop the loop, so the program aborts if
 * the call would have to wait.
 */
COIL_API int coil_channel_put_wait(coil_channel *channel, const void *item,
                                   int64_t timeout_ns);
COIL_API COIL_CHECKED int coil_channel_get_wait(coil_channel *channel, void *item,
                                                int64_t timeout_ns);

/*
 * Put or get an item without waiting, inside or outside a task. Fail with -EAGAIN if the
 * channel is full or empty.
 */
COIL_API int coil_channel_put_nowait(coil_channel *channel, const void *item);
COIL_API COIL_CHECKED int coil_channel_get_nowait(coil_channel *channel, void *item);

/*
 * Shut the channel down: puts fail with -ESHUTDOWN, and gets fail once the channel is
 * empty. Waiting tasks and threads wake up. May be called any number of times.
 */
COIL_API void coil_channel_shutdown(coil_channel *channel);

/* Return the number of items in the channel at this moment. */
COIL_API size_t coil_channel_count(coil_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
