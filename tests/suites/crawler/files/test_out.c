/*
 * test_out.c - crawler/files/out.h: reports stay complete despite signals and slow
 * readers, and write errors are returned.
 */
#include "../../../../crawler/files/out.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int memory_file(void)
{
    int fd = memfd_create("out", MFD_CLOEXEC);

    CHECK(fd >= 0);
    return fd;
}

static void check_content(int fd, const char *expected)
{
    char content[256] = "";

    CHECK(pread(fd, content, sizeof content - 1, 0) >= 0);
    CHECK_STR(content, expected);
}

TEST(out_flush_writes_whole_lines_and_close_the_rest)
{
    int fd = memory_file();
    struct out out;

    CHECK_INT(out_open_fd(&out, fd, "memory"), 0);
    out_put(&out, "one\ntw");
    check_content(fd, "");
    CHECK_INT(out_flush(&out), 0);
    check_content(fd, "one\n");
    out_put(&out, "o\nthree");
    CHECK_INT(out_flush(&out), 0);
    check_content(fd, "one\ntwo\n");
    CHECK_INT(out_close(&out), 0);
    check_content(fd, "one\ntwo\nthree");
    close(fd);
}

TEST(out_lines_may_be_longer_than_the_buffer)
{
    const size_t n = 300000;
    int fd = memory_file();
    char *line = malloc(n + 1), *content = malloc(2 * n);
    struct out out;

    CHECK_INT(out_open_fd(&out, fd, "memory"), 0);
    memset(line, 'x', n);
    memcpy(line, "begin", 5);
    line[n] = '\0';
    out_put(&out, "short\n");
    CHECK_INT(out_print(&out, "%s\n", line), 0);
    CHECK_INT(out_close(&out), 0);
    CHECK_INT(pread(fd, content, 2 * n, 0), n + 7);
    CHECK(memcmp(content, "short\nbegin", 11) == 0 && content[n + 6] == '\n');
    free(line);
    free(content);
    close(fd);
}

TEST(out_a_full_disk_is_told_at_the_end_at_the_latest)
{
    struct out out;

    if (access("/dev/full", W_OK) < 0)
        test_skip("there is no /dev/full");
    CHECK_INT(out_open(&out, "/dev/full"), 0);
    CHECK_INT(out_put(&out, "a\n"), 0);
    CHECK_INT(out_close(&out), -ENOSPC);

    CHECK_INT(out_open(&out, "/dev/full"), 0);
    out_put(&out, "a\n");
    CHECK_INT(out_flush(&out), -ENOSPC);
    CHECK_INT(out_put(&out, "b\n"), -ENOSPC); /* the error persists */
    CHECK_INT(out_flush(&out), -ENOSPC);
    CHECK_INT(out_close(&out), -ENOSPC);
    CHECK_STR(out.name, "/dev/full");
}

TEST(out_a_path_that_cannot_be_opened)
{
    struct out out;

    CHECK_INT(out_open(&out, "/nowhere/at/all"), -ENOENT);
    CHECK_INT(out_put(&out, "a\n"), -ENOENT);
    CHECK_INT(out_close(&out), -ENOENT);
    CHECK_INT(out_open(&out, "/"), -EISDIR);
    CHECK_INT(out_close(&out), -EISDIR);
}

TEST(out_a_reader_that_has_gone)
{
    struct out out;
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    CHECK_INT(out_open_fd(&out, ends[1], "pipe"), 0);
    out_put(&out, "a\n");
    CHECK_INT(out_close(&out), -EPIPE);
    close(ends[1]);
}

/* ---- pipes with readers who take their time ---------------------------------------- */

#define LINES 40000

/*
 * A slow reader, which expects the lines "0", "1" and so on, and counts them up to the
 * first unexpected line.
 */
struct reader {
    int fd;
    pthread_t thread;
    atomic_uint lines;
    bool is_cut; /* the data ends in the middle of a line */
    bool is_wrong;
};

