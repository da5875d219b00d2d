/*
 * shuffle.c - runs the runnables of each turn of the loop in random order.
 *
 * Without shuffling, runnables run in the order in which they become ready. Shuffling
 * reveals where a program relies on this order by accident. Eight times, each runnable of
 * the batch is appended to one of 16 lists at random, and the lists are joined: a radix
 * sort by 32 random bits, which needs no additional memory. While shuffling is on, every
 * turn begins in loop.c (polls_every_turn), so the fast path that switches directly
 * between tasks does not need to shuffle.
 */
#include "inside.h"

#include <coil/testing.h>

enum { PILES = 16, DEALS = 8 };

static COIL__THREAD_LOCAL uint64_t seed_of_thread;

/*
 * Return 64 random bits. The generator is Marsaglia's xorshift64, whose state is never 0.
 */
static uint64_t random_bits(coil_loop *loop)
{
    uint64_t x = loop->shuffle;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return loop->shuffle = x;
}

static void deal_batch(coil_loop *loop, struct coil__list *batch)
{
    struct coil__list piles[PILES], *link;

    for (int i = 0; i < PILES; i++)
        coil__list_init(&piles[i]);
    while ((link = coil__list_pop(batch)) != NULL)
        coil__list_push(&piles[random_bits(loop) >> 32 & (PILES - 1)], link);
    for (int i = 0; i < PILES; i++)
        coil__list_splice(batch, &piles[i]);
}

void coil__shuffle_batch(coil_loop *loop)
{
    for (int i = 0; i < DEALS; i++)
        deal_batch(loop, &loop->batch);
}

/*
 * Multiply the seed, because small seeds differ only in few bits. The product is 0 only
 * for the seed 0, which turns shuffling off, because the factor is odd.
 */
void coil__shuffle_begin(coil_loop *loop)
{
    loop->shuffle = seed_of_thread * UINT64_C(0x9e3779b97f4a7c15);
}

void coil_testing_shuffle(uint64_t seed)
{
    coil_loop *loop = coil_loop_current();

    coil__testing_begin();
    seed_of_thread = seed;
    if (loop == NULL)
        return;
    coil__shuffle_begin(loop);
    coil__loop_choose_turns(loop);
}
