/*
 * wait.h - a wait: what a task waits for, and how it is completed or cancelled.
 *
 * Everything that suspends a task uses a wait: futures, timers, locks, I/O. asyncio uses
 * a private Future instead. Completing a wait appends the task to the ready queue.
 *
 *     static const struct coil__wait_class class = {.what = "lock"};
 *
 *     struct coil__wait w;
 *     coil__wait_init(&w, &class);
 *     ... give &w to the code that will call coil__wait_complete(&w, rc) ...
 *     rc = coil__wait_park(&w);
 *     ... make sure that no other code has &w any more ...
 *
 * A wait is usually in a frame on the task's stack, where it can have any size.
 * coil__wait_in_room() (in task.h) instead uses memory in the task's control block, the
 * task's room. During such a wait, coil keeps no pointer into the task's stack, so the
 * stack may be swapped out.
 */
#ifndef COIL_TASK_WAIT_H
#define COIL_TASK_WAIT_H

#include "../loop/operation.h"
#include "../loop/timer.h"

#include <coil/task.h>

struct coil__wait;

/* The description of a wait in reports: a part of coil_waiting. */
struct coil__waited {
    const char *what;
    const void *object; /* for example a lock; or NULL */
    int64_t deadline;   /* or COIL_NEVER */
    int fd;             /* or -1 */
};

/*
 * The location of a value, relative to the wait. With one step, at[0] is the offset of
 * the value. With two steps, at[0] is the offset of a pointer to a struct, and at[1] is
 * the offset of the value in that struct. Tools read these paths in the memory of another
 * process: see coro/outside.h.
 */
struct coil__wait_path {
    uint8_t steps; /* the number of offsets; 0: the value is absent */
    int16_t at[2];
};

/* Convert an offset to int16_t. Does not compile if the offset is too large. */
#define COIL__WAIT_OFFSET(n)                                                             \
    (int16_t)((n) + 0 * (int)sizeof(char[(n) == (int16_t)(n) ? 1 : -1]))

/* The path to a member of `type`, whose member `wait` is the wait. */
#define COIL__WAIT_AT(type, member)                                                      \
    {                                                                                    \
        1,                                                                               \
        {                                                                                \
            COIL__WAIT_OFFSET((intptr_t)offsetof(type, member) -                         \
                              (intptr_t)offsetof(type, wait))                            \
        }                                                                                \
    }

/* The path to `member2` of the struct to which `member` points. */
#define COIL__WAIT_BEHIND(type, member, type2, member2)                                  \
    {                                                                                    \
        2,                                                                               \
        {                                                                                \
            COIL__WAIT_OFFSET((intptr_t)offsetof(type, member) -                         \
                              (intptr_t)offsetof(type, wait)),                           \
                COIL__WAIT_OFFSET((intptr_t)offsetof(type2, member2))                    \
        }                                                                                \
    }

enum coil__wait_futures_kind {
    COIL__WAIT_NO_FUTURES,
    COIL__WAIT_ONE,   /* `first` is the path to a pointer to the future */
    COIL__WAIT_ARRAY, /* `first` is the path to a pointer to the items */
    COIL__WAIT_LIST,  /* `first` is the path to the list; an item begins with its link */
    /*
     * The children of a group; `first` is the path to a pointer to the group. The group's
     * callback handles the end of a child, so the wait does not await the children.
     */
    COIL__WAIT_CHILDREN
};

/* The futures that a wait awaits. */
struct coil__wait_futures {
    uint8_t kind;
    struct coil__wait_path first;
    struct coil__wait_path count; /* array: path to the number of items, a size_t */
    uint16_t item_bytes;          /* array: size of an item */
    uint16_t pointer;             /* array or list: offset of the pointer in an item */
    uint16_t future;              /* offset of the future behind that pointer */
};

/*
 * A kind of wait. A wait stores only a pointer to its class, which contains the locations
 * of the data that reports show.
 */
struct coil__wait_class {
    const char *what; /* for users: "sleep", "queue.get"; NULL: see `what_at` */
    /* The name of the function that waits, for the message if no task runs. NULL: the
       name is "coil_" followed by `what`. */
    const char *call;
    /*
     * Called when the task is cancelled while this wait is incomplete. Return true if the
     * wait completes now or will complete soon. Return false to continue the wait: the
     * cancellation is delivered at the next wait that can be cancelled. NULL: the wait
     * completes with -ECANCELED.
     */
    bool (*cancel)(struct coil__wait *wait);
    struct coil__wait_path what_at;  /* const char * */
    struct coil__wait_path object;   /* a pointer, such as to a lock or a queue */
    struct coil__wait_path fd;       /* int; -1: none */
    struct coil__wait_path deadline; /* int64_t */
    struct coil__wait_path timer;    /* struct coil__timer, in place of `deadline` */
    struct coil__wait_path job;      /* struct coil__job *, of an executor */
    struct coil__wait_futures futures;
};

