/*
 * main.c - calls unmodified third-party libraries in 100 tasks of one thread, and
 * compares the time with that of sequential calls.
 *
 *     posix-libraries [TASKS]      as many of each library; 100
 *     posix-libraries --alone      without libcoil-posix: the tasks wait for each other
 *
 * For each library, and for all libraries together, this program measures a few
 * sequential calls, and computes from them how long TASKS sequential calls would take.
 * The program then measures TASKS calls in tasks, which must take less than a tenth of
 * that time. Ends with `N passed, N failed`.
 */
#include "library.h"

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)512 * 1024)
#define ONE_BY_ONE 5

static struct library *first_library;
static int passed, failed, task_count = 100;

void library_register(struct library *library)
{
    library->next = first_library;
    first_library = library;
}

static void check(bool right, const char *format, const char *name)
{
    right ? passed++ : failed++;
    if (!right) {
        printf("FAIL ");
        printf(format, name);
        printf("\n");
    }
}

/* ---- one by one -------------------------------------------------------------------- */

struct handles {
    struct library *library;
    ssize_t stack_peak;
    void **list;
    int count, right;
    double one_by_one; /* seconds for all calls in sequence, extrapolated from a few */
};

static double seconds(void)
{
    return (double)coil_now() / 1e9;
}

static bool is_here(const struct library *library)
{
    return getenv(library->server) != NULL;
}

static int open_handle(void *arg)
{
    struct handles *h = arg;

    void *handle = h->library->open(getenv(h->library->server));

    if (handle == NULL)
        return -ECONNREFUSED;
    h->list[h->count++] = handle;
    return 0;
}

/*
 * Arguments of call_one_by_one(), which makes the sequential calls in a callback, where
 * they block the thread.
 */
struct measuring {
    struct handles *handles;
    coil_task *task;
};

static void call_one_by_one(void *arg)
{
    const struct measuring *m = arg;
    struct handles *h = m->handles;
    double began = seconds();
    int right = 0;

    for (int i = 0; i < ONE_BY_ONE; i++)
        right += h->library->call(h->list[i]);
    check(right == ONE_BY_ONE, "%s: one by one", h->library->name);
    h->one_by_one = (seconds() - began) / ONE_BY_ONE * task_count;
    coil_unpark(m->task, 0);
}

static void measure_one_by_one(struct handles *h)
{
    struct measuring m = {.handles = h, .task = coil_task_current()};

    coil_call_soon(call_one_by_one, &m, NULL);
    coil_park();
}

/* ---- together ---------------------------------------------------------------------- */

struct caller {
    struct handles *handles;
    void *handle;
};

static int call_once(void *arg)
{
    const struct caller *c = arg;
    ssize_t peak;

    if (c->handles->library->call(c->handle))
        c->handles->right++;
    peak = coil_task_stack_peak(coil_task_current());
    if (peak > c->handles->stack_peak)
        c->handles->stack_peak = peak;
    return 0;
}

/* Return the number of threads of this process, or -1 if it is unknown. */
static int count_threads(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    int count = -1;

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        sscanf(line, "Threads: %d", &count);
    if (status != NULL)
        fclose(status);
    return count;
}

static int watch_threads(void *most)
{
    int count;

    while (coil_sleep(COIL_MSEC(20)) == 0)
        if ((count = count_threads()) > *(int *)most)
            *(int *)most = count;
    return -ECANCELED;
}

/* Use all handles of `n` libraries at once. Returns the duration in seconds. */
static double call_together(struct handles *h, int n)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES,
                            .arg_bytes = sizeof(struct caller)};
    double began = seconds();
    coil_group group;

    coil_group_enter(&group);
    for (int l = 0; l < n; l++) {
        h[l].right = 0;
        for (int i = 0; i < task_count; i++)
            coil_group_spawn(&group, call_once, &(struct caller){&h[l], h[l].list[i]},
                             &opts, NULL);
    }
    check(coil_group_exit(&group, 0) == 0, "%s", "the group");
    for (int l = 0; l < n; l++)
        check(h[l].right == task_count, "%s: not every task was answered",
              h[l].library->name);
    return seconds() - began;
}

static void report(const char *name, int calls, double one_by_one, double together)
{
    printf("%-8s %d calls one by one %6.2f s, in tasks %5.2f s: %.3f\n", name, calls,
           one_by_one, together, together / one_by_one);
    check(together < one_by_one / 10, "%s: not in a tenth of the time", name);
}

