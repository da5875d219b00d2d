/*
 * snapshot.c - reads the tasks of an image.
 *
 *     loops --> scheduler --> list of tasks --> task_read() for each
 *
 * When all tasks have been read, find_edges.c finds the edges from each task to the tasks
 * in its groups, and to the tasks that it awaits.
 */
#include "reading.h"

#include <stdlib.h>
#include <time.h>

#define TASK_MAX ((size_t)1 << 24)
#define RESTARTS 3

/* ---- small things ------------------------------------------------------------------ */

int64_t read_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool copies_read(const struct copies *copies, uint64_t address, void *to, size_t bytes)
{
    for (size_t i = 0; i < copies->count; i++) {
        const struct piece *piece = &copies->pieces[i];

        if (address >= piece->address && address - piece->address < piece->bytes &&
            bytes <= piece->bytes - (address - piece->address)) {
            memcpy(to, (const char *)piece->to + (address - piece->address), bytes);
            return true;
        }
    }
    return image_read(copies->image, address, to, bytes);
}

uint64_t copies_pointer(const struct copies *copies, uint64_t address)
{
    uint64_t value;

    return address != 0 && copies_read(copies, address, &value, 8) ? value : 0;
}

/* ---- a loop ------------------------------------------------------------------------ */

/*
 * Return the next link after a task in the list, or 0 if the task has ended since it was
 * read.
 */
static uint64_t link_after(struct reading *r, const struct task *task)
{
    uint64_t link = task->address + row(r, COIL__AT_TASK_LINK), next = 0;
    uint32_t number = 0;
    const struct piece pieces[] = {
        {link + row(r, COIL__AT_LIST_NEXT), &next, sizeof next},
        {task->address + row(r, COIL__AT_TASK_CORO) + row(r, COIL__AT_CORO_NUMBER),
         &number, sizeof number}};

    return image_read_pieces(r->snapshot->image, pieces, 2) && number == task->number &&
                   next != link
               ? next
               : 0;
}

/*
 * Return the link of the first task that was not read yet. The process has run in the
 * meantime, so tasks that were already read may have ended.
 */
static uint64_t find_place(struct reading *r, uint64_t head)
{
    const struct snapshot *s = r->snapshot;
    uint64_t link = 0;

    for (size_t i = s->task_count; i > r->loop->tasks && link == 0; i--)
        link = link_after(r, &s->tasks[i - 1]);
    return link != 0 ? link
                     : copies_pointer(&r->copies, head + row(r, COIL__AT_LIST_NEXT));
}

/*
 * Return true if a new task has the address of a known task, which has ended since it was
 * read. Set the state of the known task accordingly.
 */
static bool replaces(struct reading *r, uint32_t known)
{
    struct snapshot *s = r->snapshot;
    uint32_t number;
    uint64_t at = r->address + row(r, COIL__AT_TASK_CORO) + row(r, COIL__AT_CORO_NUMBER);

    if (s->options->after_task == NULL ||
        !image_read(s->image, at, &number, sizeof number) ||
        number == s->tasks[known].number)
        return false;
    s->tasks[known].state = TASK_HAS_ENDED;
    return true;
}

static void read_registers(struct reading *r)
{
    struct image *image = r->snapshot->image;

    if (!image->is_constant || image->registers == NULL ||
        !image->registers(image, r->loop->thread, &r->loop->registers))
        r->loop->registers.sp = 0;
}

/*
 * Read all tasks in the list. Returns false if the end was not reached, usually because
 * the list has changed.
 */
static bool walk_tasks(struct reading *r)
{
    struct snapshot *s = r->snapshot;
    const struct snapshot_options *how = s->options;
    uint64_t head = r->loop->scheduler + row(r, COIL__AT_SCHEDULER_TASKS);
    uint64_t link = copies_pointer(&r->copies, head + row(r, COIL__AT_LIST_NEXT));

    while (link != head) {
        uint32_t known;

        r->address = link - row(r, COIL__AT_TASK_LINK);
        known = tasks_find(s, r->address);
        if (link == 0 || r->address % 8 != 0 || s->task_count >= TASK_MAX ||
            (known != NONE && !replaces(r, known)) || !task_read(r) || s->private->failed)
            return false;
        link = u64(member(r, COIL__AT_TASK_LINK) + row(r, COIL__AT_LIST_NEXT) % 9);
        if (how->after_task != NULL && how->after_task(how->after_task_arg)) {
            read_registers(r);
            r->copies.count = 0;
            link = find_place(r, head);
        }
    }
    return true;
}

