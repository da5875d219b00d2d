/*
 * test_old_kernels.c - coil works without features that older kernels lack or that
 * containers forbid.
 *
 * seccomp(2) makes the system calls fail with the error that such a kernel returns. After
 * that, a program runs that uses a little of every feature. The program has more tasks
 * than there can be guards without MADV_GUARD_INSTALL.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernel constants that headers may lack: see src/base/kernel.h. */
enum { ANY = -1, GUARD_INSTALL = 102, TASKS = 8190 + 810 };

struct refusal {
    int number;   /* number of the system call */
    int argument; /* the third argument of the calls to refuse, or ANY */
    int error;
};

/* ---- refusing ---------------------------------------------------------------------- */

static size_t add_refusal(struct sock_filter *filter, const struct refusal *r)
{
    const struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->argument, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->error),
    };
    size_t n = sizeof rule / sizeof rule[0];

    memcpy(filter, rule, sizeof rule);
    if (r->argument == ANY) /* any number */
        filter[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
    return n;
}

/* Refuse calls in this process from now on. Each test has its own process. */
static void refuse(const struct refusal *refusals, size_t count)
{
    struct sock_filter filter[128];
    struct sock_fprog program = {.filter = filter};
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += add_refusal(filter + n, &refusals[i]);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = (unsigned short)n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        test_skip("no seccomp here");
}

#define REFUSE(refusals) refuse((refusals), sizeof(refusals) / sizeof(refusals)[0])

/* ---- a little of everything -------------------------------------------------------- */

struct crowd {
    coil_event go;
    int waiting, done;
};

static int wait_in_crowd(void *arg)
{
    struct crowd *crowd = arg;
    int rc;

    crowd->waiting++;
    rc = coil_event_wait(&crowd->go);
    crowd->done++;
    return rc;
}

static int echo_back(void *arg)
{
    char bytes[5];
    ssize_t n = coil_read_exact(arg, bytes, 5);

    return n < 0 ? (int)n : (int)coil_write(arg, bytes, 5);
}

static void use_streams(void)
{
    coil_stream *ends[2];
    coil_task *task;
    char bytes[5];

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_spawn(echo_back, ends[1], NULL, &task), 0);
    CHECK_INT(coil_write(ends[0], "hello", 5), 5);
    CHECK_INT(coil_read_exact(ends[0], bytes, 5), 5);
    CHECK_INT(memcmp(bytes, "hello", 5), 0);
    CHECK_INT(coil_task_await(task), 5);
    coil_task_release(task);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

static void use_process(int expected)
{
    const char *const argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .out = COIL_PIPE};
    coil_output out = {.data = NULL};
    coil_process *child = NULL;

    CHECK_INT(coil_process_spawn(&opts, &child), expected);
    if (expected < 0)
        return;
    CHECK_INT(coil_process_communicate(child, "hello", 5, &out, NULL, 0), 0);
    CHECK_INT(out.size, 5);
    coil_output_finish(&out);
    coil_process_destroy(child);
}

static void use_files(void)
{
    char folder[] = "/tmp/coil-old-kernel-XXXXXX", path[64], copy[64];
    void *data = NULL;
    size_t n = 0;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(copy, sizeof copy, "%s/b", folder);
    CHECK_INT(coil_write_file(path, "hello", 5, 0600, COIL_FILE_ATOMIC), 0);
    CHECK_INT(coil_copy_file(path, copy, NULL), 0);
    CHECK_INT(coil_read_file(copy, 0, &data, &n), 0);
    CHECK_INT(n, 5);
    coil_free(data);
    unlink(path);
    unlink(copy);
    rmdir(folder);
}

/* Expected results, set before the program runs. */
static int expected_of_spawn;
static const char *expected_backend;

static int use_everything(void *arg)
{
    struct crowd crowd = {.go = COIL_EVENT_INIT};
    coil_group group;
    int rc = 0;

    (void)arg;
    if (expected_backend != NULL)
        CHECK_STR(coil_backend_name(), expected_backend);
    coil_group_enter(&group);
    for (int i = 0; i < TASKS && rc == 0; i++)
        rc = coil_group_spawn(&group, wait_in_crowd, &crowd, NULL, NULL);
    CHECK_INT(rc, 0);
    while (crowd.waiting < TASKS && rc == 0)
        rc = coil_yield();
    /* coil creates guards with mprotect(2) until it runs out of mappings */
    CHECK(test_mapping_count() > 1000);
    use_streams();
    use_process(expected_of_spawn);
    use_files();
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_event_set(&crowd.go);
    CHECK_INT(coil_group_exit(&group, rc), 0);
    CHECK_INT(crowd.done, TASKS);
    return 0;
}

static void run_everything(const char *backend)
{
    if (test_under_valgrind())
        test_skip("so many stacks take minutes under valgrind");
    CHECK_INT(coil_run(use_everything, NULL, &(coil_run_opts){.loop.backend = backend}),
              0);
}

/* ---- kernels ----------------------------------------------------------------------- */

TEST(nine_thousand_tasks_run_on_linux_6_12)
{
    static const struct refusal refusals[] = {{SYS_madvise, GUARD_INSTALL, EINVAL}};

    REFUSE(refusals);
    run_everything(NULL);
}

/* Most containers forbid io_uring. */
TEST(nine_thousand_tasks_run_in_a_container_without_io_uring)
{
    static const struct refusal refusals[] = {{SYS_io_uring_setup, ANY, EPERM},
                                              {SYS_madvise, GUARD_INSTALL, EINVAL}};

    expected_backend = "epoll";
    REFUSE(refusals);
    run_everything(NULL);
}

TEST(nine_thousand_tasks_run_on_linux_5_8)
{
    static const struct refusal refusals[] = {{SYS_io_uring_setup, ANY, ENOSYS},
                                              {SYS_madvise, GUARD_INSTALL, EINVAL},
                                              {SYS_epoll_pwait2, ANY, ENOSYS},
                                              {SYS_close_range, ANY, ENOSYS}};

    expected_backend = "epoll";
    REFUSE(refusals);
    run_everything(NULL);
}

/* Everything works except starting a process, which fails with an error. */
TEST(nine_thousand_tasks_run_on_linux_4_4_but_for_processes)
{
    static const struct refusal refusals[] = {
        {SYS_io_uring_setup, ANY, ENOSYS},  {SYS_madvise, GUARD_INSTALL, EINVAL},
        {SYS_epoll_pwait2, ANY, ENOSYS},    {SYS_close_range, ANY, ENOSYS},
        {SYS_pidfd_open, ANY, ENOSYS},      {SYS_pidfd_send_signal, ANY, ENOSYS},
        {SYS_copy_file_range, ANY, ENOSYS}, {SYS_preadv2, ANY, ENOSYS}};

    expected_backend = "epoll";
    expected_of_spawn = -ENOSYS;
    REFUSE(refusals);
    run_everything(NULL);
}

TEST(nine_thousand_tasks_run_on_linux_5_8_with_poll_alone)
{
    static const struct refusal refusals[] = {{SYS_epoll_create1, ANY, ENOSYS},
                                              {SYS_io_uring_setup, ANY, ENOSYS},
                                              {SYS_madvise, GUARD_INSTALL, EINVAL},
                                              {SYS_close_range, ANY, ENOSYS}};

    expected_backend = "poll";
    REFUSE(refusals);
    run_everything(NULL);
}
