/*
 * snapshot.h - the tasks of an image: what each task waits for, since when, and which
 * tasks it awaits.
 *
 * The process may run while a task is copied. The copy is accepted only if the task did
 * not run meanwhile: docs/design/ps.md. The image is not trusted: the read has a budget,
 * and each address is checked.
 */
#ifndef COIL_PS_SNAPSHOT_H
#define COIL_PS_SNAPSHOT_H

#include "table.h"

#define NONE UINT32_MAX

/*
 * Set for an edge to a task in a group whose owner need not be waiting for that task.
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
    TASK_IS_INCOMPLETE /* a part of the task is unreadable */
};

struct task {
    uint64_t address;
    uint32_t number;
    uint32_t spawned_by; /* number of the parent task, or 0 */
    uint32_t loop;       /* index in snapshot.loops */
    enum task_state state;
    char name[32];
    const char *what; /* the wait's description; belongs to the snapshot */
    uint64_t fn, spawned_at;
    uint64_t object;
    int64_t since, deadline; /* INT64_MAX: none */
    int fd;                  /* or -1 */
    uint32_t cancelling;
    uint32_t job_thread; /* 0: no job, or the job has not begun */
    bool is_job;         /* the task waits for an executor's job */
    bool is_stored;      /* the task's stack is swapped out */
    uint32_t lock_owner; /* number of the task that holds the lock, or 0 */
    uint32_t stored_bytes;
    uint16_t steps;
    uint64_t future;            /* the first pending future, unless it is a task; or 0 */
    uint32_t first_pending;     /* the first pending task that it awaits, or NONE */
    uint32_t edges, edge_count; /* the task's range in snapshot.edges */
    uint32_t stack;             /* number returned by on_stack, or NONE */
};

struct loop {
    uint64_t address, scheduler;
    uint32_t number;
    int pid, thread;
    int64_t now; /* on the virtual clock if is_virtual, else on the monotonic clock */
    bool is_virtual;
    const char *partial;        /* why some tasks are missing, or NULL */
    struct registers registers; /* of the loop's thread, if it is stopped */
    size_t tasks, task_count;   /* in snapshot.tasks */
};

/* A stack of a suspended task: the task's own stack, or a generator's. */
struct coroutine {
    uint64_t sp, low, high;
    bool runs; /* its registers are in the thread, not on the stack */
};

#define COROUTINES_MAX 64

/* Copied parts of memory, which are used instead of the image. */
struct copies {
    struct image *image;
    const struct registers *registers; /* of the loop's thread */
    struct piece pieces[COROUTINES_MAX + 2];
    size_t count;
};

/* Read memory from the copies if they contain it, else from the image. */
bool copies_read(const struct copies *copies, uint64_t address, void *to, size_t bytes);

/*
 * Called for each task whose stacks were copied. Returns a number that identifies the
 * stack, or NONE.
 */
typedef uint32_t stack_fn(void *arg, const struct task *task,
                          const struct coroutine *coroutines, size_t count,
                          const struct copies *copies);

/* Facts about the process, for snapshot_take(). */
struct circumstances {
    int pid;            /* PID in its own namespace; 0: unknown */
    int64_t limit_ns;   /* maximum duration of the read */
    int64_t monotonic;  /* current time if the process is alive, or 0 */
    stack_fn *on_stack; /* or NULL */
    bool keeps_stacks;  /* call on_stack later, in snapshot_finish() */
    void *on_stack_arg;
    /*
     * Called between two tasks, or NULL. Returns true if it let the process run.
     */
    bool (*between)(void *arg);
    void *between_arg;
};

struct snapshot {
    struct image *image;
    const struct table *table;
    const struct circumstances *circumstances;
    struct loop *loops;
    size_t loop_count;
    struct task *tasks;
    size_t task_count;
    uint32_t *edges; /* indices of tasks, with EDGE_IS_MEMBER */
    size_t edge_count;
    size_t inherited; /* number of the parent's loops after fork(2) */
    const char *cut;  /* why the read ended early, or NULL */
    struct private *private;
};

/*
 * Read the tasks. After that, a stopped process may continue. Returns false if memory ran
 * out. In either case, call snapshot_free() in the end.
 */
bool snapshot_take(struct image *image, const struct table *table,
                   const struct circumstances *circumstances, struct snapshot *snapshot);

/* Read the tasks again into the snapshot's existing memory, which is faster. */
bool snapshot_take_again(struct snapshot *snapshot);

/* Find the edges, and unwind the stored stacks. Returns false if memory ran out. */
bool snapshot_finish(struct snapshot *snapshot);

void snapshot_free(struct snapshot *snapshot);

#endif
