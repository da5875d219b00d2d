/*
 * outside_keys.h - the keys of the rows in outside.h. Tools include this file.
 *
 * The meaning of a number never changes: new keys are appended to a group. Keys with AT
 * in their names are offsets of members. These numbers belonged to keys that no tool
 * used, and are not used again: 10, 22, 26, 47 to 50, 62 to 64, 89, 96, 111, 125, 144,
 * and 175.
 */
#ifndef COIL_CORO_OUTSIDE_KEYS_H
#define COIL_CORO_OUTSIDE_KEYS_H

enum coil__outside_key {
    /* struct coil__stack, the first member of a coroutine */
    COIL__AT_STACK_LOW = 1,
    COIL__AT_STACK_HIGH = 2,
    COIL__AT_STACK_SIZE_CLASS = 3,   /* 1 byte: log2 of the size, and a flag */
    COIL__AT_STACK_STATE = 4,        /* 1 byte */
    COIL__AT_STACK_STORED_STEPS = 5, /* 1 byte */
    COIL__AT_STACK_CELL = 6,
    COIL__STACK_IS_LIGHT = 7,   /* the flag in the size class */
    COIL__STACK_IS_STORED = 8,  /* the state of a light stack that is swapped out */
    COIL__STACK_STEP_BYTES = 9, /* the unit of `stored_steps` */

    /* struct coil__coro, and its class */
    COIL__AT_CORO_SP = 20,
    COIL__AT_CORO_CALLER = 21,
    COIL__AT_CORO_NUMBER = 23, /* 4 bytes */
    COIL__AT_CORO_CLASS = 24,
    COIL__AT_CORO_CLASS_KIND = 25, /* 4 bytes */
    COIL__CORO_IS_GENERATOR = 27,

    /* struct coil_gen */
    COIL__AT_GEN_CORO = 30,
    COIL__AT_GEN_DELEGATOR = 31,
    COIL__AT_GEN_ENTRY = 32,

    /* struct coil_loop */
    COIL__AT_LOOP_PID = 40,        /* 4 bytes */
    COIL__AT_LOOP_THREAD = 41,     /* 4 bytes: the kernel's id of the loop's thread */
    COIL__AT_LOOP_NUMBER = 42,     /* 4 bytes */
    COIL__AT_LOOP_SCHEDULER = 43,  /* NULL if no task was spawned */
    COIL__AT_LOOP_CLOCK_READ = 44, /* 8 bytes: last reading of CLOCK_MONOTONIC, in ns */
    COIL__AT_LOOP_IS_VIRTUAL = 45, /* 1 byte: true if the clock is virtual */
    COIL__AT_LOOP_VIRTUAL_NOW = 46,
    COIL__AT_LOOP_CORO_THREAD = 51,
    COIL__AT_CORO_THREAD_RUNNING = 52, /* the coroutine that runs on the thread */

    COIL__AT_LOOP_TRACE = 53, /* NULL: the loop is not traced */

    /* struct coil__scheduler */
    COIL__AT_SCHEDULER_CURRENT = 60,
    COIL__AT_SCHEDULER_TASKS = 61, /* a list of tasks, linked by COIL__AT_TASK_LINK */

    /* a list: struct coil__list */
    COIL__AT_LIST_NEXT = 70,

    /* struct coil_task */
    COIL__TASK_BYTES = 80,
    COIL__AT_TASK_CORO = 81,
    COIL__AT_TASK_FN = 82,
    COIL__AT_TASK_LINK = 83,
    COIL__AT_TASK_STEP_LINK = 84,
    COIL__AT_TASK_LEAF = 85,
    COIL__AT_TASK_WAIT = 86,
    COIL__AT_TASK_FLAGS = 87,   /* 1 byte */
    COIL__TASK_IS_STARTED = 88, /* in the flags */
    COIL__AT_TASK_STEPS = 90,   /* 2 bytes */
    COIL__AT_TASK_FUTURE = 91,
    COIL__AT_TASK_NAME = 92,
    COIL__AT_TASK_SPAWNED_AT = 93,
    COIL__AT_TASK_SPAWNED_BY = 94, /* 4 bytes: a task's number, or 0 */
    COIL__AT_TASK_REGIONS = 95,
    COIL__AT_TASK_GROUP_LINK = 97,
    COIL__AT_TASK_CANCELLING = 98, /* 4 bytes */

