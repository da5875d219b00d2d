/*
 * test_process.c - starting programs, and the descriptors and signals that they inherit.
 */
#include "children.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Check that spawning fails, and, if `words` is not NULL, the message. Returns the error.
 */
static int spawn_error(const coil_process_opts *opts, const char *words)
{
    coil_process *process = NULL;
    int rc;

    if (test_under_valgrind())
        test_skip("valgrind replaces vfork(2) by fork(2)");
    rc = coil_process_spawn(opts, &process);
    coil_process_destroy(process);
    if (words != NULL) {
        CHECK(coil_last_error() != NULL);
        CHECK(strstr(coil_error_message(coil_last_error()), words) != NULL);
    }
    return rc;
}

/* ---- the program ------------------------------------------------------------------- */

IO_TEST(process_is_found_in_the_path_and_ends)
{
    const char *argv[] = {"true", NULL}, *bad[] = {"false", NULL};
    coil_process *p = start_process(&(coil_process_opts){.argv = argv});

    CHECK(coil_process_pid(p) > 0);
    CHECK_PTR(coil_process_stdin(p), NULL);
    CHECK_PTR(coil_process_stdout(p), NULL);
    CHECK_PTR(coil_process_stderr(p), NULL);
    CHECK_INT(coil_process_status(p), -EINPROGRESS);
    CHECK_INT(coil_process_wait(p), 0);
    CHECK_INT(coil_process_status(p), 0);
    coil_process_destroy(p);
    p = start_process(&(coil_process_opts){.argv = bad});
    CHECK_INT(coil_process_wait(p), 1);
    coil_process_destroy(p);
    coil_process_destroy(NULL);
    coil_process_detach(NULL);
}

IO_TEST(process_program_may_differ_from_its_first_argument)
{
    const char *argv[] = {"somebody", "-c", "echo $0", NULL};

    CHECK_STR(output_of(start_process(&(coil_process_opts){
                            .argv = argv, .program = "sh", .out = COIL_PIPE}),
                        0),
              "somebody\n");
}

IO_TEST(process_arguments_are_checked)
{
    const char *none[] = {NULL}, *some[] = {"true", NULL};
    coil_process *process;
    int bad_fd = -5;

    CHECK_INT(spawn_error(&(coil_process_opts){.argv = NULL}, NULL), -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = none}, NULL), -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .in = -4}, NULL), -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .in = COIL_STDOUT}, NULL),
              -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .out = COIL_STDOUT}, NULL),
              -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .in = 999}, NULL), -EBADF);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .kill_signal = 1000}, NULL),
              -EINVAL);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = some, .pass_fd_count = 1}, NULL),
              -EINVAL);
    CHECK_INT(
        spawn_error(
            &(coil_process_opts){.argv = some, .pass_fds = &bad_fd, .pass_fd_count = 1},
            NULL),
        -EINVAL);
    bad_fd = 999;
    CHECK_INT(
        spawn_error(
            &(coil_process_opts){.argv = some, .pass_fds = &bad_fd, .pass_fd_count = 1},
            "cannot pass descriptors"),
        -EBADF);
    CHECK_INT(coil_process_shell(NULL, NULL, &process), -EINVAL);
    CHECK_PTR(process, NULL);
}

IO_TEST(process_that_cannot_be_run_is_an_error_of_spawn)
{
    const char *missing[] = {"/no/such/program", NULL},
               *nowhere[] = {"no-such-one", NULL};
    const char *data[] = {"/etc/passwd", NULL}, *empty[] = {"", NULL};
    const char *good[] = {"true", NULL};

    CHECK_INT(spawn_error(&(coil_process_opts){.argv = missing}, "'/no/such/program'"),
              -ENOENT);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = nowhere, .in = COIL_PIPE},
                          "'no-such-one'"),
              -ENOENT);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = empty}, "''"), -ENOENT);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = data}, "'/etc/passwd'"), -EACCES);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = good, .cwd = "/no/such/place"},
                          "cannot enter '/no/such/place'"),
              -ENOENT);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = good, .cwd = "/etc/passwd"},
                          "cannot enter"),
              -ENOTDIR);
    wait_for_no_children();
}

