/*
 * read_wait.c - reads the details of a task's wait.
 *
 * The class of a wait contains paths to the data about the wait: its description, object,
 * descriptor and deadline, and the futures that it awaits.
 */
#include "reading.h"

#include <errno.h>
#include <stdlib.h>

#define FUTURES_MAX ((size_t)1 << 18) /* of one wait */

static const char *intern(struct snapshot *s, const char *text)
{
    struct private *p = s->private;

    if (!image_spend(s->image, p->text_count / 16))
        return "?";
    for (size_t i = 0; i < p->text_count; i++)
        if (strcmp(p->texts[i], text) == 0)
            return p->texts[i];
    if (p->text_count == 4096 ||
        !array_grow(&p->texts, &p->text_room, p->text_count, sizeof *p->texts))
        return "?";
    p->texts[p->text_count] = strdup(text);
    return p->texts[p->text_count] != NULL ? p->texts[p->text_count++] : "?";
}

/*
 * Read a constant string of the process. The last string is cached, because most tasks
 * wait for the same kind of event.
 */
static const char *read_words(struct snapshot *s, uint64_t address)
{
    struct private *p = s->private;
    char text[64];

    if (address != 0 && address == p->words_at)
        return p->words;
    if (address == 0 || !image_read_text(s->image, address, text, sizeof text))
        return "?";
    p->words_at = address;
    p->words = intern(s, text);
    return p->words;
}

/*
 * Return a copy of the class at `address`, or NULL if it cannot be read. Copies are
 * cached, because classes are constant.
 */
static const struct wait_class *find_class(struct reading *r, uint64_t address)
{
    struct snapshot *s = r->snapshot;
    struct private *p = s->private;
    struct wait_class *class;
    size_t bytes = row(r, COIL__CLASS_BYTES);

    if (!spend(r, p->class_count / 16))
        return NULL;
    for (size_t i = 0; i < p->class_count; i++)
        if (p->classes[i].address == address)
            return p->classes[i].known ? &p->classes[i] : NULL;
    if (p->class_count == 4096 ||
        !array_grow(&p->classes, &p->class_room, p->class_count, sizeof *p->classes))
        return NULL;
    class = &p->classes[p->class_count++];
    memset(class, 0, sizeof *class);
    class->address = address;
    class->known = image_read(s->image, address, class->bytes, bytes < 8 ? 8 : bytes);
    return class->known ? class : NULL;
}

/* Follow a path in the class of a wait. Returns the address of the value, or 0. */
static uint64_t follow(const struct reading *r, const struct wait_class *class,
                       uint64_t wait, enum coil__outside_key key)
{
    size_t offsets = row(r, COIL__AT_PATH_OFFSETS);
    const unsigned char *path;
    uint64_t place;

    if (!has_row(r, key) || row(r, key) + offsets + 4 > sizeof class->bytes)
        return 0;
    path = class->bytes + row(r, key);
    if (path[0] == 0)
        return 0;
    place = wait + (uint64_t)(int64_t)(int16_t)u16(path + offsets);
    if (path[0] == 1)
        return place;
    place = copies_pointer(&r->copies, place);
    return place != 0 ? place + (uint64_t)(int64_t)(int16_t)u16(path + offsets + 2) : 0;
}

static uint64_t follow_to_pointer(const struct reading *r, const struct wait_class *class,
                                  uint64_t wait, enum coil__outside_key key)
{
    return copies_pointer(&r->copies, follow(r, class, wait, key));
}

/* Return true if the future is pending. Only pending futures are recorded as awaited. */
static bool is_pending(const struct reading *r, uint64_t future)
{
    int32_t rc;

    return copies_read(&r->copies, future + row(r, COIL__AT_FUTURE_RC), &rc, sizeof rc) &&
           rc == -EINPROGRESS;
}

static void add_future(struct reading *r, struct task *task, uint64_t pointer,
                       uint64_t inside)
{
    uint64_t future = pointer + inside;

    if (pointer == 0)
        return;
    if (task->future == 0 && is_pending(r, future))
        task->future = future;
    edges_add_link(r, (struct link){.address = future});
}

static void add_array(struct reading *r, struct task *task, uint64_t first,
                      uint64_t count, size_t item, size_t pointer, size_t inside)
{
    for (uint64_t i = 0; i < count && i < FUTURES_MAX && spend(r, 2); i++)
        add_future(r, task, copies_pointer(&r->copies, first + i * item + pointer),
                   inside);
}

static void add_list(struct reading *r, struct task *task, uint64_t head, size_t pointer,
                     size_t inside)
{
    uint64_t link = head;

    for (size_t i = 0; head != 0 && i < 4096 && spend(r, 2); i++) {
        link = copies_pointer(&r->copies, link + row(r, COIL__AT_LIST_NEXT));
        if (link == 0 || link == head)
            return;
        add_future(r, task, copies_pointer(&r->copies, link + pointer), inside);
    }
}

