/*
 * 05_toy_sleep.c - what a loop does, done by hand: a coroutine, one event, no loop.
 *
 * The first answer's AsyncSleep. To wait is to yield, to whoever drives us, an event that
 * says what we wait for. The event itself does nothing; main() sleeps. 06_toy_run.c makes
 * a loop of it.
 *
 * Sleep for 100 s, and take out sleep_until(): it ends at once, and does not notice.
 */
#include "toy_gen.h"
#include "toy_time.h"

/* [event] */
struct async_sleep {
    double until; // "I have nothing to do before that time"
};

/* A wait in two halves, so that there are two events to see. */
static void asleep(double duration)
{
    struct async_sleep event = {now() + duration / 2}; // lives while we are suspended

    gen_yield(&event);
    event.until = now() + duration / 2;
    gen_yield(&event);
}
/* [end] */

static void *body(void *arg)
{
    asleep(*(double *)arg); // an ordinary call: yielding goes through it
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
