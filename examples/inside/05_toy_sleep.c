/*
 * 05_toy_sleep.c - the work of a loop, done by hand: a coroutine and one event, without a
 * loop.
 *
 * This is AsyncSleep from the first answer to the Stack Overflow question "How does
 * asyncio actually work?". A coroutine waits by yielding an event to its driver. The
 * event describes what the coroutine waits for, and does nothing itself: main() sleeps.
 * 06_toy_run.c turns this program into a loop.
 *
 * To try: sleep for 100 s, and remove sleep_until(). The coroutine then ends immediately,
 * without noticing.
 */
#include "toy_gen.h"
#include "toy_time.h"

/* [event] */
struct async_sleep {
    double until; // do not resume before this time
};

/* Sleep in two halves, to show two events. */
static void asleep(double duration)
{
    // on the stack, which survives the suspension
    struct async_sleep event = {now() + duration / 2};

    gen_yield(&event);
    event.until = now() + duration / 2;
    gen_yield(&event);
}
/* [end] */

static void *body(void *arg)
{
    asleep(*(double *)arg); // an ordinary call, although asleep() yields
    return "well rested";
}

/* [drive] */
int main(void)
{
    double begin = now(), duration = 0.1;
    struct gen *gen = gen_new(body, &duration);
    void *value;

    while (gen_send(gen, NULL, &value)) {
        const struct async_sleep *event = value;
        printf("AsyncSleep(until=%.2f)\n", event->until - begin);
        sleep_until(event->until);
    }
    printf("ended after %.1f s: %s\n", now() - begin, (char *)value);
    gen_free(gen);
    return 0;
}
/* [end] */
