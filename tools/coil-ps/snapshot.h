/*
 * snapshot.h - reads the tasks of an image: what each task waits for, since when, and
 * which tasks it awaits.
 *
 * The process may run while a task is copied. A copy is accepted only if the task did not
 * run in the meantime: docs/design/ps.md. The image is not trusted: reading has a budget,
 * and each address is checked.
 */
#ifndef COIL_PS_SNAPSHOT_H
#define COIL_PS_SNAPSHOT_H

#include "table.h"

#define NONE UINT32_MAX

/*
 * This bit marks an edge from a group's owner to a task in the group. The owner may be
 * waiting for something else.
 */
#define EDGE_IS_MEMBER (UINT32_C(1) << 31)

enum task_state {
    TASK_WAITS,
    TASK_IS_READY,
    TASK_RUNS,
    TASK_HAS_STARTED_ANOTHER,
    TASK_HAS_NOT_BEGUN,
    TASK_HAS_ENDED,
    TASK_CHANGES,      /* the task ran during each attempt to copy it */
    TASK_IS_INCOMPLETE /* a part of the task's memory is unreadable */
};

struct task {
    uint64_t address;
    uint32_t number;
    uint32_t spawned_by; /* number of the parent task, or 0 */
    uint32_t loop;       /* index in snapshot.loops */
    enum task_state state;
    char name[32];
    const char *what; /* description of the wait; owned by the snapshot */
    uint64_t fn, spawned_at;
    uint64_t object;
    int64_t since, deadline; /* INT64_MAX: none */
    int fd;                  /* or -1 */
    uint32_t cancelling;
    uint32_t job_thread; /* ID of the thread that runs the task's job, or 0 */
    bool is_job;         /* the task waits for an executor's job */
    bool is_stored;      /* the task's stack is swapped out */
    uint32_t lock_owner; /* number of the task that holds the lock, or 0 */
    uint32_t stored_bytes;
    uint16_t steps;
    uint64_t future;            /* first pending future that is not a task, or 0 */
    uint32_t first_pending;     /* index of the first awaited pending task, or NONE */
    uint32_t edges, edge_count; /* range in snapshot.edges */
    uint32_t stack;             /* number returned by on_stack, or NONE */
};

struct loop {
    uint64_t address, scheduler;
    uint32_t number;
    int pid, thread;
    int64_t now; /* virtual time if is_virtual, else monotonic time */
    bool is_virtual;
    const char *partial;        /* why some tasks are missing, or NULL */
    struct registers registers; /* registers of the loop's thread, if it is stopped */
    size_t tasks, task_count;   /* range in snapshot.tasks */
};

/* A stack of a suspended task: the task's own stack, or a generator's. */
struct coroutine {
    uint64_t sp, low, high;
    bool runs; /* running: the registers are in the thread, not on the stack */
};

#define COROUTINES_MAX 64

/* Copies of parts of the image, which are read instead of the image. */
struct copies {
    struct image *image;
    const struct registers *registers; /* registers of the loop's thread */
    struct piece pieces[COROUTINES_MAX + 2];
    size_t count;
};

/* Read memory from the copies if they contain this memory, else from the image. */
bool copies_read(const struct copies *copies, uint64_t address, void *to, size_t bytes);

/*
 * Called for each task whose stacks were copied. Returns a number that identifies the
 * stack, or NONE.
 */
typedef uint32_t stack_fn(void *arg, const struct task *task,
                          const struct coroutine *coroutines, size_t count,
                          const struct copies *copies);

/* facts about the process, and callbacks, for snapshot_take() */
struct snapshot_options {
    int pid;            /* PID in the process's own namespace, or 0 if unknown */
    int64_t limit_ns;   /* maximum duration of reading */
    int64_t monotonic;  /* current time if the process is alive, or 0 */
    stack_fn *on_stack; /* or NULL */
    bool unwinds_later; /* call on_stack in snapshot_finish(), not at once */
    void *on_stack_arg;
    /*
     * Called after each task; may be NULL. Returns true if the function has let the
     * process run for a while.
     */
    bool (*after_task)(void *arg);
    void *after_task_arg;
};

struct snapshot {
    struct image *image;
    const struct table *table;
    const struct snapshot_options *options;
    struct loop *loops;
    size_t loop_count;
    struct task *tasks;
    size_t task_count;
    uint32_t *edges; /* indices of tasks, some with EDGE_IS_MEMBER */
    size_t edge_count;
    size_t inherited; /* number of loops inherited from the parent at fork(2) */
    const char *cut;  /* why reading ended early, or NULL */
    struct private *private;
};

/*
 * Read the tasks. After this call, a stopped process may continue. Returns false if
 * memory ran out. Call snapshot_free() in any case.
 */
bool snapshot_take(struct image *image, const struct table *table,
                   const struct snapshot_options *options, struct snapshot *snapshot);

/* Read the tasks again into the snapshot's existing memory, which is faster. */
bool snapshot_take_again(struct snapshot *snapshot);

/* Find the edges, and unwind the stored stacks. Returns false if memory ran out. */
bool snapshot_finish(struct snapshot *snapshot);

void snapshot_free(struct snapshot *snapshot);

#endif