static bool read_loop(struct reading *r, uint64_t address)
{
    struct loop *loop = r->loop;
    unsigned char is_virtual = 0;
    const struct piece whole[] = {
        {address + row(r, COIL__AT_LOOP_PID), &loop->pid, 4},
        {address + row(r, COIL__AT_LOOP_THREAD), &loop->thread, 4},
        {address + row(r, COIL__AT_LOOP_NUMBER), &loop->number, 4},
        {address + row(r, COIL__AT_LOOP_SCHEDULER), &loop->scheduler, 8},
        {address + row(r, COIL__AT_LOOP_CLOCK_READ), &loop->now, 8},
        {address + row(r, COIL__AT_LOOP_IS_VIRTUAL), &is_virtual, 1}};
    const struct snapshot_options *how = r->snapshot->options;
    struct image *image = r->snapshot->image;

    if (!image_read_pieces(image, whole, 5))
        return false;
    loop->address = address;
    if (has_row(r, COIL__AT_LOOP_IS_VIRTUAL) && image_read_pieces(image, whole + 5, 1))
        loop->is_virtual = is_virtual != 0;
    if (loop->is_virtual)
        loop->now = (int64_t)copies_pointer(&r->copies,
                                            address + row(r, COIL__AT_LOOP_VIRTUAL_NOW));
    else if (how->monotonic != 0)
        loop->now = how->monotonic;
    read_registers(r);
    return true;
}

/*
 * Return true if another slot contains the same loop, which happens only in damaged
 * memory.
 */
static bool is_known(const struct snapshot *s, const struct loop *loop)
{
    for (size_t i = 0; i < s->loop_count && image_spend(s->image, 1); i++)
        if (s->loops[i].address == loop->address ||
            (loop->scheduler != 0 && s->loops[i].scheduler == loop->scheduler))
            return true;
    return false;
}

static const char *list_damage(const struct image *image)
{
    return image->damage != NULL ? image->damage : "the list is damaged";
}

static bool take_loop(struct snapshot *s, struct reading *r, uint64_t address)
{
    struct private *p = s->private;
    size_t first = s->task_count, links = p->link_count;
    bool is_whole = false;

    if (!array_grow(&s->loops, &p->loop_room, s->loop_count, sizeof *s->loops))
        return false;
    r->loop = &s->loops[s->loop_count];
    *r->loop = (struct loop){.tasks = first};
    r->copies.count = 0;
    if (!read_loop(r, address)) {
        if (s->image->is_constant)
            s->cut = list_damage(s->image);
        return true; /* in a running process, the loop was closed in the meantime */
    }
    if ((s->options->pid != 0 && r->loop->pid != s->options->pid) || is_known(s, r->loop))
        return true;
    s->loop_count++;
    for (int i = 0; i <= RESTARTS && r->loop->scheduler != 0 && !is_whole; i++) {
        if (i > 0 && !tasks_drop(s, first, links))
            return false;
        is_whole = walk_tasks(r);
        if (p->failed)
            return false;
        if (s->image->is_constant || s->image->budget.is_over)
            break;
    }
    if (r->loop->scheduler != 0 && !is_whole)
        r->loop->partial = s->image->budget.cut != NULL ? s->image->budget.cut
                           : s->image->is_constant      ? list_damage(s->image)
                                                        : "the list changed too often";
    r->loop->task_count = s->task_count - first;
    return true;
}

/* ---- the whole --------------------------------------------------------------------- */

static bool read_loops(struct snapshot *s)
{
    const struct table *table = s->table;
    struct image *image = s->image;
    struct reading *r = calloc(1, sizeof *r);
    bool ok = r != NULL;

    if (ok)
        *r = (struct reading){.snapshot = s, .table = table, .copies = {.image = image}};
    image_begin(image, s->options->limit_ns);
    for (uint32_t i = 0; ok && i < table->loop_count && !image->budget.is_over; i++) {
        uint64_t address = 0;

        if (!image_read(image, table->loops + i * sizeof address, &address,
                        sizeof address))
            s->cut = list_damage(image);
        else if (address != 0)
            ok = take_loop(s, r, address);
    }
    if (image->budget.cut != NULL)
        s->cut = image->budget.cut;
    free(r);
    return ok;
}

bool snapshot_take(struct image *image, const struct table *table,
                   const struct snapshot_options *options, struct snapshot *s)
{
    struct private *p = calloc(1, sizeof *p);

    *s = (struct snapshot){.image = image,
                           .table = table,
                           .options = options,
                           .inherited = table->inherited,
                           .private = p};
    if (p == NULL)
        return false;
    p->seed = (uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)read_clock_ns();
    p->memory = malloc(COPY_BYTES);
    return p->memory != NULL && tasks_index(s) && read_loops(s);
}

bool snapshot_take_again(struct snapshot *s)
{
    struct private *p = s->private;

    stacks_forget(p);
    s->loop_count = s->task_count = p->link_count = 0;
    s->cut = NULL;
    memset(p->index, 0xff, p->index_size * sizeof *p->index);
    return read_loops(s);
}

bool snapshot_finish(struct snapshot *s)
{
    if (s->options->on_stack != NULL)
        stacks_use(s);
    stacks_forget(s->private);
    if (!edges_find(s))
        return false;
    if (s->image->budget.cut != NULL)
        s->cut = s->image->budget.cut;
    return true;
}

void snapshot_free(struct snapshot *s)
{
    struct private *p = s->private;

    free(s->loops);
    free(s->tasks);
    free(s->edges);
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->text_count; i++)
        free(p->texts[i]);
    free(p->texts);
    stacks_forget(p);
    free(p->classes);
    free(p->links);
    free(p->group_next);
    free(p->index);
    free(p->memory);
    free(p);
}
