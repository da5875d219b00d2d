/*
 * test_spin.c - in which waits a loop spins before it sleeps.
 */
#include "../../harness/harness.h"

#include "../../../src/loop/spin.h"

#include <coil.h>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define FIRST_TRY 16

/* Returns true if the loop spun, and the post had come. */
static bool try(struct coil__spin *spin, bool posted)
{
    _Atomic uint32_t word = posted;

    return coil__spin_wait(spin, &word, COIL_NEVER);
}

static int waits_until_try(struct coil__spin *spin)
{
    int waits = 0;

    while (waits < 10000 && !try(spin, true))
        waits++;
    return waits;
}

/* Initialise the struct, and make the loop try once. Skips the test if it cannot. */
static void begin(struct coil__spin *spin)
{
    if (coil_processor_count() == 1)
        test_skip("there is only one processor");
    coil__spin_init(spin);
    CHECK_INT(waits_until_try(spin), FIRST_TRY);
}

TEST(spin_begins_after_some_waits_and_goes_on_while_posts_come)
{
    struct coil__spin spin;

    begin(&spin);
    for (int i = 0; i < 1000; i++)
        CHECK(try(&spin, true));
}

TEST(spin_skips_twice_as_many_waits_after_each_failure)
{
    struct coil__spin spin;

    begin(&spin);
    for (int gap = 1; gap <= 256; gap *= 2) {
        CHECK(!try(&spin, false));
        CHECK_INT(waits_until_try(&spin), gap);
    }
}

TEST(spin_skips_at_most_4096_waits)
{
    struct coil__spin spin;

    begin(&spin);
    for (int i = 0; i < 16; i++) {
        CHECK(!try(&spin, false));
        waits_until_try(&spin);
    }
    CHECK(!try(&spin, false));
    CHECK_INT(waits_until_try(&spin), 4096);
}

TEST(spin_forgets_failures_after_a_long_streak)
{
    struct coil__spin spin;

    begin(&spin);
    for (int i = 0; i < 6; i++) {
        CHECK(!try(&spin, false));
        waits_until_try(&spin);
    }
    for (int i = 0; i < 256; i++)
        CHECK(try(&spin, true));
    CHECK(!try(&spin, false));
    CHECK_INT(waits_until_try(&spin), 1);
}

struct late {
    _Atomic uint32_t word;
    _Atomic bool ends;
};

/* Post about 20 us after each wait has begun. */
static void *post_late(void *arg)
{
    struct late *late = arg;

    while (!late->ends) {
        int64_t until = coil_now() + COIL_USEC(20);

        while (coil_now() < until)
            ;
        late->word = 1;
        while (late->word != 0 && !late->ends)
            ;
    }
    return NULL;
}

TEST(spin_ends_if_all_posts_come_late)
{
    struct late late = {0};
    struct coil__spin spin;
    pthread_t thread;
    int successes = 0;

    begin(&spin);
    CHECK_INT(pthread_create(&thread, NULL, post_late, &late), 0);
    while (successes < 1000 && coil__spin_wait(&spin, &late.word, COIL_NEVER)) {
        late.word = 0;
        successes++;
    }
    late.ends = true;
    pthread_join(thread, NULL);
    CHECK(successes < 1000);
}

TEST(spin_does_not_prolong_a_short_wait)
{
    _Atomic uint32_t word = 1;
    struct coil__spin spin;

    begin(&spin);
    CHECK(!coil__spin_wait(&spin, &word, COIL_USEC(50)));
    CHECK(coil__spin_wait(&spin, &word, COIL_USEC(51)));
}

TEST(spin_never_begins_with_one_processor)
{
    struct coil__spin spin;
    cpu_set_t all, one;

    CHECK_INT(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    coil__spin_init(&spin);
    CHECK_INT(waits_until_try(&spin), 10000);
    CHECK_INT(sched_setaffinity(0, sizeof all, &all), 0);
}
