/*
 * on_sync.c - coil-judge's instructions on locks, semaphores, events, conditions,
 * barriers and queues.
 */
#include "judge.h"

static coil_queue queues[MAX_NUMBER];
static coil_lock locks[MAX_NUMBER];
static coil_semaphore semaphores[MAX_NUMBER];
static coil_bounded_semaphore bounded[MAX_NUMBER];
static coil_barrier barriers[MAX_NUMBER];
static coil_event events[MAX_NUMBER];
static coil_condition conditions[MAX_NUMBER];
static int lock_count, queue_count;

/* ---- the objects ------------------------------------------------------------------- */

void sync_forget(void)
{
    lock_count = queue_count = 0;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool declare_queue(const struct line *line, int number, size_t size)
{
    if (line_is(line, "queue"))
        coil_queue_init(&queues[number], sizeof(int), size);
    else if (line_is(line, "lifo"))
        coil_queue_init_lifo(&queues[number], sizeof(int), size);
    else if (line_is(line, "priority"))
        coil_queue_init_priority(&queues[number], sizeof(int), size, compare);
    else
        return false;
    queue_count = number + 1;
    return true;
}

bool sync_declare(const struct line *line)
{
    int number = number_of(line->words[1]);
    size_t size = line->word_count > 2 ? strtoul(line->words[2], NULL, 10) : 0;

    if (line_is(line, "lock")) {
        coil_lock_init(&locks[number]);
        lock_count = number + 1;
    } else if (line_is(line, "semaphore")) {
        coil_semaphore_init(&semaphores[number], size);
    } else if (line_is(line, "bounded")) {
        coil_bounded_semaphore_init(&bounded[number], size);
    } else if (line_is(line, "barrier")) {
        coil_barrier_init(&barriers[number], size);
    } else if (line_is(line, "event")) {
        coil_event_init(&events[number]);
    } else if (line_is(line, "condition")) {
        coil_condition_init(&conditions[number], &locks[number_of(line->words[2])]);
    } else {
        return declare_queue(line, number, size);
    }
    return true;
}

void sync_unlock(void)
{
    for (int i = 0; i < lock_count; i++)
        if (coil_lock_locked(&locks[i]))
            coil_lock_release(&locks[i]);
}

void sync_finish(void)
{
    for (int i = 0; i < queue_count; i++)
        coil_queue_finish(&queues[i]);
}

/* ---- locks, semaphores, events, conditions ----------------------------------------- */

int sync_acquire(const char *name)
{
    int number = number_of(name);

    if (name[0] == 'u')
        return coil_bounded_semaphore_acquire(&bounded[number]);
    return name[0] == 'l' ? coil_lock_acquire(&locks[number])
                          : coil_semaphore_acquire(&semaphores[number]);
}

int sync_release(const char *name)
{
    int number = number_of(name);

    if (name[0] == 'l')
        return coil_lock_release(&locks[number]);
    if (name[0] == 'u')
        return coil_bounded_semaphore_release(&bounded[number]);
    coil_semaphore_release(&semaphores[number]);
    return 0;
}

static int do_acquire(struct body *body, const struct line *line)
{
    (void)body;
    return sync_acquire(line->words[1]);
}

static int do_release(struct body *body, const struct line *line)
{
    (void)body;
    return sync_release(line->words[1]);
}

static int do_ewait(struct body *body, const struct line *line)
{
    (void)body;
    return coil_event_wait(&events[number_of(line->words[1])]);
}

static int do_eset(struct body *body, const struct line *line)
{
    (void)body;
    coil_event_set(&events[number_of(line->words[1])]);
    return 0;
}

static int do_eclear(struct body *body, const struct line *line)
{
    (void)body;
    coil_event_clear(&events[number_of(line->words[1])]);
    return 0;
}

static int do_cwait(struct body *body, const struct line *line)
{
    (void)body;
    return coil_condition_wait(&conditions[number_of(line->words[1])]);
}

static int event_is_set(void *event)
{
    return coil_event_is_set(event);
}

static int do_cwait_for(struct body *body, const struct line *line)
{
    (void)body;
    return coil_condition_wait_for(&conditions[number_of(line->words[1])], event_is_set,
                                   &events[number_of(line->words[2])]);
}

static int do_notify(struct body *body, const struct line *line)
{
    coil_condition *condition = &conditions[number_of(line->words[1])];

    (void)body;
    if (strcmp(line->words[2], "all") == 0)
        return coil_condition_notify_all(condition);
    return coil_condition_notify(condition, (size_t)atoi(line->words[2]));
}

/* ---- barriers ---------------------------------------------------------------------- */

static int do_bwait(struct body *body, const struct line *line)
{
    (void)body;
    return coil_barrier_wait(&barriers[number_of(line->words[1])]);
}

static int do_breset(struct body *body, const struct line *line)
{
    (void)body;
    return coil_barrier_reset(&barriers[number_of(line->words[1])]);
}

static int do_babort(struct body *body, const struct line *line)
{
    (void)body;
    return coil_barrier_abort(&barriers[number_of(line->words[1])]);
}

static int do_bstate(struct body *body, const struct line *line)
{
    const coil_barrier *barrier = &barriers[number_of(line->words[1])];

    (void)body;
    return coil_barrier_broken(barrier) ? -EPIPE : (int)coil_barrier_waiting(barrier);
}

/* ---- queues ------------------------------------------------------------------------ */

static coil_queue *queue_of(const struct line *line)
{
    return &queues[number_of(line->words[1])];
}

static int do_put(struct body *body, const struct line *line)
{
    int item = atoi(line->words[2]);

    (void)body;
    return coil_queue_put(queue_of(line), &item);
}

static int do_get(struct body *body, const struct line *line)
{
    int item, rc = coil_queue_get(queue_of(line), &item);

    (void)body;
    return rc < 0 ? rc : item;
}

static int do_put_nowait(struct body *body, const struct line *line)
{
    int item = atoi(line->words[2]);

    (void)body;
    return coil_queue_put_nowait(queue_of(line), &item);
}

static int do_get_nowait(struct body *body, const struct line *line)
{
    int item, rc = coil_queue_get_nowait(queue_of(line), &item);

    (void)body;
    return rc < 0 ? rc : item;
}

static int do_task_done(struct body *body, const struct line *line)
{
    (void)body;
    return coil_queue_task_done(queue_of(line));
}

static int do_join(struct body *body, const struct line *line)
{
    (void)body;
    return coil_queue_join(queue_of(line));
}

static int do_shutdown(struct body *body, const struct line *line)
{
    (void)body;
    coil_queue_shutdown(queue_of(line), strcmp(line->words[2], "now") == 0);
    return 0;
}

const struct instruction sync_instructions[] = {
    {"acquire", do_acquire, false},
    {"release", do_release, true},
    {"ewait", do_ewait, false},
    {"eset", do_eset, true},
    {"eclear", do_eclear, true},
    {"cwait", do_cwait, false},
    {"cwait_for", do_cwait_for, false},
    {"notify", do_notify, true},
    {"bwait", do_bwait, false},
    {"breset", do_breset, false},
    {"babort", do_babort, false},
    {"bstate", do_bstate, true},
    {"put", do_put, false},
    {"get", do_get, false},
    {"put_nowait", do_put_nowait, true},
    {"get_nowait", do_get_nowait, true},
    {"task_done", do_task_done, true},
    {"join", do_join, false},
    {"shutdown", do_shutdown, true},
    {0},
};
