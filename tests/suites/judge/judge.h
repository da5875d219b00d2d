/*
 * judge.h - declarations shared by the files of coil-judge.
 *
 *   coil_judge.c   the driver: declares the objects, starts t0, cancels tasks that do not end
 *   bodies.c       runs the bodies of tasks, line by line; blocks
 *   on_tasks.c     instructions on tasks, futures, callbacks
 *   on_sync.c      instructions on locks, events, conditions, semaphores, queues
 *   trace.c        prints the trace
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "program.h"

#include <coil.h>

#include <stdlib.h>
#include <string.h>

#define TICK COIL_MSEC(1)

/* Results of instructions that are not errnos. The trace shows them as words. */
#define ABSENT (-100000)
#define BUSY (-100001)

/* A task of the program. */
struct body {
    int number;
    int first, end; /* the lines of the body: [first, end) */
    coil_task *task;
    bool raced; /* a `race` instruction started this task */
    int result;
    coil_scope *scope; /* the innermost open scope, or NULL */
    char detail[200];  /* text that follows the instruction's outcome */
};

/* An instruction. `run` returns a negative errno, or a value of 0 or more. */
struct instruction {
    const char *verb;
    int (*run)(struct body *body, const struct line *line);
    bool goes_on; /* if true, a negative rc does not end the body */
};

/* A table ends with an entry without a verb. */
extern const struct instruction task_instructions[], sync_instructions[];

/* ---- the objects of the program that runs, by number ------------------------------- */

extern struct program program;
extern struct body bodies[MAX_NUMBER];
extern coil_future *futures[MAX_NUMBER];
extern coil_group *groups[MAX_NUMBER];       /* open groups */
extern coil_group *known_groups[MAX_NUMBER]; /* all groups, open and closed */
extern struct body *spawned[MAX_NUMBER];
extern int body_count, future_count, spawned_count;

/*
 * Return a borrowed reference to the future with this name, or to the future of the task
 * with this name. Returns NULL if the task has not started, or is the body's own task,
 * because a task cannot await itself.
 */
coil_future *future_of(const struct body *body, const char *name);

int ticks(const char *word);

/*
 * Return the deadline that is this number of ticks from now. The word may also be
 * "never".
 */
int64_t deadline_of(const char *word);

/* on_sync.c: the instructions on synchronization. */
void sync_forget(void);
bool sync_declare(const struct line *line);
void sync_unlock(void); /* unlocks every lock that is held */
void sync_finish(void);
int sync_acquire(const char *name);
int sync_release(const char *name);

/* on_tasks.c: start a task in the group, or outside of groups if `group` is NULL. */
int start_body(struct body *body, coil_group *group, bool eager);
void tasks_finish(void);

/* Text for the trace: " v0=5" for each variable of the current context that is not 0. */
const char *bindings(void);

/* ---- bodies ------------------------------------------------------------------------ */

/* The function of each task. `arg` is its struct body. */
int run_body(void *arg);

/* Run the lines of a block. */
int run_inside(struct body *body, const struct line *line);

/* ---- the trace --------------------------------------------------------------------- */

struct word {
    char text[16];
};

/* Return the text of an rc for the trace: "ECANCELED", "absent", or a number. */
struct word word_of(int rc);
int rc_of(const char *name);

/* Print a line of the trace: the time in ticks, the task (or "driver"), and the text. */
void trace(const char *who, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *name_of(const struct body *body);

/* Add a text that the running instruction prints when it ends. */
void add_detail(struct body *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add the states of several futures, such as " [3 ECANCELED EINPROGRESS]". */
void add_states(struct body *body, const int rcs[], size_t n);

#endif
