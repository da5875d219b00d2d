/*
 * threads.c - coil_run_threads(): runs a loop on each of several threads.
 *
 *   thread 0: coil_run(run_first)            the others: coil_run(run_member)
 *       |                                        |
 *       start ---------------------------------> |
 *       fn(arg)                                  fn(arg)
 *       wait for the others <------------------- the last one ends
 *       join, in coil_run_threads()
 *
 * Thread 0 is the caller's thread, which handles signals until the last thread has ended.
 * Each thread is a "member" of the "team", with its own loop and main task. When the
 * first member fails, it cancels the main tasks of the others by posting to their loops.
 * The posts are part of struct member, so posting does not allocate.
 *
 * While other threads of the team are running, a loop waits for posts without looking for
 * deadlocks, because any of them may post. The last one to end posts to thread 0's loop,
 * which then looks for deadlocks.
 *
 * Invariants
 * 1. Comments in struct team and struct member show what the team's lock guards. The main
 *    task of a member is used only by that member's thread.
 * 2. Other threads post to a member's loop only until its main function returns. If the
 *    loop has failed and was closed earlier, it rejects the post.
 * 3. The team exists longer than its threads: coil_run_threads() always joins them.
 */
#include "run.h"

#include "../base/context.h"
#include "../base/fault.h"
#include "../kernel/processors.h"
#include "../kernel/thread.h"
#include "../task/task.h"

#include <coil/error.h>
#include <coil/threads.h>

#include <stdio.h>
#include <string.h>

#define MAX_THREADS 1024

struct team;

struct member {
    struct team *team;
    unsigned index;
    pthread_t thread;
    char name[COIL__NAME_BYTES];
    struct coil__bindings *bindings; /* the caller's context variables */
    coil_task *main;                 /* the main task, while it runs */
    coil_loop *loop;                 /* a reference; under the lock */
    struct coil__post cancel;        /* posted once; under the lock */
    coil_error *error;
    bool reported; /* the member's failure was reported */
};

struct team {
    coil_task_fn fn;
    void *arg;
    coil_run_opts opts;
    unsigned count;
    unsigned started; /* number of threads to join; used only by thread 0 */
    struct coil__post all_ended, alone;

    /* guards the following members, and those marked "under the lock" */
    pthread_mutex_t lock;
    unsigned running; /* number of started threads that are still running */
    bool failed;
    int rc; /* rc of the first failure */
    struct member *first_failed;
    coil_loop *waiting; /* thread 0's loop while it waits for all_ended */
    struct coil__wait *wait;
    struct member members[];
};

static COIL__THREAD_LOCAL const struct member *this_member;

unsigned coil_thread_index(void)
{
    return this_member != NULL ? this_member->index : 0;
}

unsigned coil_thread_count(void)
{
    return this_member != NULL ? this_member->team->count : 1;
}

unsigned coil_processor_count(void)
{
    return coil__processor_count();
}

/* ---- the first failure ------------------------------------------------------------- */

static void cancel_member(struct coil__runnable *runnable)
{
    struct member *member = COIL__CONTAINER(runnable, struct member, cancel.runnable);

    if (member->main != NULL && !member->loop->closing)
        coil_task_cancel(member->main, "another thread failed");
}

/*
 * Record the failure of this member, and cancel the other members, unless a member failed
 * before.
 */
static void fail_team(struct member *member, int rc)
{
    struct team *team = member->team;
    struct coil__wake wake = {NULL};

    pthread_mutex_lock(&team->lock);
    if (!team->failed) {
        team->failed = true;
        team->rc = rc;
        team->first_failed = member;
        for (unsigned i = 0; i < team->count; i++) {
            struct member *other = &team->members[i];

            if (other != member && other->loop != NULL)
                coil__loop_post_unwoken(other->loop, &other->cancel, &wake);
        }
    }
    coil__unlock_and_wake(&team->lock, &wake);
}

/* ---- a main task ------------------------------------------------------------------- */

/* Called on thread 0 when it has become the only thread. */
static void look_for_deadlocks(struct coil__runnable *runnable)
{
    struct team *team = COIL__CONTAINER(runnable, struct team, alone.runnable);

    team->members[0].loop->deadlock.in_team = false;
}

