/*
 * trace_replay.c - turns the records of a trace into events for a viewer.
 *
 * The records are read twice. The first pass collects the tasks: their names, their
 * functions, and how many steps each task has. The second pass replays the records and
 * passes these spans to the writer:
 *
 *     what the loop does     poll, a callback, a task: one span after another
 *     what a task does       runs -> waits (or is ready at once) -> is ready -> runs
 *
 * Track 0 shows what the loop does. The tasks that ran most often have tracks of their
 * own, numbered like the tasks. An arrow connects the step that woke or spawned a task
 * with the task's next step. The arrow is written when that next step ends.
 */
#include "trace_writer.h"

#include "../error/symbol.h"
#include "loop.h"

#include <stdlib.h>
#include <string.h>

#define TRACKS_MAX 1000  /* more tracks make viewers slow */
#define TEXTS_MAX 4096   /* limits memory use if records are invalid (in a core file) */
#define READIES_MAX 4096 /* limits memory use, because some callbacks never run */
#define LATEST ((int64_t)1 << 61)
#define NAME_BYTES 32
#define TEXT_BYTES 40
#define PLACE_BYTES 128

enum state { UNKNOWN, RUNS, WAITS, IS_READY, HAS_ENDED };

struct task {
    uint32_t number;
    uint32_t steps; /* SWITCH records */
    char name[NAME_BYTES];
    uint64_t fn; /* 0: not known */
    bool has_track;
    enum state state, next; /* `next`: the state after the current step */
    int64_t since;          /* time at which the state began */
    int64_t result;         /* for HAS_ENDED */
    uint64_t what;          /* address of the text that describes the wait */
    uint32_t fd;            /* the descriptor + 1; 0: none */
    /* The following members describe the last wake-up, until the task runs. */
    bool is_woken, was_spawned;
    int64_t woken_at;
    bool has_waker;    /* a task or a callback of the program woke it */
    uint32_t waker;    /* the task's number; 0: a callback */
    int64_t waker_ran; /* time at which the waker ran */
    bool ends_arrow;   /* an arrow ends at the current step */
};

/* A text of the traced process, or the name and place of a function. */
struct text {
    uint64_t address;
    char text[PLACE_BYTES];
};

struct texts {
    struct text *items;
    size_t count, room;
};

/* A callback of coil's that a task has made ready. */
struct ready {
    uint64_t runnable;
    uint32_t task;
    int64_t at;
};

enum activity { NOTHING, IN_TASK, IN_CALLBACK, IN_POLL };

struct conversion {
    const struct coil__trace_copy *copy;
    struct coil__trace_writer *writer;
    struct task *tasks; /* in the order of their first records */
    size_t task_count, task_room;
    uint32_t *slots; /* hash table: index + 1 */
    size_t slot_count;
    struct texts whats, places;
    struct ready *readies;
    size_t ready_count, ready_room;

    int64_t now;
    enum activity activity;
    int64_t since;        /* time at which the activity began */
    struct task *running; /* IN_TASK: the task */
    uint64_t called;      /* IN_CALLBACK: the program's function, or 0 */
    struct ready cause;   /* IN_CALLBACK: the task that made it ready, or 0 */
    uint32_t *woken;      /* IN_POLL: the tasks that it woke */
    size_t woken_count, woken_room;
    uint64_t arrows;
    bool failed; /* memory ran out */
};

/* ---- memory ------------------------------------------------------------------------ */

/*
 * Make room for one more item. If there is no memory, sets c->failed and returns false.
 */
