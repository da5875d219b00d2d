/*
 * broadcast.c - a channel that delivers each item to every receiver. (tokio:
 * sync::broadcast)
 *
 * The items are in a ring buffer: item i is at i % capacity, and `sent` is the number of
 * the item to be sent next. A receiver stores only the number of the item that it will
 * receive next, so the cost of a send depends only on the number of receivers that are
 * waiting.
 */
#include "waiters.h"

#include <coil/broadcast.h>

#include <limits.h>
#include <string.h>

/* The value of `sent` after coil_broadcast_finish(). */
#define FINISHED UINT64_MAX

/*
 * Marks a valid receiver: its `key` is this number combined with its channel's address.
 */
#define RECEIVER_KEY UINT64_C(0x7265636569766572)

static void check_channel(const coil_broadcast *b, const char *caller)
{
    coil__waiters_check(&b->waiters, caller);
    if (COIL__UNLIKELY(b->sent == FINISHED))
        coil__misuse("%s: the channel was finished before", caller);
}

static void check_receiver(const coil_receiver *receiver, const char *caller)
{
    if (COIL__UNLIKELY(receiver->key != ((uintptr_t)receiver->broadcast ^ RECEIVER_KEY)))
        coil__misuse(
            "%s: the receiver is not subscribed: call coil_broadcast_subscribe() "
            "first",
            caller);
    check_channel(receiver->broadcast, caller);
}

void coil_broadcast_init(coil_broadcast *broadcast, size_t item_bytes, size_t capacity)
{
    COIL__REQUIRE(broadcast, "a channel");
    *broadcast = (coil_broadcast)COIL_BROADCAST_INIT(item_bytes, capacity);
    coil__waiters_bind_in_debug_mode(&broadcast->waiters);
}

void coil_broadcast_finish(coil_broadcast *broadcast)
{
    if (broadcast == NULL)
        return;
    coil__waiters_finish(&broadcast->waiters, "coil_broadcast_finish");
    coil__free(broadcast->items);
    broadcast->items = NULL;
    broadcast->sent = FINISHED;
}

static char *place_of(const coil_broadcast *b, uint64_t number)
{
    return b->items + number % b->capacity * b->item_bytes;
}

static int allocate_ring(coil_broadcast *b)
{
    size_t bytes;

    if (b->items != NULL)
        return 0;
    if (b->item_bytes == 0 || b->capacity == 0)
        return coil__failed(-EINVAL);
    if (__builtin_mul_overflow(b->item_bytes, b->capacity, &bytes))
        return coil__failed(-ENOMEM);
    b->items = coil__alloc(bytes);
    return b->items != NULL ? 0 : coil__failed(-ENOMEM);
}

int coil_broadcast_send(coil_broadcast *broadcast, const void *item)
{
    COIL__REQUIRE(broadcast, "a channel");
    COIL__REQUIRE(item, "an item");
    int rc;

    check_channel(broadcast, "coil_broadcast_send");
    if (broadcast->is_shut_down)
        return coil__failed(-ESHUTDOWN);
    rc = allocate_ring(broadcast);
    if (rc < 0)
        return rc;
    memcpy(place_of(broadcast, broadcast->sent++), item, broadcast->item_bytes);
    coil__waiters_wake_all(&broadcast->waiters);
    return 0;
}

void coil_broadcast_shutdown(coil_broadcast *broadcast)
{
    COIL__REQUIRE(broadcast, "a channel");
    check_channel(broadcast, "coil_broadcast_shutdown");
    broadcast->is_shut_down = true;
    coil__waiters_wake_all(&broadcast->waiters);
}

void coil_broadcast_subscribe(coil_broadcast *broadcast, coil_receiver *receiver)
{
    COIL__REQUIRE(broadcast, "a channel");
    COIL__REQUIRE(receiver, "a receiver");
    check_channel(broadcast, "coil_broadcast_subscribe");
    *receiver = (coil_receiver){.broadcast = broadcast,
                                .next = broadcast->sent,
                                .key = (uintptr_t)broadcast ^ RECEIVER_KEY};
}

/*
 * Skip the items that were overwritten before this receiver took them. Returns their
 * number.
 */
static int skip_missed(coil_receiver *receiver)
{
    const coil_broadcast *b = receiver->broadcast;
    uint64_t oldest = b->sent > b->capacity ? b->sent - b->capacity : 0, missed = 0;

    if (receiver->next < oldest) {
        missed = oldest - receiver->next;
        receiver->next = oldest;
    }
    return missed < INT_MAX ? (int)missed : INT_MAX;
}

/*
 * Take the next item. Returns the number of missed items, or -EAGAIN if there is no item.
 */
static int take_item(coil_receiver *receiver, void *item)
{
    const coil_broadcast *b = receiver->broadcast;
    int missed;

    if (b->item_bytes == 0 || b->capacity == 0)
        return coil__failed(-EINVAL);
    if (receiver->next == b->sent)
        return b->is_shut_down ? coil__failed(-ESHUTDOWN) : -EAGAIN;
    missed = skip_missed(receiver);
    memcpy(item, place_of(b, receiver->next++), b->item_bytes);
    return missed;
}

int coil_broadcast_receive_nowait(coil_receiver *receiver, void *item)
{
    COIL__REQUIRE(receiver, "a receiver");
    COIL__REQUIRE(item, "memory for an item");
    check_receiver(receiver, "coil_broadcast_receive_nowait");
    return take_item(receiver, item);
}

int coil_broadcast_receive(coil_receiver *receiver, void *item)
{
    COIL__REQUIRE(receiver, "a receiver");
    COIL__REQUIRE(item, "memory for an item");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("broadcast.receive", "coil_broadcast_receive");
    coil_broadcast *broadcast = receiver->broadcast;
    int rc;

    check_receiver(receiver, "coil_broadcast_receive");
    while ((rc = take_item(receiver, item)) == -EAGAIN) {
        rc = coil__waiters_wait(&broadcast->waiters, &class, broadcast);
        if (rc < 0)
            return rc;
    }
    return rc;
}
