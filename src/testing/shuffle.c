/*
 * shuffle.c - runs the handles of each turn of the loop in a random order.
 *
 * A program may rely on the order of handles that become ready in one turn, but should do
 * so on purpose. Shuffling reveals where a program relies on the order by accident. The
 * shuffle is a radix sort by 32 random bits for each handle, without extra memory. The
 * batch is dealt onto 16 piles at random, and the piles are joined, eight times. While
 * shuffling is on, every turn begins in loop.c, so the code that switches directly
 * between tasks is not affected.
 */
#include "inside.h"

#include <coil/testing.h>

enum { PILES = 16, DEALS = 8 };

static COIL__THREAD_LOCAL uint64_t seed_of_thread;

/* xorshift64 by Marsaglia: its state is never 0. */
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

/* Small seeds differ in few bits, so the seed is multiplied to spread them. The factor is
 * odd, so only seed 0, which means "off", becomes 0. */
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