static void begin_member(struct member *member)
{
    struct team *team = member->team;
    bool failed;

    member->main = coil_task_current();
    pthread_mutex_lock(&team->lock);
    member->loop = coil_loop_retain(coil_loop_current());
    member->loop->deadlock.in_team = team->running > 0;
    failed = team->failed;
    pthread_mutex_unlock(&team->lock);
    if (failed)
        coil_task_cancel(member->main, "another thread failed");
}

/*
 * Called when a member's main function has returned. After this call, other threads can
 * no longer cancel the member's main task.
 */
static void end_member(struct member *member, int rc)
{
    struct team *team = member->team;
    coil_loop *loop = member->loop;

    if (rc < 0)
        fail_team(member, rc);
    pthread_mutex_lock(&team->lock);
    member->loop = NULL;
    pthread_mutex_unlock(&team->lock);
    coil__loop_withdraw(loop, &member->cancel);
    if (member->index == 0)
        coil__loop_withdraw(loop, &team->alone);
    member->main = NULL;
    coil_loop_release(loop);
}

static int run_member(void *arg)
{
    struct member *member = arg;
    int rc;

    begin_member(member);
    rc = member->team->fn(member->team->arg);
    end_member(member, rc);
    return rc;
}

/* ---- threads 1 and following ------------------------------------------------------- */

static int run_loop(struct member *member, coil_task_fn fn)
{
    coil_run_opts opts = member->team->opts;
    struct coil__context_slot slot, *outer;
    int rc;

    opts.name = member->name;
    opts.error = &member->error;
    if (member->index > 0)
        opts.signo = NULL; /* thread 0 handles the signals */
    this_member = member;
    outer = coil__context_enter(&slot, member->bindings);
    rc = coil__run_quietly(fn, member, &opts, &member->reported);
    coil__context_leave(&slot, outer);
    this_member = NULL;
    if (rc < 0)
        fail_team(member, rc);
    return rc;
}

static void *thread_main(void *arg)
{
    struct member *member = arg;
    struct team *team = member->team;
    struct coil__wake wake = {NULL};
    char name[16];

    snprintf(name, sizeof name, "coil-%u", member->index);
    coil__thread_set_name(name);
    run_loop(member, run_member);
    pthread_mutex_lock(&team->lock);
    team->running--;
    if (team->running == 0 && team->waiting != NULL)
        coil__loop_post_unwoken(team->waiting, &team->all_ended, &wake);
    else if (team->running == 0 && team->members[0].loop != NULL)
        coil__loop_post_unwoken(team->members[0].loop, &team->alone, &wake);
    coil__unlock_and_wake(&team->lock, &wake);
    return NULL;
}

/*
 * Start the threads. Returns 0 or a negative errno. If a thread cannot be started, those
 * that are already running are not stopped.
 */
static int start_threads(struct team *team)
{
    for (unsigned i = 1; i < team->count; i++) {
        struct member *member = &team->members[i];
        int error;

        pthread_mutex_lock(&team->lock);
        team->running++;
        pthread_mutex_unlock(&team->lock);
        error = coil__call_fails(EAGAIN, "pthread_create")
                    ? errno
                    : pthread_create(&member->thread, NULL, thread_main, member);
        if (error != 0) {
            pthread_mutex_lock(&team->lock);
            team->running--;
            pthread_mutex_unlock(&team->lock);
            return -error;
        }
        team->started++;
    }
    return 0;
}

/* ---- thread 0 ---------------------------------------------------------------------- */

static void others_have_ended(struct coil__runnable *runnable)
{
    struct team *team = COIL__CONTAINER(runnable, struct team, all_ended.runnable);

    if (!team->waiting->closing)
        coil__wait_complete(team->wait, 0);
}

struct waiting {
    struct coil__wait wait;
    struct member *member;
};

/*
 * Called when the main task of thread 0 is cancelled while it waits for the other
 * members: cancel the others, and keep waiting.
 */
static bool cancel_others(struct coil__wait *wait)
{
    fail_team(COIL__CONTAINER(wait, struct waiting, wait)->member, -ECANCELED);
    return false;
}