struct coil__wait {
    coil_task *task;
    const struct coil__wait_class *class;
    int64_t since;     /* the loop's time when the wait began */
    const int *source; /* points to the result if a future completes the wait; NULL if
                          coil__wait_complete() does */
    int rc;
    bool done;
    bool parked;
    bool cancelled; /* a cancellation ended the wait, which happens only if class->cancel
                       is NULL; like asyncio's fut.cancelled() */
    /*
     * True for operations that cannot be undone (I/O, executor jobs). If the task is
     * cancelled after the wait was completed, the wait returns its result, and the next
     * wait delivers the cancellation.
     */
    bool keeps_result;
};

/*
 * The wait of a sleeping task. The timer is in the loop's heap of timers.
 */
struct coil__sleeper {
    struct coil__wait wait;
    struct coil__timer timer;
};

/* The wait of a task in a queue of waiters: see sync/waiters.h. */
struct coil__waiter {
    struct coil__wait wait;
    const void *object; /* the owner of the queue of waiters, such as a lock */
    struct coil__waiter *prev, *next;
    bool listed;
};

/* A wait for an operation that is not stored on the task's stack: see io/op.h. */
struct coil__op_waiter {
    struct coil__wait wait;
    struct coil__op *op;
};

/*
 * A task's room: the memory for one wait in its control block. A task has only one wait
 * at a time, so the contents of the room are valid until the task's next wait begins.
 */
union coil__room {
    struct coil__wait wait; /* the first member of the other structs */
    struct coil__sleeper sleeper;
    struct coil__waiter waiter;
    struct coil__op_waiter op_waiter;
};

/*
 * Return the name of the public function that uses this class. `text` is a buffer for the
 * name.
 */
#define COIL__WAIT_CALL_BYTES 64
const char *coil__wait_call(const struct coil__wait_class *class,
                            char text[COIL__WAIT_CALL_BYTES]);

/* Begin a wait. `task` is the running task. */
static inline void coil__wait_begin(struct coil__wait *wait, coil_task *task,
                                    const struct coil__wait_class *class)
{
    wait->task = task;
    /*
     * Prevent gcc from storing both members with one vector instruction: the processor
     * cannot forward such a store to coil__wait_park(), which loads one member.
     */
    COIL__FORGET(wait);
    wait->class = class;
    wait->rc = -EINPROGRESS;
    wait->source = NULL;
    wait->done = wait->parked = wait->cancelled = wait->keeps_result = false;
}

/* Abort because no task runs. The message names the function of the class. */
COIL__NORETURN void coil__wait_without_task(const struct coil__wait_class *class);

/* Begin a wait of the running task. Aborts if no task runs. */
void coil__wait_init(struct coil__wait *wait, const struct coil__wait_class *class);

/*
 * Suspend until the wait is complete. If the wait is already complete, return at once.
 * Returns the rc of the wait, or -ECANCELED if the task was cancelled.
 */
int coil__wait_park(struct coil__wait *wait);

/*
 * Suspend until coil__wait_complete_by() is called for the operation. Returns the
 * operation's result, even if the task was cancelled.
 */
ssize_t coil__wait_park_for(struct coil__wait *wait, const struct coil__op *op);

/* Cancel the wait because its task is cancelled. Returns true if the wait completes
   now or will complete soon. */
bool coil__wait_cancel(struct coil__wait *wait);

/*
 * The `cancel` function of a class calls coil__wait_branch() to cancel the wait's futures
 * too: coil__wait_future(wait, 0), 1, and so on. The futures are cancelled after `cancel`
 * has returned. The branch must be initially zero, and in the same frame as the wait. See
 * cancel.c.
 */
struct coil__branch {
    struct coil__branch *outer;
    const struct coil__wait *wait;
    size_t next;
    bool open;
};

void coil__wait_branch(struct coil__wait *wait, struct coil__branch *branch);

/*
 * If the wait is a coil_await() of a pending task, return that task; otherwise return
 * NULL.
 */
coil_task *coil__wait_awaited(const struct coil__wait *wait);

/*
 * Complete the wait. Returns false if the wait was already complete. Aborts if called on
 * a thread other than the loop's, with a message that names `caller`, a public function.
 */
bool coil__wait_complete_for(struct coil__wait *wait, int rc, const char *caller);

/*
 * Like coil__wait_complete_for(), but without the check: for code that runs only on the
 * loop's thread, or that has checked the thread.
 */
static inline bool coil__wait_complete(struct coil__wait *wait, int rc)
{
    return coil__wait_complete_for(wait, rc, "waking a task");
}

/*
 * The `complete` function of operations whose owner is a parked wait. The result stays in
 * the operation.
 */
void coil__wait_complete_by(struct coil__op *op);

struct coil__waited coil__wait_describe(const struct coil__wait *wait);

/* Return the i-th future that the wait awaits, or NULL after the last. */
coil_future *coil__wait_future(const struct coil__wait *wait, size_t i);

/* Return the pointer at the end of the path, or NULL. */
void *coil__wait_pointer(const struct coil__wait *wait,
                         const struct coil__wait_path *path);

#endif
