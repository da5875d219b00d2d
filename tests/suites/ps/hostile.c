/*
 * hostile.c - runs coil-ps's reader on memory with data that would keep it busy for
 * hours.
 *
 *     hostile CASE    prints the number of loops, tasks and edges, and how the read ended
 *
 * The memory is an array with a table of offsets of its own. In each case, one kind of
 * list is as long as the reader's other limits allow, and as many tasks as possible refer
 * to it. tests/suites/ps/run checks that the reader ends.
 */
#include "../../../fuzz/made_tasks.h"
#include "../../../tools/coil-ps/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define BASE UINT64_C(0x100000)
#define BYTES ((size_t)16 << 20)
enum { SLOTS = 0x1000, LOOPS = 0xa000 };
#define TASKS UINT64_C(0x100000)
#define FUTURES UINT64_C(0x80000)

struct hostile {
    struct image image;
    unsigned char *memory;
};

static struct hostile hostile;
static struct table table = {.loops = BASE + SLOTS, .loop_count = 1};

static void put64(uint64_t offset, uint64_t value)
{
    made_put(hostile.memory + offset, value);
}

static bool read_memory(struct image *image, const struct piece *pieces, size_t count)
{
    (void)image;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = pieces[i].address - BASE;

        if (pieces[i].address < BASE || at > BYTES || pieces[i].bytes > BYTES - at)
            return false;
        memcpy(pieces[i].to, hostile.memory + at, pieces[i].bytes);
    }
    return true;
}

static void make(uint32_t count)
{
    for (size_t i = 0; i < sizeof made_rows / sizeof made_rows[0]; i++) {
        table.has[made_rows[i][0]] = true;
        table.values[made_rows[i][0]] = made_rows[i][1];
    }
    make_tasks(hostile.memory, BASE, TASKS, count);
    put64(SLOTS, BASE + MADE_LOOP);
}

/* Return the offset of a task. */
static uint64_t task_at(uint64_t index)
{
    return TASKS + index * MADE_TASK;
}

/* ---- cases ------------------------------------------------------------------------- */

#define MANY 20000

static void plain(void)
{
    make(1000);
}

/* Make all tasks owners and children of one group, which is nested in itself. */
static void groups(void)
{
    uint64_t group = task_at(0) + MADE_THE_REGION;

    make(MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        put64(task_at(i) + MADE_REGIONS, BASE + group);
        put64(task_at(i) + MADE_GROUP_LINK + 8,
              BASE + task_at((i + 1) % MANY) + MADE_GROUP_LINK);
    }
    put64(group, BASE + group); /* the group is its own outer region */
    put64(group + 8, 1);        /* a group */
    put64(group + 16 + 8, BASE + task_at(0) + MADE_GROUP_LINK);
}

/*
 * Make each task wait. Depending on `kind`, the futures are an array of `count` elements
 * at the address `first`, or a list whose head is at the address `count`.
 */
static void await(unsigned char kind, uint64_t first, uint64_t count)
{
    unsigned char *class = hostile.memory + MADE_CLASS;

    make(MANY);
    class[8] = kind;
    memcpy(class + 16, "\1\0\x20\0", 4); /* offsets in the wait: 32 and 40 */
    memcpy(class + 24, "\1\0\x28\0", 4);
    memcpy(class + 32, "\x08\0", 2);
    for (uint32_t i = 0; i < MANY; i++) {
        put64(task_at(i) + MADE_THE_WAIT + 32, first);
        put64(task_at(i) + MADE_THE_WAIT + 40, count);
    }
}

/* Make each task wait for an array of 2^40 futures. */
static void array(void)
{
    for (uint64_t at = FUTURES; at < TASKS; at += 8)
        put64(at, BASE + task_at((at - FUTURES) / 8 % MANY) + MADE_FUTURE);
    await(2, BASE + FUTURES, UINT64_C(1) << 40);
}

/* Make each task wait for a cyclic list of futures. */
static void list(void)
{
    put64(FUTURES, BASE + FUTURES);
    put64(FUTURES + 8, BASE + FUTURES);
    await(3, 0, BASE + FUTURES);
}

/* Make all slots of the table refer to one loop. */
static void slots(void)
{
    make(MANY);
    table.loop_count = 4096;
    for (uint64_t i = 0; i < table.loop_count; i++)
        put64(SLOTS + i * 8, BASE + MADE_LOOP);
}

/* Make each slot refer to a different loop. All loops share one scheduler. */
static void schedulers(void)
{
    make(MANY);
    table.loop_count = 4096;
    for (uint64_t i = 0; i < table.loop_count; i++) {
        put64(LOOPS + i * 32 + 16, BASE + MADE_SCHEDULER);
        put64(SLOTS + i * 8, BASE + LOOPS + i * 32);
    }
}

/* Make tasks overlap: a task begins at each multiple of 8. */
static void overlap(void)
{
    make(1);
    memset(hostile.memory + TASKS, 0, BYTES - TASKS);
    for (uint64_t at = TASKS; at + 8 <= BYTES; at += 8)
        put64(at, BASE + at + 8);
}

/* Give each task a stack that comprises nearly all of the memory. */
static void stacks(void)
{
    make(MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        put64(task_at(i), BASE);
        put64(task_at(i) + 8, BASE + BYTES);
        put64(task_at(i) + 16, BASE + 8);
    }
}

/* Make the list of tasks a cycle that does not contain the head of the list. */
static void cycle(void)
{
    make(MANY);
    put64(task_at(MANY - 1) + MADE_LINK + 8, BASE + task_at(0) + MADE_LINK);
}

static double cpu_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
}

int main(int argc, char *argv[])
{
    static const struct {
        const char *name;
        void (*make)(void);
    } cases[] = {{"plain", plain},     {"groups", groups}, {"array", array},
                 {"list", list},       {"slots", slots},   {"schedulers", schedulers},
                 {"overlap", overlap}, {"stacks", stacks}, {"cycle", cycle}};
    const struct snapshot_options options = {.monotonic = 1,
                                             .limit_ns = INT64_MAX}; /* steps only */
    struct snapshot s;

    hostile.memory = calloc(BYTES, 1);
    hostile.image = (struct image){.read = read_memory, .bytes = BYTES};
    if (argc != 3 || hostile.memory == NULL)
        return 2;
    hostile.image.is_constant = strcmp(argv[2], "stands") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].make();
    if (!snapshot_take(&hostile.image, &table, &options, &s) || !snapshot_finish(&s))
        return 1;
    printf("%zu loops, %zu tasks, %zu edges, %s, %.1f s\n", s.loop_count, s.task_count,
           s.edge_count, s.cut != NULL ? s.cut : "whole", cpu_seconds());
    snapshot_free(&s);
    free(hostile.memory);
    return 0;
}
