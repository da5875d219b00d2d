/*
 * coil/broadcast.h - a channel that delivers each item to every receiver.
 *
 *     static coil_broadcast news = COIL_BROADCAST_INIT(sizeof(int), 16);
 *
 *     static int listener(void *arg)
 *     {
 *         coil_receiver receiver;
 *         int item, rc;
 *
 *         (void)arg;
 *         coil_broadcast_subscribe(&news, &receiver);
 *         while ((rc = coil_broadcast_receive(&receiver, &item)) >= 0)
 *             printf("%d, missed %d before it\n", item, rc);
 *         return rc == -ESHUTDOWN ? 0 : rc;
 *     }
 *
 * Another task of the same loop calls coil_broadcast_send(&news, &item). The channel
 * stores copies of the last `capacity` items, `item_bytes` each. A send never waits: it
 * overwrites the oldest item. A receiver that is too slow continues with the oldest item
 * that is still stored, and gets the number of items that it missed. (tokio:
 * sync::broadcast)
 */
#ifndef COIL_BROADCAST_H
#define COIL_BROADCAST_H

#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_broadcast {
    coil_waiters waiters;
    char *items; /* private, like all members */
    size_t item_bytes, capacity;
    uint64_t sent;
    bool is_shut_down;
} coil_broadcast;

/* clang-format off */
#define COIL_BROADCAST_INIT(item_bytes, capacity) \
    {COIL_WAITERS_INIT, NULL, (item_bytes), (capacity), 0, false}
/* clang-format on */

/* Allocated by the caller; all members are private to coil. */
typedef struct coil_receiver {
    coil_broadcast *broadcast;
    uint64_t next;
    uint64_t key; /* used to detect a receiver that is not subscribed */
} coil_receiver;

/* Initialise a channel at run time, like COIL_BROADCAST_INIT. */
COIL_API void coil_broadcast_init(coil_broadcast *broadcast, size_t item_bytes,
                                  size_t capacity);

/*
 * Free the stored items; no task may still be waiting for an item. NULL is accepted.
 * Receivers must not be used after their channel is finished.
 */
COIL_API void coil_broadcast_finish(coil_broadcast *broadcast);

/*
 * Send a copy of *item to all receivers. Never suspends.
 *
 * Fails with -ESHUTDOWN after a shutdown, or with -EINVAL if the size or the capacity is
 * 0. The first call allocates the memory for the items, and may fail with -ENOMEM.
 */
COIL_API int coil_broadcast_send(coil_broadcast *broadcast, const void *item);

/*
 * Shut the channel down: sends fail from now on, and receives fail once all stored items
 * are received.
 */
COIL_API void coil_broadcast_shutdown(coil_broadcast *broadcast);

/*
 * Initialise a receiver, which gets each item that is sent from now on. A receiver holds
 * no resources, so it need not be released.
 */
COIL_API void coil_broadcast_subscribe(coil_broadcast *broadcast,
                                       coil_receiver *receiver);

/*
 * Receive the next item, suspending until an item is available. Only one task at a time
 * may use a receiver.
 *
 * Returns how many items the receiver missed before this item: 0 unless the receiver was
 * too slow. Fails with -ECANCELED (no item is received), -ESHUTDOWN, or -EINVAL like
 * coil_broadcast_send(). Aborts if the receiver is not subscribed, or if its channel is
 * finished.
 */
COIL_SUSPENDS COIL_CHECKED int coil_broadcast_receive(coil_receiver *receiver,
                                                      void *item);

/* Like coil_broadcast_receive(), but fail with -EAGAIN instead of waiting. */
COIL_API COIL_CHECKED int coil_broadcast_receive_nowait(coil_receiver *receiver,
                                                        void *item);

#ifdef __cplusplus
}
#endif

#endif
