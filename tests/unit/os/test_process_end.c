/*
 * test_process_end.c - waiting for children, killing them and detaching them. No zombies
 * must be left.
 */
#include "children.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start a process that runs until it is killed or its stdin is closed. */
static coil_process *start_patient(void)
{
    return start_shell("read go", COIL_PIPE, COIL_NULL, COIL_INHERIT);
}

struct waiter {
    coil_process *process;
    int result;
    bool ended;
};

static int do_wait(void *arg)
{
    struct waiter *w = arg;

    w->result = coil_process_wait(w->process);
    w->ended = true;
    return w->result;
}

static coil_task *start(struct waiter *w)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(do_wait, w, NULL, &task), 0);
    settle();
    return task;
}

/* ---- waiting ----------------------------------------------------------------------- */

IO_TEST(process_wait_serves_any_number_of_tasks)
{
    struct waiter w[3] = {{.ended = false}};
    coil_task *tasks[3];

    w[0].process = w[1].process = w[2].process =
        start_shell("read go; exit 9", COIL_PIPE, COIL_NULL, COIL_INHERIT);
    for (int i = 0; i < 3; i++)
        tasks[i] = start(&w[i]);
    CHECK(!w[0].ended && !w[1].ended && !w[2].ended);
    coil_stream_close(coil_process_stdin(w[0].process));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_task_await(tasks[i]), 9);
        coil_task_release(tasks[i]);
    }
    CHECK_INT(coil_process_wait(w[0].process), 9);
    CHECK_INT(coil_process_wait(w[0].process), 9);
    coil_process_destroy(w[0].process);
}

IO_TEST(process_wait_that_is_cancelled_leaves_the_child)
{
    struct waiter w = {start_patient(), 0, false};
    coil_task *task = start(&w);

    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_INT(coil_process_status(w.process), -EINPROGRESS);
    CHECK_INT(coil_process_kill(w.process, 0), 0);
    coil_stream_close(coil_process_stdin(w.process));
    CHECK_INT(coil_process_wait(w.process), 1);
    coil_task_release(task);
    coil_process_destroy(w.process);
}

IO_TEST(process_wait_bears_a_deadline)
{
    coil_process *p = start_patient();
    coil_scope s;
    int rc;

    coil_scope_enter(&s, coil_in(COIL_MSEC(1)));
    rc = coil_process_wait(p);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    CHECK_INT(coil_process_kill(p, SIGTERM), 0);
    CHECK_INT(coil_process_wait(p), 128 + SIGTERM);
    CHECK(WIFSIGNALED(coil_process_status(p)));
    CHECK_INT(WTERMSIG(coil_process_status(p)), SIGTERM);
    coil_process_destroy(p);
}

/* A child does not remain a zombie, even if no task waits for it. */
IO_TEST(process_is_reaped_although_nobody_waits)
{
    coil_process *p = start_shell("exit 4", 0, 0, 0);

    wait_for_no_children();
    CHECK_INT(WEXITSTATUS(coil_process_status(p)), 4);
    CHECK_INT(coil_process_wait(p), 4);
    coil_process_destroy(p);
}

/* ---- a status that other code collects --------------------------------------------- */

static void note(const coil_exception *exception, void *arg)
{
    (void)arg;
    test_trace("%s (%d)", strstr(exception->message, "coil reports 255"), exception->rc);
}

IO_TEST(process_status_taken_by_waitpid_counts_as_255)
{
    coil_process *p = start_shell("exit 3", 0, 0, 0);
    int status = 0;

    coil_set_exception_handler(note, NULL);
    CHECK_INT(waitpid(-1, &status, 0), coil_process_pid(p));
    CHECK_INT(coil_process_wait(p), 255);
    CHECK_TRACE("coil reports 255 (-10)");
    CHECK_INT(coil_process_kill(p, SIGKILL), -ESRCH);
    coil_process_destroy(p);
}

IO_TEST(process_status_is_lost_where_sigchld_is_ignored)
{
    coil_process *p;

    signal(SIGCHLD, SIG_IGN);
    coil_set_exception_handler(note, NULL);
    p = start_shell("exit 3", 0, 0, 0);
    CHECK_INT(coil_process_wait(p), 255);
    CHECK_TRACE("coil reports 255 (-10)");
    coil_process_destroy(p);
}

