/*
 * test_backend_post.c - posts from other threads end a poll, and are handled exactly once
 * and in order.
 */
#include "../../harness/harness.h"

#include "../../../src/loop/loop.h"

#include <coil.h>
#include <coil/testing.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define POSTERS 4
#define POSTS 10000

struct poster {
    pthread_t thread;
    coil_loop *loop;
    coil_task *waiting;
    int failures;             /* used only by the posting thread */
    int received, disordered; /* used by the loop's thread */
    struct posted {
        struct poster *poster;
        int number;
    } posts[POSTS];
};

static int posters_left;

static void receive(void *arg)
{
    struct posted *posted = arg;
    struct poster *poster = posted->poster;

    if (posted->number != poster->received)
        poster->disordered++;
    if (++poster->received == POSTS && --posters_left == 0)
        coil_unpark(poster->waiting, 0);
}

static void *post_all(void *arg)
{
    struct poster *poster = arg;

    for (int i = 0; i < POSTS; i++) {
        poster->posts[i].poster = poster;
        poster->posts[i].number = i;
        poster->failures += coil_post(poster->loop, receive, &poster->posts[i]) != 0;
    }
    coil_loop_release(poster->loop);
    return NULL;
}

IO_TEST(post_from_several_threads_arrives_in_order)
{
    struct poster *posters = test_memory(POSTERS * sizeof *posters);

    posters_left = POSTERS;
    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = coil_loop_retain(coil_loop_current());
        posters[i].waiting = coil_task_current();
        pthread_create(&posters[i].thread, NULL, post_all, &posters[i]);
    }
    CHECK_INT(coil_park(), 0);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
        CHECK_INT(posters[i].failures, 0);
        CHECK_INT(posters[i].received, POSTS);
        CHECK_INT(posters[i].disordered, 0);
    }
}

static void wake_up(void *arg)
{
    coil_unpark(arg, 0);
}

struct one_post {
    coil_loop *loop;
    coil_task *waiting;
};

static void *post_once(void *arg)
{
    struct one_post *p = arg;

    CHECK_INT(coil_post(p->loop, wake_up, p->waiting), 0);
    return NULL;
}

/*
 * A post must also arrive if a signal interrupts one of the system calls that write and
 * read the eventfd.
 */
IO_TEST(post_that_is_interrupted_arrives)
{
    /* static, because the threads read it while this task waits */
    static struct one_post p;

    p = (struct one_post){coil_loop_current(), coil_task_current()};
    for (uint64_t nth = 1; nth <= 4; nth++) {
        pthread_t thread;

        coil_testing_fail_system_call(nth, EINTR);
        CHECK_INT(pthread_create(&thread, NULL, post_once, &p), 0);
        CHECK_INT(coil_park(), 0);
        coil_testing_fail_system_call(0, 0);
        pthread_join(thread, NULL);
    }
}

static void *post_into_nothing(void *arg)
{
    coil_post(arg, wake_up, NULL);
    return NULL;
}

/*
 * A thread that posts repeatedly. After each post it waits until the post was handled,
 * and pauses for a varying time.
 */
struct pinger {
    coil_loop *loop;
    _Atomic int heard;
    coil_task *waiting;
};

enum { PINGS = 3000 };

static void hear_ping(void *arg)
{
    struct pinger *p = arg;

    if (++p->heard == PINGS)
        coil_unpark(p->waiting, 0);
}

static void *ping(void *arg)
{
    struct pinger *p = arg;

    for (int i = 0; i < PINGS; i++) {
        while (p->heard < i)
            sched_yield();
        for (volatile int wait = i % 64 * 20; wait > 0; wait--)
            ;
        CHECK_INT(coil_post(p->loop, hear_ping, p), 0);
    }
    coil_loop_release(p->loop);
    return NULL;
}

static void be_pinged(void)
{
    struct pinger p = {coil_loop_retain(coil_loop_current()), 0, coil_task_current()};
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, ping, &p), 0);
    CHECK_INT(coil_park(), 0);
    pthread_join(thread, NULL);
}