IO_TEST(process_with_too_long_arguments_is_an_error_of_spawn)
{
    size_t n = (size_t)1 << 22;
    char *word = malloc(n);
    const char *argv[] = {"true", word, NULL};

    memset(word, 'x', n - 1);
    word[n - 1] = '\0';
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = argv}, "'true'"), -E2BIG);
    free(word);
}

/* As in Python, spawning fails. (execvp(3) would run the script with the shell.) */
IO_TEST(process_of_a_script_without_its_interpreter_is_an_error_of_spawn)
{
    char path[] = "/tmp/coil-script-XXXXXX";
    int fd = mkstemp(path);
    const char *argv[] = {path, NULL};

    CHECK_INT(write(fd, "exit 0\n", 7), 7);
    CHECK_INT(fchmod(fd, 0700), 0);
    close(fd);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = argv}, path), -ENOEXEC);
    unlink(path);
}

IO_TEST(process_environment_is_the_programs_or_its_own)
{
    const char *show[] = {"sh", "-c", "echo \"$COIL_A-$COIL_B\"", NULL};
    const char *own[] = {"COIL_B=b", "PATH=/usr/bin:/bin", NULL}, *none[] = {NULL};

    setenv("COIL_A", "a", 1);
    CHECK_STR(
        output_of(start_process(&(coil_process_opts){.argv = show, .out = COIL_PIPE}), 0),
        "a-\n");
    CHECK_STR(output_of(start_process(&(coil_process_opts){
                            .argv = show, .envp = own, .out = COIL_PIPE}),
                        0),
              "-b\n");
    CHECK_STR(output_of(start_process(&(coil_process_opts){
                            .argv = show, .envp = none, .out = COIL_PIPE}),
                        0),
              "-\n");
}

/*
 * The program is searched for in the PATH of the child's environment, as in Python
 * (os.get_exec_path(env)), but unlike with execvpe(3).
 */
IO_TEST(process_is_looked_for_in_the_path_of_its_environment)
{
    const char *argv[] = {"sh", "-c", "exit 3", NULL};
    const char *elsewhere[] = {"PATH=/no/such:/proc", NULL};
    const char *here[] = {"PATH=/no/such::/etc/passwd:/bin", NULL};
    const char *in_cwd[] = {"PATH=:/no/such", NULL};
    coil_process *p = NULL;

    p = start_process(&(coil_process_opts){.argv = argv, .envp = here});
    CHECK_INT(coil_process_wait(p), 3);
    coil_process_destroy(p);
    p = start_process(&(coil_process_opts){.argv = argv, .envp = in_cwd, .cwd = "/bin"});
    CHECK_INT(coil_process_wait(p), 3);
    coil_process_destroy(p);
    CHECK_INT(spawn_error(&(coil_process_opts){.argv = argv, .envp = elsewhere}, "'sh'"),
              -ENOENT);
}

IO_TEST(process_runs_in_its_directory)
{
    const char *pwd[] = {"pwd", NULL}, *relative[] = {"./sh", "-c", "exit 5", NULL};
    coil_process *p = NULL;

    CHECK_STR(output_of(start_process(&(coil_process_opts){
                            .argv = pwd, .cwd = "/", .out = COIL_PIPE}),
                        0),
              "/\n");
    p = start_process(&(coil_process_opts){.argv = relative, .cwd = "/bin"});
    CHECK_INT(coil_process_wait(p), 5);
    coil_process_destroy(p);
}

IO_TEST(process_shell_runs_a_command)
{
    coil_process *p = NULL;

    p = start_command("exit 7", &(coil_process_opts){.in = COIL_NULL});
    CHECK_INT(coil_process_wait(p), 7);
    coil_process_destroy(p);
    CHECK_STR(shell_output("echo a | tr a b", 0), "b\n");
}

