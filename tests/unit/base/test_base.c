/*
 * test_base.c - lists, time, and the allocator.
 */
#include "../../harness/harness.h"

#include "../../../src/base/base.h"

#include <coil.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST(list_keeps_order_and_an_item_may_be_removed_twice)
{
    struct coil__list list, other, a, b, c;

    coil__list_init(&list);
    coil__list_init(&other);
    CHECK(coil__list_empty(&list));
    CHECK_PTR(coil__list_pop(&list), NULL);
    coil__list_push(&list, &a);
    coil__list_push(&list, &b);
    coil__list_push(&other, &c);
    coil__list_splice(&list, &other);
    CHECK(coil__list_empty(&other));
    coil__list_splice(&list, &other);
    coil__list_remove(&b);
    coil__list_remove(&b);
    CHECK_PTR(coil__list_pop(&list), &a);
    CHECK_PTR(coil__list_pop(&list), &c);
    CHECK(coil__list_empty(&list));
}

TEST(list_may_lose_the_link_it_is_at_while_it_is_walked)
{
    struct coil__list list, links[4];
    int seen = 0;

    coil__list_init(&list);
    for (int i = 0; i < 4; i++)
        coil__list_push(&list, &links[i]);
    COIL__LIST_EACH (link, &list) {
        coil__list_remove(link);
        seen++;
    }
    CHECK_INT(seen, 4);
    CHECK(coil__list_empty(&list));
}

TEST(time_saturates)
{
    CHECK_INT(coil__time_add(1, 2), 3);
    CHECK_INT(coil__time_add(COIL_NEVER, 1), COIL_NEVER);
    CHECK_INT(coil__time_add(INT64_MIN, -1), INT64_MIN);
    CHECK_INT(coil_in(COIL_NEVER), COIL_NEVER);
    CHECK_INT(COIL_SEC(2), 2000 * COIL_MSEC(1));
    CHECK_INT(COIL_MSEC(2), 2000 * COIL_USEC(1));
    CHECK_INT(COIL_USEC(2), 2000 * COIL_NSEC(1));
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;

    CHECK_INT(clock_gettime(clock, &now), 0);
    return COIL_SEC(now.tv_sec) + now.tv_nsec;
}

/* coil_now() reads CLOCK_MONOTONIC, and not CLOCK_REALTIME, which may be set. */
TEST(now_is_monotonic_without_a_loop)
{
    int64_t before = read_clock(CLOCK_MONOTONIC), now = coil_now();

    CHECK(before <= now);
    CHECK(now <= read_clock(CLOCK_MONOTONIC));
}

TEST(version_is_that_of_the_header)
{
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", COIL_VERSION_MAJOR, COIL_VERSION_MINOR,
             COIL_VERSION_PATCH);
    CHECK_STR(coil_version(), version);
}

TEST(allocations_fail_where_the_test_says)
{
    void *p;

    test_fail_allocation(2);
    p = coil__alloc(1);
    CHECK(p != NULL);
    CHECK_PTR(coil__alloc_zeroed(8), NULL);
    p = coil__realloc(p, 100);
    CHECK(p != NULL);
    coil__free(p);
    coil__free(NULL);
}

/* ---- aborting while another thread calls exit(3) ----------------------------------- */

static sem_t report_has_begun, report_may_go_on;

static void report(const char *sentence, const void *from)
{
    (void)from;
    sem_post(&report_has_begun);
    sem_wait(&report_may_go_on);
    usleep(100000); /* about as long as a report that has to load libdw */
    fprintf(stderr, "coil: %s\n", sentence);
}

static void *misuse(void *arg)
{
    (void)arg;
    coil__misuse("made by another thread");
}

static void begin_report_on_thread(void)
{
    pthread_t thread;

    coil__misuse_report = report;
    sem_init(&report_has_begun, 0, 0);
    sem_init(&report_may_go_on, 0, 0);
    pthread_create(&thread, NULL, misuse, NULL);
    sem_wait(&report_has_begun);
}

static void exit_during_report(void *arg)
{
    (void)arg;
    begin_report_on_thread();
    sem_post(&report_may_go_on);
    exit(0);
}

TEST(exit_waits_for_the_abort_of_another_thread)
{
    test_dies(exit_during_report, NULL, "coil: made by another thread");
}

/*
 * Fork while another thread is printing a report, and exit in the child. The child must
 * not wait for that thread, which does not exist in the child.
 */
static void exit_in_forked_child(void *arg)
{
    int status = 1;

    (void)arg;
    begin_report_on_thread();
    if (fork() == 0)
        exit(0);
    wait(&status);
    if (status != 0)
        _exit(1);
    sem_post(&report_may_go_on);
    pause();
}

TEST(exit_of_a_child_forked_during_a_report_does_not_wait)
{
    test_dies(exit_in_forked_child, NULL, "coil: made by another thread");
}

static void exit_now(int signo)
{
    (void)signo;
    exit(7);
}

TEST(exit_in_a_handler_of_sigabrt_does_not_wait)
{
    int64_t before = coil_now();
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = _Fork();
    if (child == 0) {
        signal(SIGABRT, exit_now);
        close(STDERR_FILENO);
        misuse(NULL);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(coil_now() - before < COIL_MSEC(900));
}