/* ---- a library --------------------------------------------------------------------- */

static bool open_all(struct handles *h)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES};
    coil_group group;
    int rc;

    h->list = calloc((size_t)task_count, sizeof *h->list);
    coil_group_enter(&group);
    for (int i = 0; i < task_count; i++)
        coil_group_spawn(&group, open_handle, h, &opts, NULL);
    rc = coil_group_exit(&group, 0);
    check(rc == 0, "%s: not every task could connect", h->library->name);
    return rc == 0;
}

static void close_all(struct handles *h)
{
    for (int i = 0; i < h->count; i++)
        h->library->close(h->list[i]);
    free(h->list);
}

static int times_out(void *arg)
{
    struct handles *h = arg;
    double began = seconds();

    check(h->library->times_out(h->list[0]), "%s: no time-out", h->library->name);
    check(seconds() - began >= 0.05, "%s: too early", h->library->name);
    return 0;
}

static void test_time_out(struct handles *h)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES};
    coil_task *task;

    if (h->library->times_out == NULL || coil_spawn(times_out, h, &opts, &task) < 0)
        return;
    coil_task_await(task);
    coil_task_release(task);
}

/*
 * Test the libraries that start threads, or those that do not, first one by one, and then
 * all at once. Returns the number of libraries, or -1. The caller closes the handles.
 */
static int test_libraries(struct handles *h, bool with_threads)
{
    double one_by_one = 0;
    int n = 0;

    for (struct library *l = first_library; l != NULL; l = l->next) {
        if (!is_here(l) || l->has_threads != with_threads)
            continue;
        h[n] = (struct handles){.library = l};
        if (!open_all(&h[n]))
            return -1;
        measure_one_by_one(&h[n]);
        report(l->name, task_count, h[n].one_by_one, call_together(&h[n], 1));
        if (l->tested != NULL)
            printf("| %s | %s | works | %zd KiB | %s |\n", l->name, l->version,
                   (h[n].stack_peak + 4095) / 4096 * 4, l->tested);
        one_by_one += h[n++].one_by_one;
    }
    if (n > 1)
        report("all", n * task_count, one_by_one, call_together(h, n));
    return n;
}

static void time_out_and_close(struct handles *h, int n)
{
    for (int i = 0; i < n; i++) {
        test_time_out(&h[i]);
        close_all(&h[i]);
    }
}

static int app(void *arg)
{
    struct handles h[8];
    coil_task *watcher;
    int n, threads = 0;

    (void)arg;
    coil_task_stack_peak(coil_task_current()); /* starts the measurement of stacks */
    coil_spawn(watch_threads, &threads, NULL, &watcher);
    n = test_libraries(h, false);
    coil_task_cancel(watcher, NULL);
    coil_task_await(watcher);
    coil_task_release(watcher);
    /* The second thread is libcoil's, and detects locks that block the loop. */
    check(threads <= 2, "%s", "the calls of the libraries used threads");
    time_out_and_close(h, n);
    if (n < 0)
        return -ECONNREFUSED;
    n = test_libraries(h, true);
    time_out_and_close(h, n);
    return n < 0 ? -ECONNREFUSED : 0;
}

/* ---- without libcoil-posix --------------------------------------------------------- */

/*
 * Measure one library without libcoil-posix, to check that its calls in tasks then take
 * as long as sequential calls.
 */
static int app_alone(void *arg)
{
    struct handles h = {.library = first_library};
    double together;

    (void)arg;
    while (h.library != NULL && !is_here(h.library))
        h.library = h.library->next;
    if (h.library == NULL || !open_all(&h))
        return -ECONNREFUSED;
    measure_one_by_one(&h);
    together = call_together(&h, 1);
    printf("%s without libcoil-posix: %.2f s one by one, %.2f s in tasks\n",
           h.library->name, h.one_by_one, together);
    check(together > h.one_by_one / 2, "%s: the calls did not block each other",
          h.library->name);
    close_all(&h);
    return 0;
}

int main(int argc, char **argv)
{
    bool alone = argc > 1 && strcmp(argv[1], "--alone") == 0;
    int rc;

    if (alone)
        task_count = ONE_BY_ONE;
    else if (argc > 1)
        task_count = atoi(argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    rc = coil_run(alone ? app_alone : app, NULL, NULL);
    check(rc == 0, "it ended with %s", strerrorname_np(-rc));
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
