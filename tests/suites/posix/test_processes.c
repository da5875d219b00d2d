/*
 * test_processes.c - child processes and signals, which behave the same in a task and
 * outside tasks.
 */
#include "differential.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <wordexp.h>

extern char **environ;

static pid_t start_shell(const char *script)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    pid_t pid = -1;

    CHECK_INT(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
    return pid;
}

static void record_status(int status)
{
    if (WIFEXITED(status))
        record("exited with %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        record("killed by %d", WTERMSIG(status));
    else
        record("neither");
}

/* Wait until the child has stopped, and continue it. */
static void continue_stopped(int pid)
{
    siginfo_t info;

    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_INT(kill(pid, SIGCONT), 0);
}

SAME(wait_for_a_child, true)
{
    struct rusage usage = {0};
    int status = 0;
    pid_t pid = start_shell("sleep 0.05; exit 7");

    record("%s", waitpid(pid, &status, 0) == pid ? "the child" : "another");
    record_status(status);
    RECORD(waitpid(pid, &status, 0));
    pid = start_shell("kill -9 $$");
    record("%s", wait4(pid, &status, 0, &usage) == pid ? "the child" : "another");
    record_status(status);
    record("%s", usage.ru_maxrss > 0 ? "its usage" : "no usage");
    pid = start_shell("kill -STOP $$; exit 8");
    RECORD(waitpid(pid, &status, WNOHANG));
    later(20, continue_stopped, pid);
    record("%s", wait(&status) == pid ? "the child" : "another");
    record_status(status);
    finish_later();
    RECORD(wait(&status));
    RECORD(wait3(&status, 0, NULL));
    RECORD(waitpid(pid, &status, 0x40));
    RECORD(waitpid(1, NULL, 0));
}

SAME(wait_for_a_child_by_what_it_did, true)
{
    siginfo_t info = {0};
    pid_t pid = start_shell("sleep 0.05; exit 7");

    RECORD(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    record("%s %d %d", info.si_pid == pid ? "the child" : "another", info.si_code,
           info.si_status);
    RECORD(waitid(P_PID, (id_t)pid, test_under_valgrind() ? &info : NULL, WEXITED));
    RECORD(waitid(P_PID, (id_t)pid, &info, WEXITED));
    pid = start_shell("kill -STOP $$; exit 9");
    RECORD(waitid(P_PID, (id_t)pid, &info, WSTOPPED));
    record("%s %d", info.si_pid == pid ? "the child" : "another", info.si_code);
    kill(pid, SIGCONT);
    RECORD(waitid(P_ALL, 0, &info, WEXITED));
    record("%s %d", info.si_pid == pid ? "the child" : "another", info.si_status);
    RECORD(waitid(P_ALL, 0, &info, WEXITED));
}

/* Start a child that calls PTRACE_TRACEME and stops after a while. */
static pid_t start_traced(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        usleep(20000);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGUSR1);
        _exit(6);
    }
    return pid;
}

static void record_stop(int status)
{
    if (WIFSTOPPED(status))
        record("stopped by %d", WSTOPSIG(status));
    else
        record_status(status);
}

/* A tracer is notified when its child stops, even without WSTOPPED. */
SAME(wait_for_a_child_that_is_traced, true)
{
    siginfo_t info = {0};
    int status = 0;
    pid_t pid;

    if (test_under_valgrind())
        test_skip("no children that are traced here");
    pid = start_traced();
    record("%s", waitpid(pid, &status, 0) == pid ? "the child" : "another");
    record_stop(status);
    RECORD(ptrace(PTRACE_CONT, pid, NULL, NULL));
    RECORD(waitid(P_PID, (id_t)pid, &info, WEXITED));
    record("%d %d", info.si_code, info.si_status);
    pid = start_traced();
    RECORD(waitid(P_PID, (id_t)pid, &info, WEXITED));
    record("%d %d", info.si_code, info.si_status);
    RECORD(ptrace(PTRACE_CONT, pid, NULL, NULL));
    record("%s", waitpid(pid, &status, 0) == pid ? "the child" : "another");
    record_stop(status);
}

SAME(run_a_command, true)
{
    RECORD(system("sleep 0.05; exit 3"));
    RECORD(system("exit 0"));
    record("%s", system(NULL) != 0 ? "a shell" : "no shell");
}

/*
 * A command must start with the signal mask of its caller, in which only SIGUSR1 is
 * blocked. This requires a shell such as dash, which does not block signals itself when
 * it starts. system() also blocks SIGCHLD in the thread that runs the command. The
 * commands sleep for a moment first, because posix_spawn() blocks all signals while it
 * starts the child.
 */
