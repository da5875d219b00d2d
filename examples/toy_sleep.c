/*
 * toy_sleep.c - what a loop does, done by hand: a coroutine, one event, no loop.
 *
 * Waiting means: yield to whoever drives us an event that says what we wait for. Here the
 * event is a point in time, and main() drives the coroutine itself. toy_run.c makes a
 * loop of it.
 */
#include <coil/gen.h>

#include <stdio.h>
#include <time.h>

/* The event: "I have nothing to do until then." */
struct async_sleep {
    int64_t until;
};

/* A wait in two halves, so that there are two events to see. */
static int asleep(int64_t duration_ns)
{
    struct async_sleep event = {coil_in(duration_ns / 2)}; // lives while we are suspended
    int rc = coil_gen_yield(&event, NULL);

    if (rc < 0)
        return rc;
    event.until = coil_in(duration_ns / 2);
    return coil_gen_yield(&event, NULL);
}

static int body(coil_gen *gen, void *arg)
{
    (void)arg;
    int rc = asleep(COIL_MSEC(100)); // an ordinary call: yielding goes through it

    if (rc == 0)
        coil_gen_return(gen, "well rested");
    return rc;
}

static void sleep_until(int64_t when)
{
    int64_t left = when - coil_now();
    struct timespec span = {left / COIL_SEC(1), left % COIL_SEC(1)};

    if (left > 0)
        nanosleep(&span, NULL);
}

int main(void)
{
    coil_gen *gen;
    void *value;
    int64_t begin = coil_now();
    int rc = coil_gen_create(body, NULL, NULL, &gen);

    if (rc < 0)
        return 1;
    while ((rc = coil_gen_next(gen, &value)) == COIL_GEN_YIELDED) {
        const struct async_sleep *event = value;
        printf("an event: sleep for another %.2f s\n",
               (double)(event->until - coil_now()) / 1e9);
        sleep_until(event->until);
    }
    printf("ended after %.1f s: %s\n", (double)(coil_now() - begin) / 1e9, (char *)value);
    coil_gen_destroy(gen);
    return rc != COIL_GEN_ENDED;
}
