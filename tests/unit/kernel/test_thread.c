/*
 * test_thread.c - the state of threads, as reported by the kernel.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../../../src/kernel/registers.h"
#include "../../../src/kernel/thread.h"

#include <coil.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A thread that sleeps in read(2) until its pipe is closed. */
struct sleeper {
    pthread_t thread;
    int pipe[2];
    _Atomic pid_t id;
    _Atomic bool is_main;
    _Atomic uintptr_t frame;
    char name[16];
};

static void *sleep_in_read(void *arg)
{
    struct sleeper *s = arg;
    char byte;

    coil__thread_set_name("sleeper");
    pthread_getname_np(pthread_self(), s->name, sizeof s->name);
    s->is_main = coil__thread_is_main();
    s->frame = (uintptr_t)__builtin_frame_address(0);
    s->id = coil__thread_id();
    return read(s->pipe[0], &byte, 1) != 0 ? s : NULL;
}

static void start(struct sleeper *s)
{
    *s = (struct sleeper){.id = 0};
    CHECK(pipe(s->pipe) == 0);
    CHECK(pthread_create(&s->thread, NULL, sleep_in_read, s) == 0);
    while (s->id == 0)
        sched_yield();
}

static void end(struct sleeper *s)
{
    close(s->pipe[1]);
    pthread_join(s->thread, NULL);
    close(s->pipe[0]);
}

TEST(thread_has_a_number_and_a_name_and_one_of_them_is_main)
{
    struct sleeper s;

    start(&s);
    CHECK(coil__thread_is_main() && coil__thread_id() == getpid());
    CHECK(s.id != coil__thread_id() && !s.is_main);
    end(&s);
    CHECK_STR(s.name, "sleeper");
}

TEST(thread_that_sleeps_is_found_in_its_stack)
{
    uintptr_t sp = 0, pc = 0;
    struct sleeper s;

    if (test_under_valgrind())
        test_skip("valgrind makes system calls on its own stack");
    start(&s);
    for (int i = 0; i < 60000 && !coil__thread_sleeps_at(s.id, &sp, &pc); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (sp == 0)
        test_skip("this system does not show where threads sleep");
    else
        CHECK(sp < s.frame && s.frame - sp < 64 * 1024 && pc != 0);
    end(&s);
    CHECK(!coil__thread_sleeps_at(s.id, &sp, &pc));
}

TEST(threads_are_counted)
{
    struct sleeper s;

    if (COIL__TSAN)
        test_skip("TSan has its own thread");
    CHECK(coil__thread_count_exceeds(0));
    CHECK(!coil__thread_count_exceeds(1));
    start(&s);
    CHECK(coil__thread_count_exceeds(1));
    CHECK(!coil__thread_count_exceeds(2));
    end(&s);
}

/* ---- signals ----------------------------------------------------------------------- */

static _Atomic pid_t interrupted;
static _Atomic int code;
static _Atomic uintptr_t pc, sp;

static void on_signal(int signo, siginfo_t *info, void *context)
{
    struct coil__registers registers = coil__registers_of(context);

    (void)signo;
    code = info->si_code;
    pc = registers.pc;
    sp = registers.sp;
    interrupted = coil__thread_id();
}

static void take(int signo)
{
    const struct sigaction action = {.sa_sigaction = on_signal,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};

    CHECK(sigaction(signo, &action, NULL) == 0);
}

TEST(signal_reaches_the_thread_it_is_sent_to_and_tells_its_registers)
{
    struct sleeper s;

    if (COIL__TSAN)
        test_skip("TSan calls the handler only after the wait");
    take(SIGUSR1);
    start(&s);
    CHECK(coil__thread_signal(s.id, SIGUSR1));
    while (interrupted == 0)
        sched_yield();
    CHECK_INT(interrupted, s.id);
    CHECK(pc != 0 && sp < s.frame + 4096 && s.frame - sp < 64 * 1024);
    end(&s);
    CHECK(!coil__thread_signal(s.id, SIGUSR1));
}

TEST(thread_alarm_is_a_signal_to_the_thread_that_made_it)
{
    struct coil__thread_alarm alarm;
    struct sleeper s;

    take(SIGUSR2);
    start(&s);
    CHECK(coil__thread_alarm_create(&alarm, SIGUSR2));
    coil__thread_alarm_set(&alarm, COIL_SEC(3600));
    coil__thread_alarm_set(&alarm, 0);
    CHECK_INT(interrupted, 0);
    coil__thread_alarm_set(&alarm, 1);
    while (interrupted == 0)
        sched_yield();
    CHECK_INT(interrupted, coil__thread_id());
    CHECK_INT(code, SI_TIMER);
    coil__thread_alarm_destroy(&alarm);
    end(&s);
}
