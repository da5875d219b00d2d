/*
 * hostile.c - reads memory that was made to keep coil-ps busy, and checks that it ends.
 *
 *     hostile CASE    prints the number of loops, tasks and edges, and how the read ended
 *
 * The memory is an array, with a table of offsets of its own. Each list in it is as long
 * as the reader's other limits allow, and is named by as many tasks as possible.
 */
#include "../../../tools/coil-ps/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BASE UINT64_C(0x100000)
#define BYTES ((size_t)16 << 20)
#define TASK 512u /* bytes of a task, with its wait and its region */

/* Offsets in a task. */
enum {
    CORO = 0,
    LINK = 96,
    STEP_LINK = 112,
    LEAF = 128,
    WAIT = 136,
    FLAGS = 144,
    STEPS = 146,
    FUTURE = 152,
    NAME = 160,
    REGIONS = 176,
    GROUP_LINK = 184,
    BLOCK = 256, /* bytes of the control block */
    THE_WAIT = 256,
    THE_REGION = 320,
    THE_GROUP = 320
};

/* Addresses of the other objects. */
enum { LOOP = 0x100, SCHEDULER = 0x200, CLASS = 0x300, WORDS = 0x400, SLOTS = 0x1000 };
#define TASKS UINT64_C(0x100000)
#define FUTURES UINT64_C(0x80000)

struct hostile {
    struct image image;
    unsigned char *memory;
};

static struct hostile hostile;
static struct table table = {.loops = BASE + SLOTS, .loop_count = 1};

static void put(uint64_t offset, const void *from, size_t bytes)
{
    memcpy(hostile.memory + offset, from, bytes);
}