    /* struct coil_future */
    COIL__AT_FUTURE_RC = 110, /* 4 bytes: -EINPROGRESS while pending */

    /* struct coil__name */
    COIL__NAME_BYTES_IN_PLACE = 120, /* the last byte is the kind */
    COIL__NAME_IS_SHARED = 121,      /* kind of a name that is stored in another struct */
    COIL__NAME_IS_NUMBER = 122,      /* kind of a name that is "task-" and a number */
    COIL__AT_NAME_SHARED = 123,
    COIL__AT_NAME_SHARED_TEXT = 124,
    COIL__AT_NAME_NUMBER = 126, /* 7 bytes, before the kind */

    /* struct coil__wait, and its class */
    COIL__AT_WAIT_CLASS = 140,
    COIL__AT_WAIT_SINCE = 141,
    COIL__AT_WAIT_SOURCE = 142,
    COIL__AT_WAIT_DONE = 143,  /* 1 byte */
    COIL__AT_CLASS_WHAT = 145, /* NULL: see the path below */
    COIL__CLASS_BYTES = 146,

    /*
     * The paths in the class, each of which leads to a value. A path consists of the
     * number of offsets (1 byte) and two signed offsets of 2 bytes each. The first offset
     * is relative to the wait. The second is relative to the struct to which the pointer
     * at the first offset points.
     */
    COIL__AT_CLASS_WHAT_PATH = 147,    /* to a char * */
    COIL__AT_CLASS_OBJECT = 148,       /* to a pointer */
    COIL__AT_CLASS_FD = 149,           /* to a descriptor (4 bytes), or -1 */
    COIL__AT_CLASS_DEADLINE = 150,     /* to a time of the loop's clock (8 bytes) */
    COIL__AT_CLASS_TIMER = 151,        /* to a timer */
    COIL__AT_CLASS_JOB = 152,          /* to a pointer to a job */
    COIL__AT_CLASS_FUTURES_KIND = 153, /* 1 byte */
    COIL__AT_CLASS_FUTURES_FIRST = 154,
    COIL__AT_CLASS_FUTURES_COUNT = 155,
    COIL__AT_CLASS_FUTURES_ITEM_BYTES = 156, /* 2 bytes, like the next two */
    COIL__AT_CLASS_FUTURES_POINTER = 157,
    COIL__AT_CLASS_FUTURES_FUTURE = 158,
    COIL__FUTURES_ARE_ONE = 159, /* kinds: see task/wait.h */
    COIL__FUTURES_ARE_ARRAY = 160,
    COIL__FUTURES_ARE_LIST = 161,
    COIL__FUTURES_ARE_CHILDREN = 162,
    COIL__AT_PATH_OFFSETS = 163,

    /* a timer, and the loop's heap of timers: an array of entries, counted from 1 */
    COIL__AT_TIMER_PLACE = 164,
    COIL__AT_LOOP_TIMERS = 165,
    COIL__AT_LOOP_TIMER_COUNT = 166,
    COIL__TIMER_ENTRY_BYTES = 167,
    COIL__AT_TIMER_ENTRY_WHEN = 168,

    /* struct coil__region, and the struct of a group */
    COIL__AT_REGION_OUTER = 170,
    COIL__AT_REGION_KIND = 171, /* 2 bytes */
    COIL__REGION_IS_GROUP = 172,
    COIL__AT_GROUP_REGION = 173,
    COIL__AT_GROUP_CHILDREN = 174, /* tasks, linked by COIL__AT_TASK_GROUP_LINK */

    /* coil_lock */
    COIL__AT_LOCK_LOCKED = 190, /* 1 byte */
    COIL__AT_LOCK_OWNER = 191,  /* 4 bytes: a task's number, or 0 */

    /* struct coil__job, of an executor */
    COIL__AT_JOB_THREAD = 201, /* 4 bytes: the kernel's thread id, or 0 while queued */

    /* struct coil__trace, a ring of records: loop/trace_record.h */
    COIL__AT_TRACE_COUNT = 210, /* 8 bytes: number of records written so far */
    COIL__AT_TRACE_MASK = 211,  /* 8 bytes: number of records in the ring, minus 1 */
    COIL__AT_TRACE_CLOCK = 212,
    COIL__AT_TRACE_RECORDS = 213,
    COIL__TRACE_RECORD_BYTES = 214,
};

#endif
