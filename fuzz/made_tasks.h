/*
 * made_tasks.h - fills memory with tasks that coil-ps can read, without running a loop.
 *
 * The memory has its own table of offsets. A task takes MADE_TASK bytes: its control
 * block, its wait, and space for a region.
 */
#ifndef FUZZ_MADE_TASKS_H
#define FUZZ_MADE_TASKS_H

#include "../src/coro/outside_keys.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MADE_TASK 512u

/* offsets of members from the beginning of a task */
enum {
    MADE_LINK = 96,
    MADE_STEP_LINK = 112,
    MADE_LEAF = 128,
    MADE_WAIT = 136,
    MADE_FLAGS = 144,
    MADE_STEPS = 146,
    MADE_FUTURE = 152,
    MADE_NAME = 160,
    MADE_REGIONS = 176,
    MADE_GROUP_LINK = 184,
    MADE_BLOCK = 256, /* size of the control block in bytes */
    MADE_THE_WAIT = 256,
    MADE_THE_REGION = 320
};

/* offsets of the other objects from the beginning of the memory */
enum { MADE_LOOP = 0x600, MADE_SCHEDULER = 0x700, MADE_CLASS = 0x800, MADE_TEXT = 0x880 };

/* Keys and values. */
static const uint16_t made_rows[][2] = {
    {COIL__AT_STACK_LOW, 0},
    {COIL__AT_STACK_HIGH, 8},
    {COIL__AT_CORO_SP, 16},
    {COIL__AT_CORO_CALLER, 24},
    {COIL__AT_CORO_CLASS, 32},
    {COIL__AT_CORO_NUMBER, 40},
    {COIL__AT_LOOP_PID, 0},
    {COIL__AT_LOOP_THREAD, 4},
    {COIL__AT_LOOP_NUMBER, 8},
    {COIL__AT_LOOP_SCHEDULER, 16},
    {COIL__AT_LOOP_CLOCK_READ, 24},
    {COIL__AT_SCHEDULER_CURRENT, 0},
    {COIL__AT_SCHEDULER_TASKS, 8},
    {COIL__AT_LIST_NEXT, 8},
    {COIL__TASK_BYTES, MADE_BLOCK},
    {COIL__AT_TASK_CORO, 0},
    {COIL__AT_TASK_LINK, MADE_LINK},
    {COIL__AT_TASK_STEP_LINK, MADE_STEP_LINK},
    {COIL__AT_TASK_LEAF, MADE_LEAF},
    {COIL__AT_TASK_WAIT, MADE_WAIT},
    {COIL__AT_TASK_FLAGS, MADE_FLAGS},
    {COIL__TASK_IS_STARTED, 1},
    {COIL__AT_TASK_STEPS, MADE_STEPS},
    {COIL__AT_TASK_FUTURE, MADE_FUTURE},
    {COIL__AT_TASK_NAME, MADE_NAME},
    {COIL__AT_TASK_REGIONS, MADE_REGIONS},
    {COIL__AT_TASK_GROUP_LINK, MADE_GROUP_LINK},
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
    {COIL__AT_REGION_OUTER, 0},
    {COIL__AT_REGION_KIND, 8},
    {COIL__REGION_IS_GROUP, 1},
    {COIL__AT_GROUP_REGION, 0},
    {COIL__AT_GROUP_CHILDREN, 16},
};

static inline void made_put(unsigned char *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Make a waiting task at `offset`. `next` is the address of the next task's link. */
static inline void make_task(unsigned char *memory, uint64_t base, uint64_t offset,
                             uint32_t number, uint64_t next)
{
    unsigned char *task = memory + offset;
    uint64_t address = base + offset;
    const int32_t pending = -EINPROGRESS;

    made_put(task, address + MADE_TASK - 64); /* the bounds of the task's stack */
    made_put(task + 8, address + MADE_TASK);
    made_put(task + 16, address + MADE_TASK - 32);
    memcpy(task + 40, &number, sizeof number);
    made_put(task + MADE_LINK + 8, next);
    made_put(task + MADE_LEAF, address);
    made_put(task + MADE_WAIT, address + MADE_THE_WAIT);
    memcpy(task + MADE_FLAGS, "\1", 1);
    memcpy(task + MADE_FUTURE, &pending, sizeof pending);
    memcpy(task + MADE_NAME, "made", 5);
    made_put(task + MADE_THE_WAIT, base + MADE_CLASS);
}

/* Make a loop with tasks. The first task is at the offset `tasks`. */
static inline void make_tasks(unsigned char *memory, uint64_t base, uint64_t tasks,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = tasks + (uint64_t)i * MADE_TASK;

        make_task(memory, base, offset, i + 1,
                  i + 1 < count ? base + offset + MADE_TASK + MADE_LINK
                                : base + MADE_SCHEDULER + 8);
    }
    made_put(memory + MADE_SCHEDULER + 8 + 8, base + tasks + MADE_LINK);
    made_put(memory + MADE_CLASS, base + MADE_TEXT);
    memcpy(memory + MADE_TEXT, "made by hand", 13);
    made_put(memory + MADE_LOOP + 16, base + MADE_SCHEDULER);
}

#endif