static void *read_lines(void *arg)
{
    struct reader *reader = arg;
    char bytes[1000];
    unsigned number = 0;
    ssize_t n;

    while ((n = read(reader->fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < n; i++) {
            reader->is_cut = bytes[i] != '\n';
            if (reader->is_cut) {
                number = number * 10 + (unsigned)(bytes[i] - '0');
                continue;
            }
            reader->is_wrong |= number != reader->lines;
            reader->lines++;
            number = 0;
        }
        if (reader->lines % 64 == 0)
            usleep(50);
    }
    return NULL;
}

static int count_lines(int fd, struct out *out)
{
    CHECK_INT(out_open_fd(out, fd, "pipe"), 0);
    for (int i = 0; i < LINES; i++)
        out_print(out, "%d\n", i);
    return out_close(out);
}

static void ignore(int signo)
{
    (void)signo;
}

/* Interrupt poll() and write() with a signal every millisecond. */
static void interrupt_often(void)
{
    struct itimerval often = {{0, 1000}, {0, 1000}};
    struct sigaction action = {.sa_handler = ignore};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void check_pipe(bool nonblocking)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    struct reader reader = {.fd = -1};
    struct out out;
    int ends[2];

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    if (nonblocking)
        CHECK_INT(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    reader.fd = ends[0];
    pthread_create(&reader.thread, NULL, read_lines, &reader);
    interrupt_often();
    CHECK_INT(count_lines(ends[1], &out), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    close(ends[1]);
    pthread_join(reader.thread, NULL);
    CHECK_INT(reader.lines, LINES);
    CHECK(!reader.is_wrong);
    close(ends[0]);
}

TEST(out_waits_for_a_slow_reader_whatever_interrupts)
{
    check_pipe(false);
}

TEST(out_waits_for_a_slow_reader_of_a_nonblocking_pipe)
{
    check_pipe(true);
}

/* ---- the end by a signal ----------------------------------------------------------- */

static struct out dying;

static void die(int signo)
{
    (void)signo;
    out_flush_in_handler(&dying);
    _exit(7);
}

static void write_until_killed(int fd)
{
    struct sigaction action = {.sa_handler = die};

    sigaction(SIGTERM, &action, NULL);
    if (out_open_fd(&dying, fd, "pipe") < 0)
        _exit(1);
    for (int i = 0;; i++) {
        out_print(&dying, "%d\n", i);
        if (i % 1000 == 0)
            out_flush(&dying);
    }
}

/*
 * Whenever the signal arrives, each line that was written before it must appear exactly
 * once, and complete.
 */
TEST(out_a_handler_that_ends_the_program_leaves_whole_lines)
{
    for (int round = 0; round < 40; round++) {
        struct reader reader = {.fd = -1};
        int ends[2], status;
        pid_t child;

        CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
        child = fork();
        if (child == 0) {
            close(ends[0]);
            write_until_killed(ends[1]);
        }
        close(ends[1]);
        reader.fd = ends[0];
        pthread_create(&reader.thread, NULL, read_lines, &reader);
        while (reader.lines <= 100u * (unsigned)round)
            usleep(50); /* wait until lines arrive, so the handler is installed */
        kill(child, SIGTERM);
        CHECK_INT(waitpid(child, &status, 0), child);
        pthread_join(reader.thread, NULL);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        CHECK(!reader.is_wrong && !reader.is_cut);
        close(ends[0]);
    }
}

TEST(out_a_handler_writes_what_no_flush_had_written)
{
    int fd = memory_file(), status;
    pid_t child = fork();

    if (child == 0) {
        struct sigaction action = {.sa_handler = die};

        sigaction(SIGTERM, &action, NULL);
        out_open_fd(&dying, fd, "memory");
        out_put(&dying, "one\n");
        out_flush(&dying);
        out_put(&dying, "two\nthree\nfo");
        raise(SIGTERM);
        _exit(1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check_content(fd, "one\ntwo\nthree\n");
    close(fd);
}

static void wait_until_full(int fd)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};

    while (poll(&room, 1, 0) > 0)
        usleep(1000);
}

/* The signal handler must not wait for a reader that leaves the pipe full. */
TEST(out_a_handler_gives_up_a_reader_that_stands_still)
{
    int ends[2], status;
    pid_t child;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        write_until_killed(ends[1]);
    }
    wait_until_full(ends[1]);
    kill(child, SIGTERM);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    close(ends[0]);
    close(ends[1]);
}

static int open_terminal(int *its_end)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    *its_end = -1;
    if (fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0)
        *its_end = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*its_end < 0)
        test_skip("no terminal can be opened");
    return fd;
}

static void write_lines_until_killed(int fd, atomic_int *count)
{
    struct sigaction action = {.sa_handler = die};

    sigaction(SIGTERM, &action, NULL);
    if (out_open_fd(&dying, fd, "terminal") < 0)
        _exit(1);
    for (;; atomic_fetch_add(count, 1)) {
        out_print(&dying, "a line of %d\n", atomic_load(count));
        out_flush(&dying);
    }
}

static void wait_until_it_stands_still(const atomic_int *count)
{
    for (int before = 0, now; (now = atomic_load(count)) == 0 || now != before;
         before = now)
        usleep(100000);
}

/*
 * While a terminal has accepted only a part of a line, signals must not remain blocked.
 */
TEST(out_a_signal_comes_through_while_nobody_reads_the_terminal)
{
    atomic_int *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int its_end, status, fd = open_terminal(&its_end), ended = 0;
    pid_t child = fork();

    if (child == 0)
        write_lines_until_killed(its_end, count);
    wait_until_it_stands_still(count);
    kill(child, SIGTERM);
    for (int i = 0; i < 300 && ended == 0; i++) {
        ended = waitpid(child, &status, WNOHANG);
        usleep(100000);
    }
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    munmap(count, sizeof *count);
    close(its_end);
    close(fd);
}
