/*
 * tails.h - code shared by calls.c, tails.c and tails_cxx.cpp. This code makes a call in
 * a task, ends the call from another task, and runs each call in a child process, because
 * the call may hang.
 */
#include <coil.h>
#include <coil/posix.h>

#include "calls.h"

#include <sys/prctl.h>

/* The task that is about to make the call. */
static coil_task *caller;
/*
 * what the caller was waiting for when another task first ran, or "" if the caller was
 * ready; NULL if no other task has run
 */
static const char *waited_for;
static bool is_ending;

static void begin_in(coil_task *task)
{
    caller = coil_task_retain(task);
}

static void begin(void)
{
    begin_in(coil_task_current());
}

/* Set `waited_for`. Some calls yield a few times before the task waits. */
static void look(void)
{
    coil_waiting waiting;

    for (int i = 0; i < 3; i++) {
        waited_for = "";
        if (coil_task_waiting(caller, &waiting)) {
            waited_for = waiting.what;
            break;
        }
        coil_yield();
    }
}

/*
 * End the caller's call from another task, which can run only if the call does not block
 * the thread.
 */
static int end_call(void *unused)
{
    (void)unused;
    while (caller == NULL)
        coil_yield();
    look();
    coil_sleep(COIL_MSEC(1));
    is_ending = true;
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&rwlock);
    sem_post(&may_end);
    coil_task_cancel(caller, NULL);
    coil_task_release(caller);
    return 0;
}

static void take_long(void)
{
    while (!is_ending)
        coil_sleep(COIL_MSEC(1));
}

/*
 * Hold locks that only their owner can release, until end_call() ends the caller's call.
 */
static int hold(void *unused)
{
    (void)unused;
    flockfile(taken);
    pthread_once(&once, take_long);
    funlockfile(taken);
    return 0;
}

/* Ignore the reports of calls that are expected to fail. */
static void say_nothing(const coil_exception *exception, void *unused)
{
    (void)exception;
    (void)unused;
}

static int start_over(void)
{
    caller = NULL;
    waited_for = NULL;
    is_ending = false;
    alarm(30);
    return prepare_call();
}

/* Run a function in a task, and end its call from another task. */
static int run_one(int (*fn)(void *arg), void *arg)
{
    coil_task *tasks[3];
    int rc = start_over();

    if (rc != 0 || coil_spawn(hold, NULL, NULL, &tasks[0]) < 0 ||
        coil_spawn(end_call, NULL, NULL, &tasks[1]) < 0 ||
        coil_spawn(fn, arg, NULL, &tasks[2]) < 0)
        _exit(2);
    for (int i = 0; i < 3; i++) {
        coil_task_await(tasks[i]);
        coil_task_release(tasks[i]);
    }
    return 0;
}

/* A function that is called once for each element of `args`. */
struct work {
    int (*fn)(void *arg);
    char *args;
    size_t arg_bytes;
    int count, *done; /* `done` is shared with the parent */
};

static int app(void *arg)
{
    const struct work *work = (const struct work *)arg;

    coil_set_exception_handler(say_nothing, NULL);
    for (; *work->done < work->count; ++*work->done)
        run_one(work->fn, work->args + (size_t)*work->done * work->arg_bytes);
    return 0;
}

static void run_in_child(struct work *work)
{
    if (prepare() != 0)
        _exit(2);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* kill the child if its parent dies */
        pause();
        _exit(0);
    }
    if (coil_run(app, work, NULL) < 0)
        fprintf(stderr, "coil_run() has failed\n");
    kill(child, SIGKILL);
    _exit(0);
}

/*
 * Run the work in a new process, because it may hang. After a failure, call report(), and
 * continue with the next argument in another process. Returns the number of failures.
 */
static int run_alone(struct work work, void (*report)(const void *arg, int status))
{
    int wrong = 0;

    work.done = (int *)mmap(NULL, sizeof *work.done, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (*work.done < work.count) {
        int status = -1;
        pid_t pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0)
            run_in_child(&work);
        waitpid(pid, &status, 0);
        if (*work.done == work.count)
            break;
        report(work.args + (size_t)*work.done * work.arg_bytes, status);
        wrong++;
        ++*work.done;
    }
    munmap(work.done, sizeof *work.done);
    return wrong;
}
