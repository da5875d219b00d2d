/*
 * deadlines.c - see deadlines.h.
 *
 * Deadlines are checked by a separate thread, because a timer of the loop would wake a
 * loop that has missed an event, and so hide the bug.
 */
#include "deadlines.h"

#include "../../harness/harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERS = 128, PAINT = 0xC5, PATIENCE_OF_THE_BUSY = 8 };

#define BEAT COIL_MSEC(20)
#define PATIENCE COIL_SEC(1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched *first; /* list of the watched operations; guarded by `lock` */
static void (*on_failure)(void);
static pthread_t guard, poster;
static pid_t loop_thread;
static _Atomic bool over;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return COIL_SEC(t.tv_sec) + t.tv_nsec;
}

/* Sleep for `ns`. Returns the time slept, or 0 if the thread woke up too late. */
static int64_t punctual_nap(int64_t ns)
{
    struct timespec nap = {.tv_nsec = ns};
    int64_t began = now_ns(), took;

    nanosleep(&nap, NULL);
    took = now_ns() - began;
    return took < 3 * ns ? took : 0;
}

/* Send SIGQUIT (Ctrl-\) if coil_run() handles it, so that coil_run() prints the tasks. */
static void print_tasks(void)
{
    struct sigaction action;

    fflush(NULL);
    if (sigaction(SIGQUIT, NULL, &action) < 0 || action.sa_handler == SIG_DFL)
        return;
    kill(getpid(), SIGQUIT);
    punctual_nap(COIL_MSEC(500));
}

static _Noreturn void give_up(void)
{
    print_tasks();
    on_failure();
    fflush(NULL);
    _exit(1);
}

/* ---- operations -------------------------------------------------------------------- */

void watch(struct watched *w, int64_t deadline)
{
    pthread_mutex_lock(&lock);
    w->deadline = deadline;
    w->over_ns = 0;
    w->next = first;
    w->previous = &first;
    if (first != NULL)
        first->previous = &w->next;
    first = w;
    pthread_mutex_unlock(&lock);
}

void unwatch(struct watched *w)
{
    pthread_mutex_lock(&lock);
    *w->previous = w->next;
    if (w->next != NULL)
        w->next->previous = w->previous;
    pthread_mutex_unlock(&lock);
}

void watch_all_cancelled(void)
{
    int64_t now = now_ns();

    pthread_mutex_lock(&lock);
    for (struct watched *w = first; w != NULL; w = w->next)
        if (w->deadline > now)
            w->deadline = now;
    pthread_mutex_unlock(&lock);
}

void watch_cancelled(struct watched *w)
{
    int64_t now = now_ns();

    pthread_mutex_lock(&lock);
    if (w->deadline > now)
        w->deadline = now;
    pthread_mutex_unlock(&lock);
}

/*
 * Return the kernel's letter for the state of the loop's thread, such as 'S' for
 * sleeping.
 */
static char loop_state(void)
{
    char path[64], line[256], *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)loop_thread);
    file = fopen(path, "r");
    if (file == NULL)
        return '?';
    end = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    fclose(file);
    return end != NULL && end[1] == ' ' ? end[2] : '?';
}

static const struct watched *count_overtime(int64_t began, int64_t beat)
{
    for (struct watched *w = first; w != NULL; w = w->next) {
        if (w->deadline > began)
            continue;
        w->over_ns += beat;
        if (w->over_ns >= PATIENCE)
            return w;
    }
    return NULL;
}

static void *stand_guard(void *arg)
{
    while (!over) {
        int64_t began = now_ns(), took = punctual_nap(BEAT);
        const struct watched *late;

        if (loop_state() == 'R') /* the thread may be waiting for a processor */
            took /= PATIENCE_OF_THE_BUSY;
        pthread_mutex_lock(&lock);
        late = count_overtime(began, took);
        pthread_mutex_unlock(&lock);
        if (late == NULL)
            continue;
        printf("%s of %zu bytes goes on %lld ms past its deadline; the loop's thread is "
               "'%c'\n",
               late->what, late->bytes,
               (long long)((now_ns() - late->deadline) / COIL_MSEC(1)), loop_state());
        give_up();
    }
    return arg;
}

void watchdog_begin(void (*fail)(void))
{
    on_failure = fail;
    over = false;
    loop_thread = gettid();
    CHECK_INT(pthread_create(&guard, NULL, stand_guard, NULL), 0);
}

void watchdog_end(void)
{
    over = true;
    CHECK_INT(pthread_join(guard, NULL), 0);
    check_buffers();
}

/* ---- memory ------------------------------------------------------------------------ */

static struct returned {
    unsigned char *bytes;
    size_t n;
} returned[BUFFERS];
static size_t next_returned;

unsigned char *watched_buffer(size_t n)
{
    unsigned char *buffer = malloc(n);

    CHECK(buffer != NULL);
    return buffer;
}

static void look_at(struct returned *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->bytes[i] != PAINT) {
            printf("byte %zu of %zu was written after the call had returned, on %s\n", i,
                   r->n, coil_backend_name());
            give_up();
        }
    free(r->bytes);
    *r = (struct returned){NULL, 0};
}

/*
 * Add the buffer to `returned`, where it replaces the oldest entry. Check that entry
 * first.
 */
void return_buffer(unsigned char *buffer, size_t n)
{
    struct returned *r = &returned[next_returned++ % BUFFERS];

    look_at(r);
    memset(buffer, PAINT, n);
    *r = (struct returned){buffer, n};
}

void check_buffers(void)
{
    for (size_t i = 0; i < BUFFERS; i++)
        look_at(&returned[i]);
}

/* ---- posts ------------------------------------------------------------------------- */

static coil_loop *posted_to;
static _Atomic unsigned posted;
static _Atomic bool posts_over;

static unsigned awaited; /* used only by the loop's thread */
static coil_event all_seen = COIL_EVENT_INIT;

static void see_post(void *arg)
{
    (void)arg;
    if (++posted == awaited)
        coil_event_set(&all_seen);
}

static void await_post(unsigned before)
{
    int64_t waited = 0;

    while (posted == before && !posts_over) {
        int64_t nap = punctual_nap(COIL_MSEC(1));

        waited += loop_state() == 'R' ? nap / PATIENCE_OF_THE_BUSY : nap;
        if (waited > PATIENCE) {
            puts("a post from another thread is not seen for a second");
            give_up();
        }
    }
}

static void *post_again_and_again(void *arg)
{
    unsigned dice = 1;

    while (!posts_over) {
        unsigned before = posted;

        if (coil_post(posted_to, see_post, NULL) == 0)
            await_post(before);
        punctual_nap(COIL_USEC(rand_r(&dice) % 2000));
    }
    return arg;
}

void posts_await(unsigned n)
{
    awaited = posted + n;
    CHECK_INT(coil_event_wait(&all_seen), 0);
    coil_event_clear(&all_seen);
}

void posts_begin(void)
{
    posted_to = coil_loop_retain(coil_loop_current());
    posts_over = false;
    CHECK_INT(pthread_create(&poster, NULL, post_again_and_again, NULL), 0);
}

void posts_end(void)
{
    posts_over = true;
    CHECK_INT(pthread_join(poster, NULL), 0);
    coil_loop_release(posted_to);
}
