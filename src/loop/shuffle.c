/*
 * shuffle.c - for tests: each batch in a random order.
 *
 * What becomes ready in one turn has no order that a program should rely on without
 * thinking of it; here it has none at all. The batch is dealt onto sixteen piles, these
 * are put together, and that is done eight times: each gets 32 random bits and the batch
 * is sorted by them, without memory. Every turn begins in loop.c meanwhile, so that what
 * tasks do by themselves, going on from one to the next, need not know of this.
 */
#include "loop.h"

enum { PILES = 16, DEALS = 8 };

static COIL__THREAD_LOCAL uint64_t seed_of_thread;

/* xorshift64: never 0. */
static uint64_t throw_dice(coil_loop *loop)
{
    uint64_t x = loop->shuffle;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return loop->shuffle = x;
}

static void deal(coil_loop *loop, struct coil__list *batch)
{
    struct coil__list piles[PILES], *link;

    for (int i = 0; i < PILES; i++)
        coil__list_init(&piles[i]);
    while ((link = coil__list_pop(batch)) != NULL)
        coil__list_push(&piles[throw_dice(loop) >> 32 & (PILES - 1)], link);
    for (int i = 0; i < PILES; i++)
        coil__list_splice(batch, &piles[i]);
}

void coil__shuffle_batch(coil_loop *loop)
{
    for (int i = 0; i < DEALS; i++)
        deal(loop, &loop->batch);
}

void coil__shuffle_init(coil_loop *loop)
{
    /* Small seeds differ in a few low bits: spread them. An odd factor leaves only 0 at
       0. */
    loop->shuffle = seed_of_thread * UINT64_C(0x9e3779b97f4a7c15);
    coil__loop_choose_turns(loop);
}

void coil__loop_shuffle(uint64_t seed)
{
    seed_of_thread = seed;
    if (coil__loop_of_thread != NULL)
        coil__shuffle_init(coil__loop_of_thread);
}