static volatile sig_atomic_t children_seen;

static void on_sigchld(int signo)
{
    (void)signo;
    children_seen++;
}

/* Start a process that traces `child` until the pipe *stdin_of is closed. */
static pid_t start_tracer(pid_t child, int *stdin_of)
{
    int in[2], told[2];
    char byte = 0;
    pid_t tracer;

    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0);
    tracer = fork();
    if (tracer == 0) {
        byte = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 ? 'y' : 'n';
        close(in[1]);
        (void)!write(told[1], &byte, 1);
        (void)!read(in[0], &byte, 1);
        _exit(0);
    }
    CHECK_INT(read(told[0], &byte, 1), 1);
    close(in[0]);
    close(told[0]);
    close(told[1]);
    *stdin_of = in[1];
    if (byte == 'y')
        return tracer;
    close(in[1]);
    waitpid(tracer, NULL, 0);
    return -1;
}

/*
 * After a traced process has died, its pidfd is readable, but waitid(2) does not return
 * the process before the tracer has ended. Until then the loop must not spin.
 */
IO_TEST(process_that_died_while_traced_does_not_make_the_loop_spin)
{
    coil_process *process = start_patient();
    struct waiter w = {.process = process};
    coil_stats before, after;
    int let_go;
    pid_t tracer = start_tracer(coil_process_pid(process), &let_go);
    coil_task *task;

    if (tracer < 0) {
        coil_process_destroy(process);
        test_skip("no ptrace here");
    }
    task = start(&w);
    CHECK_INT(coil_process_kill(process, SIGKILL), 0);
    coil_sleep(COIL_MSEC(50));
    CHECK(!w.ended);
    coil_stats_get(&before);
    coil_sleep(COIL_MSEC(300));
    coil_stats_get(&after);
    CHECK(after.polls - before.polls < 100);
    CHECK(!w.ended);
    close(let_go);
    CHECK_INT(coil_task_await(task), 128 + SIGKILL);
    coil_task_release(task);
    coil_process_destroy(process);
    CHECK_INT(waitpid(tracer, NULL, 0), tracer);
}

IO_TEST(process_leaves_a_handler_of_sigchld_alone)
{
    coil_process *p;

    signal(SIGCHLD, on_sigchld);
    p = start_shell("exit 3", 0, 0, 0);
    CHECK_INT(coil_process_wait(p), 3);
    CHECK_INT(children_seen, 1);
    CHECK(signal(SIGCHLD, SIG_DFL) == on_sigchld);
    coil_process_destroy(p);
}

/* ---- killing ----------------------------------------------------------------------- */

IO_TEST(process_is_killed)
{
    coil_process *p = start_patient();

    CHECK_INT(coil_process_kill(p, 1000), -EINVAL);
    CHECK_INT(coil_process_kill_group(p, SIGKILL), -EINVAL);
    CHECK_INT(coil_process_kill(p, SIGKILL), 0);
    CHECK_INT(coil_process_wait(p), 128 + SIGKILL);
    CHECK_INT(coil_process_kill(p, SIGKILL), -ESRCH);
    CHECK_INT(coil_process_kill(p, 0), -ESRCH);
    coil_process_destroy(p);
}

IO_TEST(process_gets_the_signal_it_handles)
{
    coil_process *p = start_shell("trap 'echo caught; exit 6' USR1; echo ready; read go",
                                  COIL_PIPE, COIL_PIPE, COIL_INHERIT);
    char line[16];

    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "ready");
    CHECK_INT(coil_process_kill(p, SIGUSR1), 0);
    /* Some shells run the trap only after their `read` has ended. */
    coil_stream_close(coil_process_stdin(p));
    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "caught");
    CHECK_INT(coil_process_wait(p), 6);
    coil_process_destroy(p);
}

/*
 * The process has ended, but was not reaped yet, so no other process can have its number.
 */
IO_TEST(process_kill_is_harmless_when_it_has_ended_unseen)
{
    coil_process *p = start_shell("exit 2", 0, 0, 0);
    siginfo_t info;

    CHECK_INT(waitid(P_PID, (id_t)coil_process_pid(p), &info, WEXITED | WNOWAIT), 0);
    CHECK_INT(coil_process_status(p), -EINPROGRESS);
    CHECK_INT(coil_process_kill(p, SIGTERM), 0);
    CHECK_INT(coil_process_wait(p), 2);
    coil_process_destroy(p);
}