/* ---- its descriptors --------------------------------------------------------------- */

IO_TEST(process_stdin_and_stdout_are_pipes)
{
    coil_process *p = start_shell("cat", COIL_PIPE, COIL_PIPE, COIL_INHERIT);
    char line[16];

    CHECK_INT(coil_write(coil_process_stdin(p), "one\n", 4), 4);
    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "one");
    CHECK_INT(coil_write(coil_process_stdin(p), "two\n", 4), 4);
    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "two");
    coil_stream_close(coil_process_stdin(p));
    CHECK_INT(coil_read(coil_process_stdout(p), line, sizeof line), 0);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
}

IO_TEST(process_output_can_be_read_when_it_has_ended)
{
    coil_process *p = start_shell("echo late", COIL_NULL, COIL_PIPE, COIL_INHERIT);
    char line[16];

    CHECK_INT(coil_process_wait(p), 0);
    read_line(coil_process_stdout(p), line, sizeof line);
    CHECK_STR(line, "late");
    coil_process_destroy(p);
}

IO_TEST(process_stderr_may_go_where_stdout_goes)
{
    CHECK_STR(
        output_of(
            start_shell("echo out; echo err >&2", COIL_NULL, COIL_PIPE, COIL_STDOUT), 0),
        "out\nerr\n");
}

IO_TEST(process_null_reads_nothing_and_swallows_everything)
{
    coil_process *p = start_shell("cat; echo unseen; echo unheard >&2", COIL_NULL,
                                  COIL_NULL, COIL_NULL);

    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
}

IO_TEST(process_gets_a_descriptor_which_remains_the_callers)
{
    int fd = memfd_create("coil", MFD_CLOEXEC);
    char buf[16] = "";
    coil_process *p = start_shell("echo kept", COIL_NULL, fd, fd);

    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    CHECK_INT(pread(fd, buf, sizeof buf, 0), 5);
    CHECK_STR(buf, "kept\n");
    close(fd);
}

/*
 * The parent's end of the pipe is non-blocking, but the child's end must block, because
 * cat(1) would fail with EAGAIN.
 */
IO_TEST(process_output_may_be_anothers_input)
{
    coil_process *a = start_shell("read go; echo hello", COIL_PIPE, COIL_PIPE, 0), *b;

    CHECK(fcntl(coil_stream_fd(coil_process_stdout(a)), F_GETFL) & O_NONBLOCK);
    b = start_shell("cat; echo end", coil_stream_fd(coil_process_stdout(a)), COIL_PIPE,
                    0);
    coil_stream_close(coil_process_stdout(a));
    CHECK_INT(coil_write(coil_process_stdin(a), "go\n", 3), 3);
    CHECK_STR(output_of(b, 0), "hello\nend\n");
    CHECK_INT(coil_process_wait(a), 0);
    coil_process_destroy(a);
}

/*
 * A stream makes standard input non-blocking, so coil must reopen standard input for the
 * child.
 */
IO_TEST(process_inherits_a_stdin_that_blocks)
{
    int before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), fds[2];
    coil_stream *adopted = NULL;
    const char *said;
    char *rest;
    coil_process *p;

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    close(fds[0]);
    CHECK_INT(coil_stream_adopt(STDIN_FILENO, &adopted), 0);
    CHECK(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK);
    p = start_shell("grep flags: /proc/self/fdinfo/0; cat", COIL_INHERIT, COIL_PIPE, 0);
    CHECK_INT(write(fds[1], "text", 4), 4);
    close(fds[1]);
    said = output_of(p, 0);
    CHECK(strncmp(said, "flags:\t", 7) == 0);
    CHECK((strtol(said + 7, &rest, 8) & O_NONBLOCK) == 0);
    CHECK_STR(rest, "\ntext");
    coil_stream_destroy(adopted);
    p = start_shell("test -e /proc/self/fd/0", COIL_INHERIT, COIL_PIPE, 0);
    /* descriptor 0 is closed in the parent and in the child */
    CHECK_STR(output_of(p, 1), "");
    CHECK_INT(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
}