static void wait_for_others(struct member *member)
{
    static const struct coil__wait_class class = {.what = "threads",
                                                  .cancel = cancel_others};
    struct team *team = member->team;
    coil_loop *loop = coil_loop_current();
    struct waiting waiting = {.member = member};
    bool all;

    coil__wait_init(&waiting.wait, &class);
    waiting.wait.keeps_result = true;
    team->wait = &waiting.wait;
    pthread_mutex_lock(&team->lock);
    all = team->running == 0;
    team->waiting = all ? NULL : coil_loop_retain(loop);
    pthread_mutex_unlock(&team->lock);
    if (!all) {
        coil__loop_expect(loop, 1);
        coil__wait_park(&waiting.wait);
        coil__loop_expect(loop, -1);
    }
}

static int run_first(void *arg)
{
    struct member *member = arg;
    int rc = start_threads(member->team);

    if (rc == 0)
        rc = run_member(member);
    else
        fail_team(member, rc);
    wait_for_others(member);
    return rc;
}

/* ---- the team ---------------------------------------------------------------------- */

static struct team *create_team(unsigned n, coil_task_fn fn, void *arg,
                                const coil_run_opts *opts)
{
    struct team *team = coil__alloc_zeroed(sizeof *team + n * sizeof team->members[0]);
    const char *name = opts != NULL && opts->name != NULL ? opts->name : "main";

    if (team == NULL)
        return NULL;
    team->fn = fn;
    team->arg = arg;
    if (opts != NULL)
        team->opts = *opts;
    team->count = n;
    pthread_mutex_init(&team->lock, NULL);
    coil__runnable_init(&team->all_ended.runnable, others_have_ended);
    coil__runnable_init(&team->alone.runnable, look_for_deadlocks);
    for (unsigned i = 0; i < n; i++) {
        struct member *member = &team->members[i];

        member->team = team;
        member->index = i;
        member->bindings = coil__context_capture();
        coil__runnable_init(&member->cancel.runnable, cancel_member);
        snprintf(member->name, sizeof member->name, i == 0 ? "%.20s" : "%.20s-%u", name,
                 i);
    }
    return team;
}

/*
 * Return the result of the member that failed first, or of thread 0 if none failed. If
 * thread 0 failed first, its result `rc` is returned rather than team->rc, because after
 * SIGINT `rc` is -EINTR, whereas team->rc is -ECANCELED.
 */
static int result_of(struct team *team, int rc)
{
    struct member *source = &team->members[0];

    if (team->failed && team->first_failed != source) {
        source = team->first_failed;
        rc = team->rc;
    }
    if (!source->reported)
        coil__run_report(&team->opts, source->name, rc, source->error);
    if (team->opts.error != NULL) {
        *team->opts.error = rc < 0 ? source->error : NULL;
        if (rc < 0)
            source->error = NULL;
    }
    return rc < 0 ? rc : 0;
}

static void destroy_team(struct team *team)
{
    for (unsigned i = 0; i < team->count; i++) {
        coil_error_release(team->members[i].error);
        /* still set if the loop failed, so the main task never ended */
        coil_loop_release(team->members[i].loop);
    }
    coil_loop_release(team->waiting);
    pthread_mutex_destroy(&team->lock);
    coil__free(team);
}

int coil_run_threads(unsigned n, coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    COIL__REQUIRE(fn, "a function");
    struct team *team;
    int rc;

    if (n > MAX_THREADS)
        return coil__failed(-EINVAL);
    if (n == 0)
        n = coil__processor_count();
    team = create_team(n < MAX_THREADS ? n : MAX_THREADS, fn, arg, opts);
    if (team == NULL)
        return coil__failed(-ENOMEM);
    rc = run_loop(&team->members[0], run_first);
    for (unsigned i = 1; i <= team->started; i++)
        pthread_join(team->members[i].thread, NULL);
    for (unsigned i = team->started + 1; i < team->count; i++)
        coil__bindings_release(team->members[i].bindings);
    rc = result_of(team, rc);
    destroy_team(team);
    return rc;
}