IO_TEST(process_group_is_killed_with_its_children)
{
    coil_process_opts opts = {.out = COIL_PIPE, .new_group = true};
    coil_process *p;
    char line[16], more;

    p = start_command("sleep 1000 & echo up; wait", &opts);
    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "up");
    CHECK_INT(coil_process_kill_group(p, SIGKILL), 0);
    CHECK_INT(coil_read(coil_process_stdout(p), &more, 1), 0);
    CHECK_INT(coil_process_wait(p), 128 + SIGKILL);
    coil_process_destroy(p);
}

/*
 * Wait until the leader's group is empty. Orphans of the group become children of this
 * process, so waitpid(2) fails once the last one has ended.
 */
static void wait_for_the_rest(const coil_process *p)
{
    while (waitpid(-coil_process_pid(p), NULL, WNOHANG) >= 0 || errno != ECHILD)
        coil_sleep(COIL_MSEC(1));
}

static void kill_what_the_leader_has_left(void)
{
    coil_process_opts opts = {.out = COIL_PIPE, .new_group = true};
    coil_process *p;
    char more;

    CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    p = start_command("sleep 1000 &", &opts);
    CHECK_INT(coil_process_wait(p), 0);
    CHECK_INT(coil_process_kill(p, SIGKILL), -ESRCH);
    CHECK_INT(coil_process_kill_group(p, 0), 0);
    CHECK_INT(coil_process_kill_group(p, SIGKILL), 0);
    CHECK_INT(coil_read(coil_process_stdout(p), &more, 1), 0);
    wait_for_the_rest(p);
    CHECK_INT(coil_process_kill_group(p, SIGKILL), -ESRCH);
    coil_process_destroy(p);
    wait_for_no_children();
}

IO_TEST(process_group_is_killed_when_its_leader_has_ended)
{
    kill_what_the_leader_has_left();
}

/* Make pidfd_send_signal(2) refuse flags, as kernels before Linux 6.9 do. */
static void forbid_signals_to_groups_by_pidfd(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        test_skip("no seccomp here");
}

IO_TEST(process_group_is_killed_when_its_leader_has_ended_on_old_kernels)
{
    forbid_signals_to_groups_by_pidfd();
    kill_what_the_leader_has_left();
}

/*
 * On old kernels, the leader remains a zombie until the object is destroyed, so that its
 * number is not reused.
 */
IO_TEST(process_that_leads_a_group_remains_a_zombie_on_old_kernels)
{
    coil_process_opts opts = {.new_session = true};
    siginfo_t info;
    coil_process *p;
    id_t pid;

    forbid_signals_to_groups_by_pidfd();
    p = start_command("exit 3", &opts);
    pid = (id_t)coil_process_pid(p);
    CHECK_INT(coil_process_wait(p), 3);
    CHECK_INT(waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    coil_process_destroy(p);
    CHECK_INT(waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT), -1);
    /* If other code reaps the leader, its number may be reused. */
    p = start_command("exit 3", &opts);
    CHECK_INT(coil_process_wait(p), 3);
    CHECK_INT(waitpid(coil_process_pid(p), NULL, 0), coil_process_pid(p));
    CHECK_INT(coil_process_kill_group(p, SIGKILL), -ESRCH);
    coil_process_destroy(p);
}

/* ---- destroying and leaving -------------------------------------------------------- */

IO_TEST(process_destroyed_while_it_runs_is_killed_and_reaped)
{
    coil_process_destroy(start_patient());
    wait_for_no_children();
}

IO_TEST(process_destroyed_with_sigterm_may_clean_up)
{
    coil_process_opts opts = {.kill_signal = SIGTERM, .out = COIL_PIPE, .in = COIL_PIPE};
    coil_process *p;
    int kept, n;
    char buf[8];

    p = start_command("trap 'echo bye; kill $!; exit' TERM; sleep 1000 & echo up; wait",
                      &opts);
    read_line(coil_process_stdout(p), buf, sizeof buf);
    kept = fcntl(coil_stream_fd(coil_process_stdout(p)), F_DUPFD_CLOEXEC, 3);
    coil_process_destroy(p);
    wait_for_no_children();
    n = (int)read(kept, buf, sizeof buf);
    CHECK_INT(n, 4);
    close(kept);
}