/*
 * If the program has closed its stdin, coil's descriptors may get the number 0. A child
 * must not inherit them, unless the program chooses them explicitly.
 */
IO_TEST(process_inherits_no_descriptor_of_coil_as_stdin)
{
    int before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    coil_stream *ends[2];

    close(STDIN_FILENO);
    CHECK_INT(coil_pipe(ends), 0);
    CHECK_INT(coil_stream_fd(ends[0]), STDIN_FILENO);
    CHECK_STR(output_of(start_shell("test -e /proc/self/fd/0", 0, COIL_PIPE, 0), 1), "");
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    CHECK_INT(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
}

IO_TEST(process_gets_a_chosen_descriptor_that_is_close_on_exec)
{
    int before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), fds[2];
    char text[8] = "";
    coil_process *p;

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(dup3(fds[1], STDOUT_FILENO, O_CLOEXEC), STDOUT_FILENO);
    p = start_shell("echo here", COIL_NULL, STDOUT_FILENO, COIL_INHERIT);
    CHECK_INT(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    CHECK_INT(read(fds[0], text, sizeof text), 5);
    CHECK_STR(text, "here\n");
    close(fds[0]);
    close(fds[1]);
    close(before);
}

/*
 * A FIFO is not reopened for the child, because opening it would wait for the other end.
 */
IO_TEST(process_may_have_a_fifo_that_nobody_reads)
{
    char path[64];
    int reader, writer;
    coil_process *p = NULL;

    snprintf(path, sizeof path, "/tmp/coil-fifo-%d", (int)getpid());
    CHECK_INT(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    close(reader);
    unlink(path);
    p = start_shell("exit 3", COIL_NULL, writer, COIL_INHERIT);
    CHECK_INT(coil_process_wait(p), 3);
    coil_process_destroy(p);
    close(writer);
}

/* A socket cannot be reopened, so the child gets the same descriptor. */
IO_TEST(process_may_have_a_socket_for_stdio)
{
    int ends[2];
    coil_process *p = NULL;
    char buf[8];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    p = start_shell("read a; echo $a$a", ends[1], ends[1], 0);
    close(ends[1]);
    CHECK_INT(write(ends[0], "xy\n", 3), 3);
    CHECK_INT(coil_process_wait(p), 0);
    CHECK_INT(read(ends[0], buf, sizeof buf), 5);
    CHECK(memcmp(buf, "xyxy\n", 5) == 0);
    close(ends[0]);
    coil_process_destroy(p);
}

IO_TEST(process_inherits_no_other_descriptor)
{
    int leaky = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    coil_process *other = start_shell("read go", COIL_PIPE, COIL_PIPE, COIL_PIPE);

    /* Descriptor 3 is the directory that ls(1) opens. */
    CHECK_STR(shell_output("exec ls /proc/self/fd", 0), "0\n1\n2\n3\n");
    CHECK(!(fcntl(leaky, F_GETFD) & FD_CLOEXEC));
    coil_process_destroy(other);
    close(leaky);
}

IO_TEST(process_gets_passed_descriptors_under_their_numbers)
{
    int pipe_ends[2], nine;
    const char *argv[] = {"sh", "-c", "echo passed >&9; ls /proc/$$/fd", NULL};
    char buf[16];

    CHECK_INT(pipe2(pipe_ends, O_CLOEXEC), 0);
    nine = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 9);
    if (nine != 9)
        test_skip("descriptor 9 is in use");
    CHECK_STR(
        output_of(
            start_process(&(coil_process_opts){
                .argv = argv, .out = COIL_PIPE, .pass_fds = &nine, .pass_fd_count = 1}),
            0),
        "0\n1\n2\n9\n");
    CHECK(fcntl(9, F_GETFD) & FD_CLOEXEC);
    CHECK_INT(read(pipe_ends[0], buf, sizeof buf), 7);
    close(9);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

/* If stdout and stderr are swapped, neither must overwrite the other. */
IO_TEST(process_standard_descriptors_may_be_crossed)
{
    int saved[3], fds[2];

    for (int i = 1; i < 3; i++)
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 2; i++) {
        fds[i] = memfd_create("coil", MFD_CLOEXEC);
        dup2(fds[i], i + 1);
    }
    coil_process *p = start_shell("echo out; echo err >&2", COIL_NULL, 2, 1);
    int rc = coil_process_wait(p);
    for (int i = 1; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    CHECK_INT(rc, 0);
    for (int i = 0; i < 2; i++) {
        char buf[8] = "";

        CHECK_INT(pread(fds[i], buf, sizeof buf - 1, 0), 4);
        CHECK_STR(buf, i == 0 ? "err\n" : "out\n");
        close(fds[i]);
    }
    coil_process_destroy(p);
}

IO_TEST(process_inherits_a_closed_stdin_as_closed)
{
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    const char *text;

    close(0);
    text = output_of(
        start_shell("exec ls /proc/self/fd", COIL_INHERIT, COIL_PIPE, COIL_NULL), 0);
    CHECK_STR(text, "0\n1\n2\n"); /* descriptor 0 is the directory that ls(1) opens */
    dup2(saved, 0);
    close(saved);
}

/* ---- its signals and its group ----------------------------------------------------- */

static void handle(int signo)
{
    (void)signo;
}

/*
 * Return the set of signals that this process ignores, from /proc/self/status (proc(5)).
 * The set may include the C library's own signals, if make(1) ignored all signals.
 */
static unsigned long long ignored_signals(void)
{
    unsigned long long ignored = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "re");

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        sscanf(line, "SigIgn: %llx", &ignored);
    if (status != NULL)
        fclose(status);
    return ignored;
}

IO_TEST(process_begins_with_its_signals_as_a_program_expects)
{
    sigset_t blocked;
    char expected[128];

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, handle);
    snprintf(expected, sizeof expected,
             "SigBlk:\t0000000000000000\n"
             "SigIgn:\t%016llx\n"
             "SigCgt:\t0000000000000000\n",
             ignored_signals() & ~(1ull << (SIGPIPE - 1)));
    CHECK_STR(shell_output("exec sed -n '/^Sig[BIC]/p' /proc/self/status", 0), expected);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    CHECK(sigismember(&blocked, SIGTERM));
    CHECK(!sigismember(&blocked, SIGINT));
    CHECK(signal(SIGUSR1, SIG_DFL) == handle);
}

