/*
 * judge.h - what the files of coil-judge share: bodies, objects, the trace.
 *
 *   coil_judge.c   the driver: declares the objects, starts t0, ends what does not end
 *   bodies.c       runs the bodies of tasks, line by line; blocks
 *   on_tasks.c     instructions on tasks, futures, callbacks
 *   on_sync.c      instructions on locks, events, conditions, semaphores, queues
 *   trace.c        what is printed
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "program.h"

#include <coil.h>

#include <stdlib.h>
#include <string.h>

#define TICK COIL_MSEC(1)

/* Words that an instruction leaves in the trace in place of an rc. */
#define ABSENT (-100000)
#define BUSY (-100001)

/* A task of the program. */
struct body {
    int number;
    int first, end; /* lines of the body: first up to, not including, end */
    coil_task *task;
    bool raced; /* it belongs to a race, which spawns it */
    int result;
    coil_scope *scope; /* the innermost, or NULL */
    char detail[200];  /* what the instruction that ends now adds to its outcome */
};

/* An instruction: `run` returns an rc, or a value of 0 or more. */
struct instruction {
    const char *verb;
    int (*run)(struct body *body, const struct line *line);
    bool goes_on; /* whatever it returns; otherwise a negative rc ends the body */
};

/* Ended by one without a verb. */
extern const struct instruction task_instructions[], sync_instructions[];

/* ---- the objects of the program that runs, by number ------------------------------- */

extern struct program program;
extern struct body bodies[MAX_NUMBER];
extern coil_future *futures[MAX_NUMBER];
extern coil_group *groups[MAX_NUMBER];       /* those that are open */
extern coil_group *known_groups[MAX_NUMBER]; /* and those that have been left */
extern struct body *spawned[MAX_NUMBER];
extern int body_count, future_count, spawned_count;

/* A future or a task that can be waited for, borrowed; NULL if there is none yet. */
coil_future *future_of(const struct body *body, const char *name);

int ticks(const char *word);

/* So many ticks from now, or "never". */
int64_t deadline_of(const char *word);

/* on_sync.c: those that have to do with sync. */
void sync_forget(void);
bool sync_declare(const struct line *line);
void sync_unlock(void); /* every lock that somebody holds */
void sync_finish(void);
int sync_acquire(const char *name);
int sync_release(const char *name);

/* on_tasks.c: start a task of the loop's own, or of a group. */
int start_body(struct body *body, coil_group *group, bool eager);
void tasks_finish(void);

/* " v0=5" for each variable that is other than 0 where we are, for the trace. */
const char *bindings(void);

/* ---- bodies ------------------------------------------------------------------------ */

/* The body of a task; `arg` is its struct body. */
int run_body(void *arg);

/* What stands in a block. */
int run_inside(struct body *body, const struct line *line);

/* ---- the trace --------------------------------------------------------------------- */

struct word {
    char text[16];
};

/* An rc as the trace has it: "ECANCELED", "absent", or a number. */
struct word word_of(int rc);
int rc_of(const char *name);

/* A line: the time in ticks, who, and what. */
void trace(const char *who, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *name_of(const struct body *body);

/* To what the instruction that runs says when it is over. */
void add_detail(struct body *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* " [3 ECANCELED EINPROGRESS]" */
void add_states(struct body *body, const int rcs[], size_t n);

#endif