SAME(command_has_the_signal_mask_of_its_caller, true)
{
    static const char self[] = "sleep 0.05; grep -q '^SigBlk:.0*200$' /proc/self/status";
    static const char thread[] =
        "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; cat /proc/$PPID/task/*/status | "
        "grep -q '^SigBlk:.0*10200$' && exit 0; done; exit 1";
    sigset_t set, before;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &set, &before);
    RECORD(system(self));
    RECORD(system(thread));
    RECORD(pclose(popen(self, "r")));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- signals ----------------------------------------------------------------------- */

static void send_signal(int signo)
{
    kill(getpid(), signo);
}

static void wait_for_signals(void)
{
    struct timespec span = {.tv_nsec = 30000000}, wrong = {.tv_nsec = -1};
    siginfo_t info;
    sigset_t set;
    int signo = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    RECORD_AT_LEAST(30, sigtimedwait(&set, &info, &span));
    later(20, send_signal, SIGUSR1);
    RECORD(sigwaitinfo(&set, &info));
    record("%d %s", info.si_signo, info.si_pid == getpid() ? "from here" : "?");
    finish_later();
    later(20, send_signal, SIGUSR1);
    RECORD(sigwait(&set, &signo));
    record("%d", signo);
    finish_later();
    RECORD(sigtimedwait(&set, &info, &wrong));
}

/*
 * Wait for a signal that all threads block, because the kernel may deliver it to any
 * thread that does not.
 */
IO_TEST(wait_for_a_signal)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    compare_in_and_out(wait_for_signals, true);
}

/* ---- waiting for a signal handler -------------------------------------------------- */

static _Atomic int handled[NSIG];
static pthread_t pauser;

static void handle(int signo)
{
    handled[signo]++;
}

/*
 * Send the signal to the waiting thread, because a signal to the process might be
 * delivered to another thread.
 */
static void signal_pauser(int signo)
{
    pthread_kill(pauser, signo);
}

static void begin_pauses(void)
{
    struct sigaction action = {.sa_handler = handle};

    pauser = pthread_self();
    handled[SIGUSR1] = handled[SIGUSR2] = 0;
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(sigaction(SIGUSR2, &action, NULL), 0);
}

static void record_handled(void)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    record("handled %d and %d, blocked %d and %d", handled[SIGUSR1], handled[SIGUSR2],
           sigismember(&mask, SIGUSR1), sigismember(&mask, SIGUSR2));
}

SAME(pause_until_a_handler_has_run, true)
{
    begin_pauses();
    later(20, signal_pauser, SIGUSR1);
    RECORD(pause());
    record_handled();
    finish_later();
    later(20, signal_pauser, SIGUSR2);
    RECORD(pause());
    record_handled();
    finish_later();
}