static void show_field(const coil_process_opts *base, const char *field, bool is_its_own)
{
    char command[64], number[32];
    const char *argv[] = {"sh", "-c", command, NULL};
    coil_process_opts opts = *base;
    coil_process *p = NULL;

    snprintf(command, sizeof command, "cut -d' ' -f%s /proc/$$/stat", field);
    opts.argv = argv;
    opts.out = COIL_PIPE;
    p = start_process(&opts);
    snprintf(number, sizeof number, "%d\n", (int)coil_process_pid(p));
    CHECK((strcmp(output_of(p, 0), number) == 0) == is_its_own);
}

IO_TEST(process_may_have_a_session_or_group_of_its_own)
{
    show_field(&(coil_process_opts){.new_session = true}, "6", true);
    show_field(&(coil_process_opts){.new_session = true, .new_group = true}, "5", true);
    show_field(&(coil_process_opts){.new_group = true}, "5", true);
    show_field(&(coil_process_opts){.new_group = true}, "6", false);
    show_field(&(coil_process_opts){.cwd = "/"}, "5", false);
}

IO_TEST(process_may_join_anothers_group)
{
    const char *argv[] = {"cat", NULL};
    coil_process *leader = start_process(
        &(coil_process_opts){.argv = argv, .in = COIL_PIPE, .new_group = true});
    coil_process_opts opts = {.argv = argv, .process_group = coil_process_pid(leader)};
    coil_process *p;
    char expected[32];

    snprintf(expected, sizeof expected, "%d\n", (int)coil_process_pid(leader));
    p = start_command(
        "cut -d' ' -f5 /proc/$$/stat",
        &(coil_process_opts){.out = COIL_PIPE, .process_group = opts.process_group});
    CHECK_STR(output_of(p, 0), expected);
    opts.new_group = true;
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    opts.new_group = false;
    opts.process_group = -1;
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    opts.process_group = 1; /* in another session */
    CHECK_INT(coil_process_spawn(&opts, &p), -EPERM);
    coil_process_destroy(leader);
    wait_for_no_children();
}