static void read_futures(struct reading *r, struct task *task,
                         const struct wait_class *class, uint64_t wait)
{
    const unsigned char *b = class->bytes;
    unsigned kind = b[row(r, COIL__AT_CLASS_FUTURES_KIND) % sizeof class->bytes];
    size_t item = u16(b + row(r, COIL__AT_CLASS_FUTURES_ITEM_BYTES) % 510);
    size_t pointer = u16(b + row(r, COIL__AT_CLASS_FUTURES_POINTER) % 510);
    size_t inside = u16(b + row(r, COIL__AT_CLASS_FUTURES_FUTURE) % 510);
    uint64_t first = follow(r, class, wait, COIL__AT_CLASS_FUTURES_FIRST);

    if (!has_row(r, COIL__AT_CLASS_FUTURES_KIND))
        return;
    if (kind == row(r, COIL__FUTURES_ARE_ONE))
        add_future(r, task, copies_pointer(&r->copies, first), inside);
    else if (kind == row(r, COIL__FUTURES_ARE_ARRAY))
        add_array(r, task, copies_pointer(&r->copies, first),
                  follow_to_pointer(r, class, wait, COIL__AT_CLASS_FUTURES_COUNT), item,
                  pointer, inside);
    else if (kind == row(r, COIL__FUTURES_ARE_LIST))
        add_list(r, task, first, pointer, inside);
    else if (kind == row(r, COIL__FUTURES_ARE_CHILDREN))
        edges_add_children(r, copies_pointer(&r->copies, first), false);
}

/* Return a timer's deadline: see coil__timer_deadline(). */
static int64_t read_timer(const struct reading *r, uint64_t timer)
{
    uint64_t place = copies_pointer(&r->copies, timer + row(r, COIL__AT_TIMER_PLACE));
    uint64_t entries, count;

    if (place == 0)
        return r->loop->now;
    entries = copies_pointer(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_TIMERS));
    count =
        copies_pointer(&r->copies, r->loop->address + row(r, COIL__AT_LOOP_TIMER_COUNT));
    if (place > count)
        return INT64_MAX;
    return (int64_t)copies_pointer(
        &r->copies, entries + (place - 1) * row(r, COIL__TIMER_ENTRY_BYTES) +
                        row(r, COIL__AT_TIMER_ENTRY_WHEN));
}

static void read_lock(const struct reading *r, struct task *task)
{
    unsigned char locked = 0;

    if (strcmp(task->what, "lock") != 0 || task->object == 0 ||
        !has_row(r, COIL__AT_LOCK_OWNER) ||
        !copies_read(&r->copies, task->object + row(r, COIL__AT_LOCK_LOCKED), &locked,
                     1) ||
        locked != 1)
        return;
    copies_read(&r->copies, task->object + row(r, COIL__AT_LOCK_OWNER), &task->lock_owner,
                sizeof task->lock_owner);
}

void wait_read(struct reading *r, struct task *task, uint64_t wait)
{
    uint64_t address = copies_pointer(&r->copies, wait + row(r, COIL__AT_WAIT_CLASS));
    const struct wait_class *class = find_class(r, address);
    uint64_t place, what;
    int32_t fd;

    task->what = "?";
    task->since = (int64_t)copies_pointer(&r->copies, wait + row(r, COIL__AT_WAIT_SINCE));
    if (class == NULL)
        return;
    what = u64(class->bytes);
    if (what == 0)
        what = follow_to_pointer(r, class, wait, COIL__AT_CLASS_WHAT_PATH);
    task->what = read_words(r->snapshot, what);
    task->object = follow_to_pointer(r, class, wait, COIL__AT_CLASS_OBJECT);
    place = follow(r, class, wait, COIL__AT_CLASS_FD);
    if (place != 0 && copies_read(&r->copies, place, &fd, sizeof fd))
        task->fd = fd;
    place = follow(r, class, wait, COIL__AT_CLASS_DEADLINE);
    if (place != 0)
        task->deadline = (int64_t)copies_pointer(&r->copies, place);
    place = follow(r, class, wait, COIL__AT_CLASS_TIMER);
    if (place != 0)
        task->deadline = read_timer(r, place);
    place = follow(r, class, wait, COIL__AT_CLASS_JOB);
    task->is_job = place != 0;
    place = place != 0 ? copies_pointer(&r->copies, place) : 0;
    if (place != 0 && has_row(r, COIL__AT_JOB_THREAD))
        copies_read(&r->copies, place + row(r, COIL__AT_JOB_THREAD), &task->job_thread,
                    sizeof task->job_thread);
    read_lock(r, task);
    read_futures(r, task, class, wait);
}

/*
 * Return the address of the task's wait if it has not completed, else 0: see
 * coil__task_waits().
 */
uint64_t wait_incomplete(const struct reading *r)
{
    uint64_t wait = u64(member(r, COIL__AT_TASK_WAIT)), source;
    unsigned char done = 0;
    int32_t rc = -EINPROGRESS;

    if (wait == 0 ||
        !copies_read(&r->copies, wait + row(r, COIL__AT_WAIT_DONE), &done, 1) ||
        done != 0)
        return 0;
    source = copies_pointer(&r->copies, wait + row(r, COIL__AT_WAIT_SOURCE));
    if (source != 0 && copies_read(&r->copies, source, &rc, sizeof rc) &&
        rc != -EINPROGRESS)
        return 0;
    return wait;
}