static void put64(uint64_t offset, uint64_t value)
{
    put(offset, &value, sizeof value);
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

static void set_row(enum coil__outside_key key, uint16_t value)
{
    table.has[key] = true;
    table.values[key] = value;
}

static void set_rows(void)
{
    static const uint16_t rows[][2] = {
        {COIL__AT_STACK_LOW, 0},
        {COIL__AT_STACK_HIGH, 8},
        {COIL__AT_CORO_SP, 16},
        {COIL__AT_CORO_CALLER, 24},
        {COIL__AT_CORO_CLASS, 32},
        {COIL__AT_CORO_NUMBER, 40},
        {COIL__AT_CORO_DONE, 44},
        {COIL__AT_LOOP_PID, 0},
        {COIL__AT_LOOP_THREAD, 4},
        {COIL__AT_LOOP_NUMBER, 8},
        {COIL__AT_LOOP_SCHEDULER, 16},
        {COIL__AT_LOOP_CLOCK_READ, 24},
        {COIL__AT_SCHEDULER_CURRENT, 0},
        {COIL__AT_SCHEDULER_TASKS, 8},
        {COIL__AT_LIST_NEXT, 8},
        {COIL__TASK_BYTES, BLOCK},
        {COIL__AT_TASK_CORO, CORO},
        {COIL__AT_TASK_LINK, LINK},
        {COIL__AT_TASK_STEP_LINK, STEP_LINK},
        {COIL__AT_TASK_LEAF, LEAF},
        {COIL__AT_TASK_WAIT, WAIT},
        {COIL__AT_TASK_FLAGS, FLAGS},
        {COIL__TASK_IS_STARTED, 1},
        {COIL__AT_TASK_STEPS, STEPS},
        {COIL__AT_TASK_FUTURE, FUTURE},
        {COIL__AT_TASK_NAME, NAME},
        {COIL__AT_FUTURE_RC, 0},
        {COIL__NAME_BYTES_IN_PLACE, 16},
        {COIL__NAME_IS_SHARED, 1},
        {COIL__NAME_IS_NUMBER, 2},
        {COIL__AT_WAIT_CLASS, 0},
        {COIL__AT_WAIT_SINCE, 8},
        {COIL__AT_WAIT_SOURCE, 16},
        {COIL__AT_WAIT_DONE, 24},
        {COIL__AT_CLASS_WHAT, 0},
        {COIL__CLASS_BYTES, 64},
        {COIL__AT_PATH_OFFSETS, 2},
        {COIL__AT_CLASS_FUTURES_KIND, 8},
        {COIL__AT_CLASS_FUTURES_FIRST, 16},
        {COIL__AT_CLASS_FUTURES_COUNT, 24},
        {COIL__AT_CLASS_FUTURES_ITEM_BYTES, 32},
        {COIL__AT_CLASS_FUTURES_POINTER, 34},
        {COIL__AT_CLASS_FUTURES_FUTURE, 36},
        {COIL__FUTURES_ARE_ONE, 1},
        {COIL__FUTURES_ARE_ARRAY, 2},
        {COIL__FUTURES_ARE_LIST, 3},
        {COIL__FUTURES_ARE_CHILDREN, 4},
        {COIL__AT_TASK_REGIONS, REGIONS},
        {COIL__AT_TASK_GROUP_LINK, GROUP_LINK},
        {COIL__AT_REGION_OUTER, 0},
        {COIL__AT_REGION_KIND, 8},
        {COIL__REGION_IS_GROUP, 1},
        {COIL__AT_GROUP_REGION, 0},
        {COIL__AT_GROUP_CHILDREN, 16},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        set_row((enum coil__outside_key)rows[i][0], rows[i][1]);
}

static void make_loop(uint64_t offset)
{
    put64(offset + 16, BASE + SCHEDULER);
}

/* Make a task that waits, has ended never, and follows the task before it. */
static void make_task(uint64_t at, uint32_t number, uint64_t next)
{
    const int32_t pending = -EINPROGRESS;

    put64(at + CORO + 0, BASE + at + TASK - 64);
    put64(at + CORO + 8, BASE + at + TASK);
    put64(at + CORO + 16, BASE + at + TASK - 32); /* its stack pointer */
    put(at + CORO + 40, &number, sizeof number);
    put64(at + LINK + 8, next);
    put64(at + LEAF, BASE + at + CORO);
    put64(at + WAIT, BASE + at + THE_WAIT);
    put(at + FLAGS, "\1", 1);
    put(at + FUTURE, &pending, sizeof pending);
    put(at + NAME, "hostile", 8);
    put64(at + THE_WAIT, BASE + CLASS);
}

static void make_tasks(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        make_task(TASKS + (uint64_t)i * TASK, i + 1,
                  i + 1 < count ? BASE + TASKS + (uint64_t)(i + 1) * TASK + LINK
                                : BASE + SCHEDULER + 8);
    put64(SCHEDULER + 8 + 8, BASE + TASKS + LINK);
    put64(CLASS, BASE + WORDS);
    put(WORDS, "words", 6);
    make_loop(LOOP);
    put64(SLOTS, BASE + LOOP);
}

/* ---- cases ------------------------------------------------------------------------- */

static void plain(void)
{
    make_tasks(1000);
}

/* Each task has the same groups, of which each contains all tasks. */
static void groups(void)
{
    uint32_t count = 20000;

    make_tasks(count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = TASKS + (uint64_t)i * TASK;

        put64(at + REGIONS, BASE + TASKS + THE_REGION);
        put64(at + GROUP_LINK + 8,
              BASE + TASKS + (uint64_t)((i + 1) % count) * TASK + GROUP_LINK);
    }
    put64(TASKS + THE_REGION, BASE + TASKS + THE_REGION); /* its own outer region */
    put(TASKS + THE_REGION + 8, "\1", 1);
    put64(TASKS + THE_GROUP + 16 + 8, BASE + TASKS + GROUP_LINK);
}

/* Each task waits for an array of 2^40 futures, or of a list without an end. */
static void futures(char kind, uint64_t what)
{
    make_tasks(20000);
    put(CLASS + 8, &kind, 1);
    put(CLASS + 16, "\1\0\x20\0", 4); /* the first: at wait + 32 */
    put(CLASS + 24, "\1\0\x28\0", 4);
    put(CLASS + 32, "\x08\0", 2);
    for (uint32_t i = 0; i < 20000; i++) {
        put64(TASKS + (uint64_t)i * TASK + THE_WAIT + 32, what);
        put64(TASKS + (uint64_t)i * TASK + THE_WAIT + 40, UINT64_C(1) << 40);
    }
}

static void array(void)
{
    for (uint64_t at = FUTURES; at < TASKS; at += 8)
        put64(at, BASE + TASKS + (at - FUTURES) / 8 % 20000 * TASK + FUTURE);
    futures(2, BASE + FUTURES);
}

static void list(void)
{
    put64(FUTURES, BASE + FUTURES); /* `pointer` is 0: the future is the link itself */
    put64(FUTURES + 8, BASE + FUTURES);
    futures(3, BASE + FUTURES + 64);
    for (uint32_t i = 0; i < 20000; i++)
        put64(TASKS + (uint64_t)i * TASK + THE_WAIT + 40, BASE + FUTURES);
}

/* All slots name one loop, and then loops with one scheduler. */
static void slots(void)
{
    make_tasks(20000);
    table.loop_count = 65536;
    for (uint64_t i = 0; i < table.loop_count; i++)
        put64(SLOTS + i * 8, BASE + LOOP);
}

static void schedulers(void)
{
    make_tasks(20000);
    table.loop_count = 4096;
    for (uint64_t i = 0; i < table.loop_count; i++) {
        make_loop(0xa000 + i * 32);
        put64(SLOTS + i * 8, BASE + 0xa000 + i * 32);
    }
}

/* Tasks overlap: one begins at each multiple of 8. */
static void overlap(void)
{
    make_tasks(1);
    memset(hostile.memory + TASKS, 0, BYTES - TASKS);
    for (uint64_t at = TASKS; at + 8 <= BYTES; at += 8)
        put64(at, BASE + at + 8);
}

/* Each task has the largest stack that is copied, which is nearly all of the memory. */
static void stacks(void)
{
    make_tasks(20000);
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t at = TASKS + (uint64_t)i * TASK;

        put64(at + CORO + 0, BASE);
        put64(at + CORO + 8, BASE + BYTES);
        put64(at + CORO + 16, BASE + 8);
    }
}

/* Each task has 2^62 tasks after it in the list, in a cycle that does not contain the
   head. */
static void cycle(void)
{
    make_tasks(20000);
    put64(TASKS + 19999 * TASK + LINK + 8, BASE + TASKS + LINK);
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
    const struct circumstances circumstances = {.monotonic = 1,
                                                .limit_ns = INT64_MAX}; /* steps only */
    struct snapshot s;

    hostile.memory = calloc(BYTES, 1);
    hostile.image = (struct image){.read = read_memory, .bytes = BYTES};
    if (argc != 3 || hostile.memory == NULL)
        return 2;
    hostile.image.stands = strcmp(argv[2], "stands") == 0;
    set_rows();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].make();
    if (!snapshot_take(&hostile.image, &table, &circumstances, &s))
        return 1;
    printf("%zu loops, %zu tasks, %zu edges, %s, %.1f s\n", s.loop_count, s.task_count,
           s.edge_count, s.cut != NULL ? s.cut : "whole", cpu_seconds());
    snapshot_free(&s);
    free(hostile.memory);
    return 0;
}