IO_TEST(process_may_have_a_umask)
{
    mode_t before = umask(022);
    coil_process *p = start_command(
        "umask", &(coil_process_opts){.out = COIL_PIPE, .umask = &(mode_t){0137}});

    CHECK_STR(output_of(p, 0), "0137\n");
    CHECK_STR(shell_output("umask", 0), "0022\n");
    CHECK_INT(umask(before), 022);
}

static const char who[] = "sed -n -e 's/[[:space:]]\\{1,\\}/ /g' -e 's/ $//' "
                          "-e '/^\\(Uid\\|Gid\\|Groups\\):/p' /proc/self/status";

IO_TEST(process_may_be_another_user)
{
    const gid_t groups[] = {12345, 23456};
    coil_process_opts opts = {.out = COIL_PIPE,
                              .user = &(uid_t){65534},
                              .group = &(gid_t){65533},
                              .extra_groups = groups,
                              .extra_group_count = 2};

    if (geteuid() != 0)
        test_skip("this requires root");
    CHECK_STR(output_of(start_command(who, &opts), 0), "Uid: 65534 65534 65534 65534\n"
                                                       "Gid: 65533 65533 65533 65533\n"
                                                       "Groups: 12345 23456\n");
    opts.extra_group_count = 0;
    CHECK_STR(output_of(start_command(who, &opts), 0), "Uid: 65534 65534 65534 65534\n"
                                                       "Gid: 65533 65533 65533 65533\n"
                                                       "Groups:\n");
    CHECK_INT(geteuid(), 0);
    CHECK_INT(prctl(PR_GET_DUMPABLE), 1); /* this process is still dumpable */
}

/*
 * If a step in the child fails before the program runs, this must be reported, whether
 * the child was created with fork(2) or vfork(2).
 */
IO_TEST(process_that_may_not_be_another_user_is_an_error_of_spawn)
{
    const char *argv[] = {"true", NULL}, *missing[] = {"/no/such/program", NULL};
    coil_process_opts opts = {.argv = argv, .user = &(uid_t){geteuid() == 0 ? 65534 : 0}};
    coil_process *p;
    int rc;

    if (test_under_valgrind())
        test_skip("under valgrind, the child only ends with status 127");
    if (geteuid() != 0) {
        CHECK_INT(coil_process_spawn(&opts, &p), -EPERM);
        CHECK(strstr(coil_error_message(coil_last_error()), "as that user") != NULL);
    } else {
        opts.argv = missing;
        rc = coil_process_spawn(&opts, &p);
        CHECK_INT(rc, -ENOENT);
        CHECK(strstr(coil_error_message(coil_last_error()), "cannot run") != NULL);
    }
    opts = (coil_process_opts){.argv = argv, .extra_group_count = 1};
    CHECK_INT(coil_process_spawn(&opts, &p), -EINVAL);
    wait_for_no_children();
}

/*
 * Set the current user and group, which is always allowed. A different user and group are
 * set by the same code.
 */
