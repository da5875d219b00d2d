/*
 * simulated_events.c - the future events of the simulated network, and its random
 * numbers.
 *
 * Future events are in a pairing heap, ordered by time: each event has a list of
 * children, none of which is due before it. The heap's links are members of the events. A
 * timer of the loop is set to the time of the first event, so a virtual clock jumps to
 * that time when all tasks are waiting. If the timer cannot be set because memory ran
 * out, the network checks for due events in every turn.
 *
 * The random number generator is xoshiro256** by Blackman and Vigna; its state is
 * initialized with splitmix64, as the authors recommend. The generator returns the same
 * numbers on every machine, and a program draws them in the same order in every run, so a
 * run can be repeated.
 */
#include "simulated_events.h"

/* ---- random numbers ---------------------------------------------------------------- */

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t draw_random(struct coil__sim *sim)
{
    uint64_t *s = sim->random;
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/*
 * The remainder is slightly more often a small number (by a factor of at most 1 + n /
 * 2^64), which does not matter.
 */
uint64_t coil__sim_random(struct coil__sim *sim, uint64_t n)
{
    return draw_random(sim) % n;
}

bool coil__sim_chance(struct coil__sim *sim, unsigned ppm)
{
    return ppm > 0 && coil__sim_random(sim, 1000000) < ppm;
}

int64_t coil__sim_between(struct coil__sim *sim, const int64_t range[2])
{
    if (range[1] <= range[0])
        return range[0];
    return range[0] +
           (int64_t)coil__sim_random(sim, (uint64_t)range[1] - (uint64_t)range[0] + 1);
}

int64_t coil__sim_latency(struct coil__sim *sim)
{
    return coil__sim_between(sim, sim->opts.latency_ns);
}

size_t coil__sim_shorten(struct coil__sim *sim, size_t n)
{
    if (n < 2 || !coil__sim_chance(sim, sim->opts.short_ppm))
        return n;
    return 1 + (size_t)coil__sim_random(sim, n);
}

/* ---- the heap ---------------------------------------------------------------------- */

static bool earlier(const struct coil__sim_event *a, const struct coil__sim_event *b)
{
    return a->when != b->when ? a->when < b->when : a->order < b->order;
}

/*
 * Merge two heaps, each of which may be NULL: the top that is due later becomes a child
 * of the other one.
 */
static struct coil__sim_event *merge_heaps(struct coil__sim_event *a,
                                           struct coil__sim_event *b)
{
    struct coil__sim_event *top, *under;

    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    top = earlier(a, b) ? a : b;
    under = top == a ? b : a;
    under->prev = top;
    under->next = top->child;
    if (top->child != NULL)
        top->child->prev = under;
    top->child = under;
    return top;
}

static struct coil__sim_event *unlink_siblings(struct coil__sim_event *event)
{
    event->prev = event->next = NULL;
    return event;
}

/*
 * Merge a list of heaps into one: first merge them in pairs from front to back, then
 * merge the results from back to front.
 */
static struct coil__sim_event *meld_all(struct coil__sim_event *list)
{
    struct coil__sim_event *pairs = NULL, *all = NULL, *pair, *second, *rest;

    for (; list != NULL; list = rest) {
        second = list->next;
        rest = second != NULL ? second->next : NULL;
        pair = merge_heaps(unlink_siblings(list),
                           second != NULL ? unlink_siblings(second) : NULL);
        pair->next = pairs;
        pairs = pair;
    }
    for (; pairs != NULL; pairs = rest) {
        rest = pairs->next;
        all = merge_heaps(all, unlink_siblings(pairs));
    }
    return all;
}

static void remove_event(struct coil__sim *sim, struct coil__sim_event *event)
{
    struct coil__sim_event *under = meld_all(event->child);

    event->queued = false;
    event->child = NULL;
    if (event == sim->first) {
        sim->first = under;
        return;
    }
    if (event->prev->child == event)
        event->prev->child = event->next;
    else
        event->prev->next = event->next;
    if (event->next != NULL)
        event->next->prev = event->prev;
    unlink_siblings(event);
    sim->first = merge_heaps(sim->first, under);
}

/* ---- time -------------------------------------------------------------------------- */

int64_t coil__sim_now(void)
{
    return coil__inside->loop_now(coil_loop_current());
}

/* Set the timer to the time of the first event. */
static void set_timer(struct coil__sim *sim)
{
    coil_loop *loop = coil_loop_current();
    int64_t when = sim->first != NULL ? sim->first->when : COIL_NEVER;

    coil__list_remove(&sim->untimed.link);
    if (when == sim->timed_for || loop->closing)
        return;
    coil__inside->timer_stop(loop, &sim->timer);
    sim->timed_for = COIL_NEVER;
    if (when == COIL_NEVER)
        return;
    if (coil__inside->timer_start(loop, &sim->timer, when) == 0)
        sim->timed_for = when;
    else
        coil__inside->loop_add_ready(loop, &sim->untimed);
}

void coil__sim_schedule(struct coil__sim *sim, struct coil__sim_event *event,
                        int64_t when)
{
    if (event->queued)
        remove_event(sim, event);
    event->when = when;
    event->order = draw_random(sim);
    event->queued = true;
    sim->first = merge_heaps(sim->first, event);
    set_timer(sim);
}

void coil__sim_unschedule(struct coil__sim *sim, struct coil__sim_event *event)
{
    if (!event->queued)
        return;
    remove_event(sim, event);
    set_timer(sim);
}

static void run_due_events(struct coil__sim *sim)
{
    int64_t now = coil__sim_now();

    while (sim->first != NULL && sim->first->when <= now) {
        struct coil__sim_event *event = sim->first;

        remove_event(sim, event);
        event->happen(sim, event);
    }
    set_timer(sim);
}

static void timer_is_due(struct coil__runnable *runnable)
{
    struct coil__sim *sim = COIL__CONTAINER(runnable, struct coil__sim, timer.runnable);

    sim->timed_for = COIL_NEVER;
    if (!coil_loop_current()->closing)
        run_due_events(sim);
}

/*
 * Called in every turn of the loop while the timer cannot be set because memory ran out.
 */
static void check_untimed(struct coil__runnable *runnable)
{
    if (!coil_loop_current()->closing)
        run_due_events(COIL__CONTAINER(runnable, struct coil__sim, untimed));
}

void coil__sim_events_init(struct coil__sim *sim)
{
    uint64_t state = sim->opts.seed;

    for (int i = 0; i < 4; i++)
        sim->random[i] = splitmix(&state);
    coil__inside->timer_init(&sim->timer, timer_is_due);
    coil__runnable_init(&sim->untimed, check_untimed);
    sim->timed_for = COIL_NEVER;
}