IO_TEST(process_destroyed_ends_the_waits_for_it)
{
    struct waiter w = {start_patient(), 0, false};
    coil_task *task = start(&w);

    coil_process_destroy(w.process);
    CHECK_INT(coil_task_await(task), -EBADF);
    coil_task_release(task);
}

IO_TEST(process_that_has_ended_unseen_is_destroyed)
{
    coil_process *p = start_shell("exit 2", 0, 0, 0);
    siginfo_t info;

    CHECK_INT(waitid(P_PID, (id_t)coil_process_pid(p), &info, WEXITED | WNOWAIT), 0);
    coil_process_destroy(p);
    wait_for_no_children();
}

/* ---- at the loop's end ------------------------------------------------------------- */

static int destroy_deaf_one(void *arg)
{
    coil_process_opts opts = {.kill_signal = SIGTERM, .out = COIL_PIPE};
    coil_process *p;
    char line[8];

    (void)arg;
    p = start_command("trap '' TERM; echo up; sleep 1000", &opts);
    read_line(coil_process_stdout(p), line, sizeof line);
    coil_process_destroy(p);
    return 0;
}

TEST(process_destroyed_that_ignores_sigterm_is_killed_at_the_loops_end)
{
    CHECK_INT(coil_run(destroy_deaf_one, NULL, NULL), 0);
    wait_for_no_children();
}

static int forget(void *arg)
{
    coil_process **out = arg;

    *out = start_patient();
    return 0;
}

TEST(process_outlives_its_loop_and_is_destroyed_later)
{
    coil_process *p;

    CHECK_INT(coil_run(forget, &p, NULL), 0);
    CHECK_INT(coil_process_kill(p, 0), 0);
    coil_process_destroy(p);
    wait_for_no_children();
}

static int hold;

static int detach_one(void *arg)
{
    int ends[2];
    coil_process *p;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    p = start_shell("read go", ends[0], 0, 0);
    close(ends[0]);
    hold = ends[1];
    *(pid_t *)arg = coil_process_pid(p);
    coil_process_detach(p);
    return 0;
}

TEST(process_detached_lives_on_and_is_reaped_all_the_same)
{
    pid_t pid = 0;

    CHECK_INT(coil_run(detach_one, &pid, NULL), 0);
    CHECK_INT(kill(pid, 0), 0);
    close(hold);
    wait_for_no_children();
}

static int detach_and_stay(void *arg)
{
    detach_one(arg);
    close(hold);
    wait_for_no_children();
    return 0;
}

TEST(process_detached_is_reaped_by_its_loop)
{
    pid_t pid = 0;

    CHECK_INT(coil_run(detach_and_stay, &pid, NULL), 0);
}

static int detach_later(void *arg)
{
    return forget(arg);
}

TEST(process_is_detached_when_its_loop_is_gone)
{
    coil_process *p;
    pid_t pid;

    CHECK_INT(coil_run(detach_later, &p, NULL), 0);
    pid = coil_process_pid(p);
    CHECK_INT(kill(pid, 0), 0);
    coil_process_detach(p); /* detaching closes the child's stdin, so the child ends */
    wait_for_no_children();
}

/*
 * A child of fork(2) must neither kill its parent's processes nor affect the parent's
 * control of them.
 */
IO_TEST(process_is_not_a_forked_childs)
{
    coil_process *p = start_patient();
    pid_t forked = fork();
    int status = 0;

    if (forked == 0) {
        int rc = coil_process_kill(p, SIGKILL);

        coil_process_destroy(p);
        _exit(rc == -ESRCH ? 0 : 1);
    }
    CHECK_INT(waitpid(forked, &status, 0), forked);
    CHECK_INT(status, 0);
    CHECK_INT(coil_process_kill(p, 0), 0);
    coil_stream_close(coil_process_stdin(p));
    CHECK_INT(coil_process_wait(p), 1);
    coil_process_destroy(p);
}