IO_TEST(process_may_set_its_current_user)
{
    coil_process_opts opts = {
        .out = COIL_PIPE, .user = &(uid_t){geteuid()}, .group = &(gid_t){getegid()}};

    CHECK_STR(output_of(start_command("echo here", &opts), 0), "here\n");
    for (int n = 1; n < 40; n++) {
        const char *argv[] = {"true", NULL};
        coil_process *p = NULL;
        bool both_failed;
        int rc;

        opts.argv = argv;
        coil_testing_fail_system_call((uint64_t)n, 0);
        rc = coil_process_spawn(&opts, &p);
        both_failed = rc == -EBUSY;
        coil_testing_fail_system_call(0, 0);
        CHECK((rc == 0) == (p != NULL));
        if (rc == 0)
            CHECK_INT(coil_process_wait(p), 0);
        coil_process_destroy(p);
        /* The child counts its own calls: it has failed, and so has waitid(2) here. */
        if (both_failed)
            CHECK(waitpid(-1, NULL, 0) > 0);
        wait_for_no_children();
    }
}

/* ---- when something runs out ------------------------------------------------------- */

IO_TEST(process_that_finds_no_descriptors_leaves_none_behind)
{
    const char *argv[] = {"true", NULL};
    coil_process_opts opts = {
        .argv = argv, .in = COIL_PIPE, .out = COIL_PIPE, .err = COIL_NULL};
    /* the first process creates objects that later ones reuse */
    coil_process *p = start_process(&opts);

    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    for (int more = 0; more < 6; more++) {
        int before = limit_descriptors(more);
        int rc = coil_process_spawn(&opts, &p);

        restore_descriptors(before);
        CHECK_INT(rc, -EMFILE);
    }
    p = start_process(&opts);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    wait_for_no_children();
}

IO_TEST(process_bears_every_failing_system_call)
{
    const char *argv[] = {"true", NULL};
    int seven = fcntl(2, F_DUPFD_CLOEXEC, 7);
    coil_process_opts opts = {.argv = argv,
                              .cwd = "/",
                              .in = COIL_PIPE,
                              .out = COIL_PIPE,
                              .err = COIL_NULL,
                              .pass_fds = &seven,
                              .pass_fd_count = 1,
                              .new_session = true};
    int failed = 0;

    if (test_under_valgrind())
        test_skip("valgrind replaces vfork(2) by fork(2)");
    for (unsigned n = 1;; n++) {
        coil_process *p = NULL;
        int rc;

        coil_testing_fail_system_call(n, 0);
        rc = coil_process_spawn(&opts, &p);
        bool done = coil_testing_failed() == NULL;
        coil_testing_fail_system_call(0, 0);
        failed += rc < 0;
        CHECK((rc == 0) == (p != NULL));
        if (rc == 0)
            CHECK_INT(coil_process_wait(p), 0);
        coil_process_destroy(p);
        wait_for_no_children();
        if (done)
            break;
    }
    CHECK(failed > 10);
    close(seven);
}

IO_TEST(process_bears_every_failing_allocation)
{
    const char *argv[] = {"true", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .out = COIL_PIPE};
    coil_process *p = NULL;
    int rc = -ENOMEM;

    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_process_spawn(&opts, &p);
        test_fail_allocation(0);
    }
    if (rc == -ENOSYS)
        test_skip("no pidfds here");
    CHECK_INT(rc, 0);
    CHECK_INT(coil_process_wait(p), 0);
    coil_process_destroy(p);
    wait_for_no_children();
}

IO_TEST(process_thousand_children)
{
    const char *argv[] = {"true", NULL};
    coil_process *all[100];

    for (int left = test_many(test_in_soak() ? 1000 : 200); left > 0; left -= 100) {
        for (int i = 0; i < 100; i++)
            all[i] = start_process(&(coil_process_opts){.argv = argv});
        for (int i = 0; i < 100; i++) {
            CHECK_INT(coil_process_wait(all[i]), 0);
            coil_process_destroy(all[i]);
        }
    }
    wait_for_no_children();
}