SAME(suspend_until_a_blocked_signal_is_handled, true)
{
    sigset_t both, none, first;

    begin_pauses();
    sigemptyset(&none);
    sigemptyset(&first);
    sigaddset(&first, SIGUSR1);
    both = first;
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    later(20, signal_pauser, SIGUSR1);
    RECORD(sigsuspend(&none));
    record_handled();
    finish_later();
    signal_pauser(SIGUSR1);
    RECORD(sigsuspend(&none)); /* the signal is already pending */
    record_handled();
    signal_pauser(SIGUSR1);
    later(20, signal_pauser, SIGUSR2);
    RECORD(sigsuspend(&first)); /* SIGUSR1 remains blocked */
    record_handled();
    finish_later();
    RECORD(sigsuspend(&none));
    record_handled();
    later(20, signal_pauser, SIGUSR2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    RECORD(sigpause(SIGUSR2));
#pragma GCC diagnostic pop
    record_handled();
    finish_later();
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
}

SAME(ignored_signals_do_not_end_a_pause, true)
{
    sigset_t first, none;

    begin_pauses();
    sigemptyset(&none);
    sigemptyset(&first);
    sigaddset(&first, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &first, NULL);
    signal(SIGUSR1, SIG_IGN);
    signal_pauser(SIGUSR1);
    later(20, signal_pauser, SIGUSR2);
    RECORD(sigsuspend(&none));
    record_handled();
    finish_later();
    pthread_sigmask(SIG_UNBLOCK, &first, NULL);
}

static int pause_once(void *count)
{
    CHECK_INT(pause(), -1);
    CHECK_INT(errno, EINTR);
    ++*(int *)count;
    return 0;
}

/*
 * Each signal ends the pause() of a single task, as it would end the pause() of a single
 * thread.
 */
IO_TEST(each_signal_ends_the_pause_of_one_task)
{
    int count = 0;
    coil_task *tasks[2];

    begin_pauses();
    for (int i = 0; i < 2; i++)
        tasks[i] = start_task(pause_once, &count);
    coil_sleep(COIL_MSEC(1));
    for (int i = 1; i <= 2; i++) {
        CHECK_INT(raise(SIGUSR1), 0);
        coil_sleep(COIL_MSEC(20));
        CHECK_INT(count, i);
        CHECK_INT(handled[SIGUSR1], i);
    }
    for (int i = 0; i < 2; i++)
        finish_task(tasks[i]);
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(handled[SIGUSR1], 3); /* the signal is no longer blocked */
}

/* ---- forked in a task -------------------------------------------------------------- */

/*
 * After a fork in a task, calls in the child block as they do outside tasks, because the
 * loop does not run in the child.
 */
IO_TEST(fork_in_a_task)
{
    int there[2], back[2], status;
    char byte = 0;
    pid_t pid;

    make_pipe(there);
    make_pipe(back);
    pid = fork();
    if (pid == 0) {
        usleep(1000);
        if (read(there[0], &byte, 1) == 1)
            status = (int)write(back[1], "y", 1);
        _exit(byte == 'x' ? 0 : 1);
    }
    coil_sleep(COIL_MSEC(20));
    write_byte(there[1]);
    CHECK_INT(read(back[0], &byte, 1), 1);
    CHECK_INT(byte, 'y');
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    close_both(there);
    close_both(back);
}

/*
 * A FILE that another task has locked when the test forks. In the child that task does
 * not run, so it never unlocks the FILE there.
 */
static FILE *used;

static int use_for_long(void *unused)
{
    (void)unused;
    flockfile(used);
    coil_sleep(COIL_SEC(1000));
    funlockfile(used);
    return 0;
}

static int use_in_child(void *unused)
{
    (void)unused;
    return fputs("x", used) < 0 || fflush(used) < 0 ? -EIO : 0;
}

IO_TEST(file_in_use_by_a_task_is_free_in_a_child_with_a_loop)
{
    int ends[2], status = -1;
    coil_task *task;
    char byte;
    pid_t pid;

    make_pipe(ends);
    used = fdopen(ends[1], "w");
    task = start_task(use_for_long, NULL);
    settle();
    pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(coil_run(use_in_child, NULL, NULL) < 0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    coil_task_cancel(task, NULL);
    finish_task(task);
    fclose(used);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    close(ends[0]);
}

/* ---- wordexp() --------------------------------------------------------------------- */

static void record_words(const char *text, int flags)
{
    wordexp_t words = {.we_wordc = 0};
    int rc = wordexp(text, &words, flags);

    record("%s: %d", text, rc);
    if (rc != 0)
        return;
    for (size_t i = 0; i < words.we_wordc; i++)
        record("%s", words.we_wordv[i]);
    wordfree(&words);
}

SAME(words_are_expanded_by_commands, true)
{
    record_words("a 'b c' $(sleep 0.05; echo d e) `echo f`", 0);
    record_words("a$((1 + 2))", 0);
    record_words("plain", 0);
    record_words("$(echo no)", WRDE_NOCMD);
    record_words("$(", 0);
}

/* ---- children on the task's stack -------------------------------------------------- */

static int byte_to_read[2];

/*
 * Wait for a byte and exit. Called in the child, which must block, because the loop
 * belongs to the parent.
 */
static void read_and_exit(void)
{
    char byte = 0;

    _exit(read(byte_to_read[0], &byte, 1) == 1 && byte == 'x' ? 5 : 6);
}

static void *write_soon(void *unused)
{
    usleep(20000);
    write_byte(byte_to_read[1]);
    return unused;
}

/*
 * This thread writes the byte. The test cannot use later(), because the kernel does not
 * report the parent as sleeping while a child of vfork() runs.
 */
static pthread_t writer;

static void begin_child(void)
{
    CHECK_INT(pthread_create(&writer, NULL, write_soon, NULL), 0);
}

/*
 * Record the child's exit status, which is 5 if the child has read the byte. Check that
 * tasks in the parent can wait again.
 */
static void record_child(pid_t pid)
{
    int status = 0;

    record("%d", waitpid(pid, &status, 0) == pid);
    RECORD(WEXITSTATUS(status));
    CHECK_INT(pthread_join(writer, NULL), 0);
    later(20, write_byte, byte_to_read[1]);
    RECORD(read(byte_to_read[0], &(char){0}, 1));
    finish_later();
}

SAME(a_child_of_vfork_blocks, true)
{
    pid_t pid;

    make_pipe(byte_to_read);
    begin_child();
    pid = vfork();
    if (pid == 0)
        read_and_exit();
    record_child(pid);
    close_both(byte_to_read);
}

SAME(a_child_of_a_fork_without_handlers_blocks, true)
{
    pid_t pid;

    make_pipe(byte_to_read);
    begin_child();
    pid = _Fork();
    if (pid == 0)
        read_and_exit();
    record_child(pid);
    begin_child();
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        read_and_exit();
    record_child(pid);
    close_both(byte_to_read);
}