/*
 * Each post arrives just before the loop begins to wait, at that moment, or just after,
 * and must end the wait.
 */
IO_TEST(post_wakes_a_loop_that_is_about_to_wait)
{
    int ends[2];

    be_pinged();
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(coil_add_reader(ends[0], hear_ping, NULL), 0);
    be_pinged(); /* a loop that watches a descriptor waits in a different way */
    CHECK_INT(coil_remove_reader(ends[0]), 1);
    close(ends[0]);
    close(ends[1]);
}

static void close_its_eventfd_and_post(void *arg)
{
    pthread_t thread;
    coil_loop *loop;

    (void)arg;
    coil_loop_create(NULL, &loop);
    close(loop->wakeup.fd);
    pthread_create(&thread, NULL, post_into_nothing, loop);
    pthread_join(thread, NULL);
}

TEST(post_to_a_loop_whose_eventfd_is_closed_stops_the_program)
{
    test_dies(close_its_eventfd_and_post, NULL,
              "(Bad file descriptor): the program has closed it");
}

/*
 * Give the number of the loop's eventfd to another file, and post. The error of the write
 * is misleading, so the message must contain an explanation.
 */
static void replace_its_eventfd_and_post(void *arg)
{
    pthread_t thread;
    coil_loop *loop;
    int full = open("/dev/full", O_WRONLY);

    (void)arg;
    coil_loop_create(NULL, &loop);
    dup2(full, loop->wakeup.fd);
    pthread_create(&thread, NULL, post_into_nothing, loop);
    pthread_join(thread, NULL);
}

TEST(post_to_a_loop_whose_eventfd_is_another_file_now_stops_the_program)
{
    test_dies(
        replace_its_eventfd_and_post, NULL,
        "(No space left on device): the program has closed it, and the number may now "
        "belong to another file");
}

static void trace_and_post(void *arg)
{
    test_trace("%s ", (const char *)arg);
    CHECK_INT(coil_post(coil_loop_current(), trace_and_post, arg), -ESHUTDOWN);
}

static void *post_from_outside(void *loop)
{
    CHECK_INT(coil_post(loop, trace_and_post, "second"), 0);
    return NULL;
}

TEST(post_that_a_closing_loop_has_taken_is_called)
{
    pthread_t thread;
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_post(loop, trace_and_post, "first"), 0);
    CHECK_INT(coil_call_soon(trace_and_post, "never", NULL), 0);
    CHECK_INT(pthread_create(&thread, NULL, post_from_outside, loop), 0);
    pthread_join(thread, NULL);
    CHECK_INT(coil_post(loop, trace_and_post, "third"), 0);
    coil_loop_close(loop);
    CHECK_TRACE("first second third ");
}

enum { UNTIL_IT_CLOSES = 100000 };

static int called;

static void count_call(void *arg)
{
    (void)arg;
    called++;
}

static void *post_until_refused(void *arg)
{
    intptr_t taken = 0;

    while (taken < UNTIL_IT_CLOSES && coil_post(arg, count_call, NULL) == 0)
        taken++;
    coil_loop_release(arg);
    return (void *)taken;
}

/*
 * Post while the loop closes. Either the post must be refused, or its function must be
 * called.
 */
TEST(post_is_called_or_refused_as_its_loop_closes)
{
    void *taken;
    pthread_t thread;
    coil_loop *loop;

    for (int i = 0; i < 20; i++) {
        called = 0;
        CHECK_INT(coil_loop_create(NULL, &loop), 0);
        CHECK_INT(
            pthread_create(&thread, NULL, post_until_refused, coil_loop_retain(loop)), 0);
        coil_loop_stop(loop);
        CHECK_INT(coil_loop_run_forever(loop), 0);
        coil_loop_close(loop);
        pthread_join(thread, &taken);
        CHECK_INT(called, (intptr_t)taken);
    }
}