static bool grow(struct conversion *c, void *items, size_t count, size_t *room,
                 size_t item_bytes)
{
    size_t wanted = *room < 64 ? 64 : *room * 2;
    void *grown;

    if (count < *room)
        return true;
    grown = coil__realloc(*(void **)items, wanted * item_bytes);
    if (grown == NULL) {
        c->failed = true;
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *room = wanted;
    return true;
}

/* ---- tasks ------------------------------------------------------------------------- */

static size_t slot_of(const struct conversion *c, uint32_t number)
{
    size_t slot = number * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (c->slot_count - 1);

    while (c->slots[slot] != 0 && c->tasks[c->slots[slot] - 1].number != number)
        slot = (slot + 1) & (c->slot_count - 1);
    return slot;
}

static bool grow_table(struct conversion *c)
{
    size_t wanted = c->slot_count == 0 ? 256 : c->slot_count * 2;
    uint32_t *slots = coil__alloc_zeroed(wanted * sizeof *slots);

    if (slots == NULL) {
        c->failed = true;
        return false;
    }
    coil__free(c->slots);
    c->slots = slots;
    c->slot_count = wanted;
    for (size_t i = 0; i < c->task_count; i++)
        c->slots[slot_of(c, c->tasks[i].number)] = (uint32_t)i + 1;
    return true;
}

/*
 * Return the task with this number. If there is none and `create` is true, create it.
 * Returns NULL if there is none, or no memory.
 */
static struct task *find_task(struct conversion *c, uint32_t number, bool create)
{
    size_t slot;

    if (c->task_count * 2 >= c->slot_count && (!create || !grow_table(c)))
        if (c->slot_count == 0)
            return NULL;
    slot = slot_of(c, number);
    if (c->slots[slot] != 0)
        return &c->tasks[c->slots[slot] - 1];
    if (!create || c->failed ||
        !grow(c, &c->tasks, c->task_count, &c->task_room, sizeof *c->tasks))
        return NULL;
    c->tasks[c->task_count] = (struct task){.number = number};
    snprintf(c->tasks[c->task_count].name, NAME_BYTES, "task-%u", (unsigned)number);
    c->slots[slot] = (uint32_t)++c->task_count;
    return &c->tasks[c->task_count - 1];
}

static void set_part_of_name(struct task *task, uint32_t at, uint64_t word)
{
    if (at >= NAME_BYTES || at % sizeof word != 0)
        return;
    memset(task->name + at, 0, NAME_BYTES - at);
    memcpy(task->name + at, &word, sizeof word);
    task->name[NAME_BYTES - 1] = '\0';
}

static enum coil__trace_kind kind_of(const struct coil__trace_record *record)
{
    return (enum coil__trace_kind)(record->kind_and_value & 0xff);
}

static uint32_t value_of(const struct coil__trace_record *record)
{
    return record->kind_and_value >> 8;
}

static bool is_about_task(const struct coil__trace_record *record)
{
    switch (kind_of(record)) {
    case COIL__TRACE_SWITCH:
    case COIL__TRACE_WAIT:
    case COIL__TRACE_WAKE:
    case COIL__TRACE_SPAWN:
    case COIL__TRACE_NAME:
    case COIL__TRACE_END:
    case COIL__TRACE_CANCEL:
        return record->task != 0;
    default:
        return false;
    }
}

/*
 * Set the name and function of a task that still exists, because the records about its
 * spawn may have been overwritten.
 */
static void name_task(void *arg, uint32_t number, const char *name, uint64_t fn)
{
    struct task *task = find_task(arg, number, false);

    if (task == NULL)
        return;
    snprintf(task->name, NAME_BYTES, "%s", name);
    task->fn = fn;
}

static int compare_steps(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Choose the tasks that have tracks: those with the most steps. */
static void choose_tracks(struct conversion *c)
{
    uint32_t *steps, least = 0;
    size_t left = TRACKS_MAX;

    if (c->task_count > TRACKS_MAX) {
        steps = coil__alloc(c->task_count * sizeof *steps);
        c->failed |= steps == NULL;
        if (c->failed)
            return;
        for (size_t i = 0; i < c->task_count; i++)
            steps[i] = c->tasks[i].steps;
        qsort(steps, c->task_count, sizeof *steps, compare_steps);
        least = steps[TRACKS_MAX - 1];
        coil__free(steps);
    }
    for (size_t i = 0; i < c->task_count; i++) {
        c->tasks[i].has_track = c->tasks[i].steps > least;
        left -= c->tasks[i].has_track;
    }
    for (size_t i = 0; i < c->task_count && left > 0; i++)
        if (c->tasks[i].steps == least) {
            c->tasks[i].has_track = true;
            left--;
        }
}

static void collect_tasks(struct conversion *c)
{
    for (size_t i = 0; i < c->copy->count && !c->failed; i++) {
        const struct coil__trace_record *record = &c->copy->records[i];
        struct task *task =
            is_about_task(record) ? find_task(c, record->task, true) : NULL;

        if (task == NULL)
            continue;
        task->steps += kind_of(record) == COIL__TRACE_SWITCH;
        if (kind_of(record) == COIL__TRACE_SPAWN)
            task->fn = record->word;
        if (kind_of(record) == COIL__TRACE_NAME)
            set_part_of_name(task, value_of(record), record->word);
    }
    if (!c->failed)
        c->copy->each_task(c->copy->arg, name_task, c);
    if (!c->failed)
        choose_tracks(c);
}

/* ---- texts ------------------------------------------------------------------------- */

/*
 * Find or create the entry for an address. Sets *is_new if the caller must fill in the
 * text. Returns NULL if there are too many texts, or no memory.
 */
static struct text *find_text(struct conversion *c, struct texts *texts, uint64_t address,
                              bool *is_new)
{
    *is_new = false;
    for (size_t i = 0; i < texts->count; i++)
        if (texts->items[i].address == address)
            return &texts->items[i];
    if (texts->count == TEXTS_MAX ||
        !grow(c, &texts->items, texts->count, &texts->room, sizeof *texts->items))
        return NULL;
    *is_new = true;
    texts->items[texts->count] = (struct text){.address = address};
    return &texts->items[texts->count++];
}

/* Return the text that names a kind of wait, such as "lock". */
static const char *what_of(struct conversion *c, uint64_t address)
{
    bool is_new;
    struct text *text = find_text(c, &c->whats, address, &is_new);

    if (text == NULL)
        return "";
    if (is_new && !c->copy->text(c->copy->arg, address, text->text, TEXT_BYTES))
        snprintf(text->text, TEXT_BYTES, "a wait");
    return text->text;
}

/* Return a function's name and place, such as "serve at server.c:12". */
static const char *place_of(struct conversion *c, uint64_t address)
{
    struct coil__report report;
    bool is_new;
    struct text *text = find_text(c, &c->places, address, &is_new);

    if (text == NULL)
        return "";
    if (is_new && coil__report_begin_text(&report, text->text, PLACE_BYTES)) {
        /* + 1, because the printer expects a return address */
        coil__symbol_print(&report, NULL, "%s", (const char *)(uintptr_t)address + 1);
        coil__report_end_text(&report);
    }
    return text->text;
}

/* ---- events ------------------------------------------------------------------------ */

static void put_span(struct conversion *c, const struct coil__trace_span *span)
{
    c->writer->format->span(c->writer, span);
}

static void put_instant(struct conversion *c, const struct coil__trace_instant *instant)
{
    c->writer->format->instant(c->writer, instant);
}

static uint32_t track_of(const struct task *task)
{
    return task != NULL && task->has_track ? task->number : 0;
}

/*
 * Write an arrow to the step of `task` that began at `begin`. At the moment when a span
 * begins, another span may end, so the arrow's ends are 1 ns later, except with a virtual
 * clock, where spans have no duration.
 */
static void put_arrow(struct conversion *c, const struct task *task, int64_t begin)
{
    const struct task *waker = task->waker != 0 ? find_task(c, task->waker, false) : NULL;
    int64_t inside = c->now > begin ? 1 : 0;

    c->writer->format->arrow(c->writer, &(struct coil__trace_arrow){
                                            .number = c->arrows,
                                            .name = task->was_spawned ? "spawn" : "wake",
                                            .from_track = track_of(waker),
                                            .to_track = track_of(task),
                                            .from = task->waker_ran + inside,
                                            .to = begin + inside});
}

static void put_tracks(struct conversion *c)
{
    char name[NAME_BYTES + PLACE_BYTES + 4];

    c->writer->format->track(c->writer, 0, "loop");
    for (size_t i = 0; i < c->task_count; i++) {
        const struct task *task = &c->tasks[i];

        if (!task->has_track)
            continue;
        snprintf(name, sizeof name, "%s%s%s", task->name, task->fn != 0 ? ": " : "",
                 task->fn != 0 ? place_of(c, task->fn) : "");
        c->writer->format->track(c->writer, task->number, name);
    }
}

/* ---- the replay -------------------------------------------------------------------- */

/*
 * Set the current time to the sum of `ns` and `more`. Earlier times are ignored, because
 * times come from two clocks, which may differ slightly. Absurd times are ignored, too.
 */
static void set_now(struct conversion *c, int64_t ns, double more)
{
    if (ns > LATEST || ns < -LATEST || !(more < (double)LATEST && more > -(double)LATEST))
        return;
    if (ns + (int64_t)more > c->now)
        c->now = ns + (int64_t)more;
}

/*
 * Set the current time to the time of a counter value, computed from the nearer of the
 * two clock readings, because rounding errors grow with the distance.
 */
static void set_ticks(struct conversion *c, uint64_t ticks)
{
    const struct coil__trace_clock *clock = &c->copy->clock;
    double since1 = (double)(int64_t)(ticks - clock->ticks1);
    double since2 = (double)(int64_t)(ticks - clock->ticks2);
    double between = (double)(int64_t)(clock->ticks2 - clock->ticks1), rate = 1;

    if (between > 0)
        rate = ((double)clock->ns2 - (double)clock->ns1) / between;
    if (since1 < -since2)
        set_now(c, clock->ns1, since1 * rate);
    else
        set_now(c, clock->ns2, since2 * rate);
}

/* Write the spans of a task's wait and of its time in the ready queue, up to now. */
static void put_state(struct conversion *c, const struct task *task)
{
    int64_t end = task->state == WAITS && task->is_woken ? task->woken_at : c->now;

    if (!task->has_track)
        return;
    if (task->state == WAITS)
        put_span(
            c, &(struct coil__trace_span){.name = what_of(c, task->what),
                                          .category = "wait",
                                          .track = task->number,
                                          .begin = task->since,
                                          .end = end,
                                          .argument = {.key = task->fd > 0 ? "fd" : NULL,
                                                       .number = (int64_t)task->fd - 1}});
    if (task->state == IS_READY || task->is_woken)
        put_span(c, &(struct coil__trace_span){
                        .name = "ready",
                        .category = "ready",
                        .track = task->number,
                        .begin = task->state == IS_READY ? task->since : task->woken_at,
                        .end = c->now});
}

/*
 * Write the spans of a task's step, which ends now, on the tracks of the loop and the
 * task.
 */
static void put_step(struct conversion *c, struct task *task)
{
    struct coil__trace_span on_loop = {
        .name = task->name, .category = "step", .begin = c->since, .end = c->now};
    struct coil__trace_span on_task = on_loop;

    if (task->ends_arrow)
        *(task->has_track ? &on_task.arrow : &on_loop.arrow) = ++c->arrows;
    if (task->fn != 0) {
        on_loop.argument.key = "function";
        on_loop.argument.text = place_of(c, task->fn);
    }
    put_span(c, &on_loop);
    on_task.name = "runs";
    on_task.track = task->number;
    if (task->next == HAS_ENDED) {
        on_task.argument.key = "result";
        on_task.argument.number = task->result;
    }
    if (task->has_track)
        put_span(c, &on_task);
    if (task->ends_arrow)
        put_arrow(c, task, c->since);
    task->ends_arrow = false;
    task->state = task->next;
    task->since = c->now;
    task->is_woken = false;
}

/* Write the span of the current activity, which ends now. */
static void end_activity(struct conversion *c)
{
    struct coil__trace_span span = {.begin = c->since, .end = c->now};

    if (c->activity == IN_TASK)
        put_step(c, c->running);
    else if (c->activity == IN_CALLBACK)
        span.name = c->called != 0 ? place_of(c, c->called) : "callback";
    else if (c->activity == IN_POLL)
        span.name = "poll";
    span.category = c->activity == IN_POLL ? "poll" : "callback";
    if (span.name != NULL)
        put_span(c, &span);
    c->activity = NOTHING;
    c->running = NULL;
    c->called = 0;
    c->since = c->now;
}

static void begin_activity(struct conversion *c, enum activity activity)
{
    end_activity(c);
    c->activity = activity;
    c->cause = (struct ready){0};
}

static void begin_step(struct conversion *c, struct task *task)
{
    put_state(c, task);
    begin_activity(c, IN_TASK);
    c->running = task;
    task->ends_arrow = task->is_woken && task->has_waker;
    task->is_woken = false;
    task->state = RUNS;
    task->next = IS_READY; /* unless a COIL__TRACE_WAIT follows */
    task->since = c->now;
}

/* Note that the task becomes ready, and what woke it. */
static void wake(struct conversion *c, struct task *task, bool is_spawn)
{
    if (task->is_woken || task->state == RUNS)
        return;
    task->is_woken = true;
    task->was_spawned = is_spawn;
    task->woken_at = c->now;
    task->has_waker = c->activity == IN_TASK || c->cause.task != 0 || c->called != 0;
    task->waker = c->activity == IN_TASK ? c->running->number : c->cause.task;
    task->waker_ran = c->cause.task != 0 ? c->cause.at : c->now;
    if (c->activity == IN_POLL &&
        grow(c, &c->woken, c->woken_count, &c->woken_room, sizeof *c->woken))
        c->woken[c->woken_count++] = task->number;
}

/* Set the time at which a poll woke tasks to the end of the poll. */
static void end_poll(struct conversion *c)
{
    for (size_t i = 0; i < c->woken_count; i++) {
        struct task *task = find_task(c, c->woken[i], false);

        if (task != NULL && task->is_woken)
            task->woken_at = c->now;
    }
    c->woken_count = 0;
    if (c->activity == IN_POLL)
        begin_activity(c, NOTHING);
}

/*
 * Note which task has made a callback ready: the running task, or the task that made the
 * running callback ready.
 */
static void note_ready(struct conversion *c, uint64_t runnable)
{
    struct ready ready = {runnable, c->cause.task, c->cause.at};

    if (c->activity == IN_TASK)
        ready = (struct ready){runnable, c->running->number, c->now};
    for (size_t i = 0; i < c->ready_count; i++)
        if (c->readies[i].runnable == runnable) {
            c->readies[i] = ready;
            return;
        }
    if (ready.task != 0 &&
        grow(c, &c->readies, c->ready_count, &c->ready_room, sizeof *c->readies))
        c->readies[c->ready_count++] = ready;
}

static void take_ready(struct conversion *c, uint64_t runnable)
{
    for (size_t i = 0; i < c->ready_count; i++)
        if (c->readies[i].runnable == runnable) {
            c->cause = c->readies[i];
            c->readies[i] = c->readies[--c->ready_count];
            return;
        }
}

static void put_cancel(struct conversion *c, const struct task *task, uint64_t address)
{
    struct coil__trace_instant instant = {.name = "cancel",
                                          .track = track_of(task),
                                          .at = c->now,
                                          .arguments[0] = {"task", task->name, 0}};

    if (address != 0)
        instant.arguments[1] =
            (struct coil__trace_argument){"by", place_of(c, address - 1), 0};
    put_instant(c, &instant);
}

static void begin_step_of(struct conversion *c, const struct coil__trace_record *record)
{
    struct task *task = find_task(c, record->task, false);

    set_ticks(c, record->word);
    if (task != NULL && record->task != 0)
        begin_step(c, task);
    else
        begin_activity(c,
                       value_of(record) == COIL__TRACE_RETURNS ? IN_CALLBACK : NOTHING);
}

/* Write an event for `lost` missing records. The states of all tasks are now unknown. */
static void put_loss(struct conversion *c, uint64_t lost)
{
    end_activity(c);
    for (size_t i = 0; i < c->task_count; i++) {
        c->tasks[i].state = UNKNOWN;
        c->tasks[i].is_woken = false;
    }
    c->ready_count = c->woken_count = 0;
    put_instant(c, &(struct coil__trace_instant){
                       .name = "records were overwritten",
                       .is_global = true,
                       .at = c->now,
                       .arguments[0] = {"records", NULL, (int64_t)lost}});
}

static void replay_of_task(struct conversion *c, struct task *task,
                           const struct coil__trace_record *record)
{
    switch (kind_of(record)) {
    case COIL__TRACE_WAIT:
        task->next = WAITS;
        task->what = record->word;
        task->fd = value_of(record);
        break;
    case COIL__TRACE_SPAWN:
        task->state = IS_READY;
        task->since = c->now;
        wake(c, task, true);
        break;
    case COIL__TRACE_WAKE:
        wake(c, task, false);
        break;
    case COIL__TRACE_END:
        task->next = HAS_ENDED;
        task->result = (int64_t)record->word;
        break;
    case COIL__TRACE_CANCEL:
        put_cancel(c, task, record->word);
        break;
    default:
        break;
    }
}

static void replay(struct conversion *c, const struct coil__trace_record *record)
{
    struct task *task = is_about_task(record) ? find_task(c, record->task, false) : NULL;

    switch (kind_of(record)) {
    case COIL__TRACE_SWITCH:
        begin_step_of(c, record);
        break;
    case COIL__TRACE_CALLBACK:
        set_ticks(c, record->word);
        begin_activity(c, IN_CALLBACK);
        break;
    case COIL__TRACE_POLL:
        set_ticks(c, record->word);
        begin_activity(c, IN_POLL);
        break;
    case COIL__TRACE_POLLED:
        set_now(c, (int64_t)record->word, 0);
        end_poll(c);
        break;
    case COIL__TRACE_READY:
        note_ready(c, record->word);
        break;
    case COIL__TRACE_IS:
        take_ready(c, record->word);
        break;
    case COIL__TRACE_LOST:
        put_loss(c, record->word);
        break;
    case COIL__TRACE_CALLS:
        c->called = c->activity == IN_CALLBACK ? record->word : 0;
        break;
    default:
        if (task != NULL)
            replay_of_task(c, task, record);
    }
}

/* Set the current time to that of the first record with a time. */
static void set_beginning(struct conversion *c)
{
    c->now = INT64_MIN;
    for (size_t i = 0; i < c->copy->count && c->now == INT64_MIN; i++) {
        const struct coil__trace_record *record = &c->copy->records[i];
        enum coil__trace_kind kind = kind_of(record);

        if (kind == COIL__TRACE_POLLED)
            set_now(c, (int64_t)record->word, 0);
        else if (kind >= COIL__TRACE_SWITCH && kind <= COIL__TRACE_POLL)
            set_ticks(c, record->word);
    }
    if (c->now == INT64_MIN)
        c->now = 0;
}

static void replay_all(struct conversion *c)
{
    set_beginning(c);
    c->since = c->now;
    for (size_t i = 0; i < c->copy->count && !c->failed; i++)
        replay(c, &c->copy->records[i]);
    end_activity(c);
    for (size_t i = 0; i < c->task_count && !c->failed; i++)
        put_state(c, &c->tasks[i]);
}

int coil__trace_write_events(struct coil__trace_writer *writer,
                             const struct coil__trace_copy *copy)
{
    struct conversion c = {.copy = copy, .writer = writer};
    char name[96];

    writer->loop = copy->id;
    snprintf(name, sizeof name, "loop %u (process %d, thread %d)", (unsigned)copy->loop,
             copy->pid, copy->thread);
    coil__symbols_begin();
    collect_tasks(&c);
    if (!c.failed && !writer->format->begin_loop(writer, name))
        c.failed = true;
    if (!c.failed) {
        put_tracks(&c);
        replay_all(&c);
        writer->format->end_loop(writer);
    }
    coil__symbols_end();
    coil__free(c.tasks);
    coil__free(c.slots);
    coil__free(c.whats.items);
    coil__free(c.places.items);
    coil__free(c.readies);
    coil__free(c.woken);
    return c.failed ? -ENOMEM : 0;
}
