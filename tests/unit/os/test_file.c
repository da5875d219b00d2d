/*
 * test_file.c - files: reading, writing, closing, cancelling, and descriptors that are
 * not files.
 */
#include "../../harness/harness.h"
#include "places.h"

#include <coil.h>

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static coil_file *open_file(const char *path, int flags)
{
    coil_file *file = NULL;

    CHECK_INT(coil_file_open(path, flags, 0644, &file), 0);
    return file;
}

/* ---- reading and writing ----------------------------------------------------------- */

static void read_and_write(void)
{
    char buf[32] = "";
    coil_file *f = open_file("a", O_RDWR | O_CREAT | O_EXCL);

    CHECK(fcntl(coil_file_fd(f), F_GETFD) & FD_CLOEXEC);
    CHECK_INT(coil_file_write(f, "hello, world", 12), 12);
    CHECK_INT(coil_file_transferred(f), 12);
    CHECK_INT(coil_file_read(f, buf, sizeof buf), 0);
    CHECK_INT(coil_file_seek(f, -5, SEEK_CUR), 7);
    CHECK_INT(coil_file_read(f, buf, sizeof buf), 5);
    CHECK(memcmp(buf, "world", 5) == 0);
    CHECK_INT(coil_file_pwrite(f, "J", 1, 0), 1);
    CHECK_INT(coil_file_pread(f, buf, 4, 0), 4);
    CHECK(memcmp(buf, "Jell", 4) == 0);
    CHECK_INT(coil_file_seek(f, 0, SEEK_CUR), 12);
    CHECK_INT(coil_file_close(f), 0);
    CHECK_INT(coil_file_fd(f), -1);
    CHECK_INT(coil_file_close(f), 0);
    CHECK_INT(coil_file_read(f, buf, 1), -EBADF);
    CHECK_INT(coil_file_write(f, buf, 0), -EBADF);
    CHECK_INT(coil_file_sync(f, false), -EBADF);
    coil_file_destroy(f);
    check_file("a", "Jello, world");
}

IO_TEST(file_is_read_and_written_at_its_position_and_elsewhere)
{
    in_each_place(read_and_write);
    coil_file_destroy(NULL);
}

static void read_exactly(void)
{
    char buf[8];
    coil_file *f;

    put_file("a", "0123456789");
    f = open_file("a", O_RDONLY);
    CHECK_INT(coil_file_read_exact(f, buf, 8), 8);
    CHECK_INT(coil_file_read_exact(f, buf, 8), -ENODATA);
    CHECK_INT(coil_file_transferred(f), 2);
    CHECK(memcmp(buf, "89", 2) == 0);
    CHECK_INT(coil_file_pread_exact(f, buf, 4, 6), 4);
    CHECK_INT(coil_file_pread_exact(f, buf, 4, 7), -ENODATA);
    CHECK_INT(coil_file_transferred(f), 3);
    CHECK_INT(coil_file_read_exact(f, buf, 0), 0);
    CHECK_INT(coil_file_write(f, "x", 1), -EBADF);
    CHECK_INT(coil_file_pread(f, buf, 1, -1), -EINVAL);
    CHECK_INT(coil_file_pread_exact(f, buf, 1, -1), -EINVAL);
    CHECK_INT(coil_file_pwrite(f, buf, 1, -1), -EINVAL);
    coil_file_destroy(f);
}

IO_TEST(file_is_read_exactly_or_says_how_much_there_was)
{
    in_a_place(read_exactly);
}

static void append(void)
{
    coil_file *f, *other;

    put_file("a", "1");
    f = open_file("a", O_WRONLY | O_APPEND);
    other = open_file("a", O_WRONLY | O_APPEND);
    CHECK_INT(coil_file_write(f, "2", 1), 1);
    CHECK_INT(coil_file_write(other, "3", 1), 1);
    /* this appends: see BUGS in pwrite(2) */
    CHECK_INT(coil_file_pwrite(f, "4", 1, 0), 1);
    coil_file_destroy(f);
    coil_file_destroy(other);
    check_file("a", "1234");
}

IO_TEST(file_is_appended_to)
{
    in_a_place(append);
}

static void far_away(void)
{
    const int64_t far = INT64_C(5) << 30;
    struct statx st;
    char c = '?';
    coil_file *f = open_file("a", O_RDWR | O_CREAT);

    CHECK_INT(coil_file_pwrite(f, "x", 1, far), 1);
    CHECK_INT(coil_file_pread(f, &c, 1, far), 1);
    CHECK_INT(c, 'x');
    CHECK_INT(coil_file_seek(f, 0, SEEK_END), far + 1);
    CHECK_INT(coil_file_stat(f, &st), 0);
    CHECK_INT(st.stx_size, far + 1);
    CHECK_INT(coil_file_truncate(f, 3), 0);
    CHECK_INT(coil_file_stat(f, &st), 0);
    CHECK_INT(st.stx_size, 3);
    CHECK_INT(coil_file_allocate(f, 0, 0, 4096), 0);
    CHECK_INT(coil_file_allocate(f, 0, 0, 0), -EINVAL);
    CHECK_INT(coil_file_stat(f, &st), 0);
    CHECK_INT(st.stx_size, 4096);
    CHECK_INT(coil_file_chmod(f, 0600), 0);
    CHECK_INT(coil_file_sync(f, true), 0);
    CHECK_INT(coil_file_sync(f, false), 0);
    CHECK_INT(coil_file_stat(f, &st), 0);
    CHECK_INT(st.stx_mode & 07777, 0600);
    coil_file_destroy(f);
}

IO_TEST(file_beyond_4_gib_and_its_size)
{
    in_each_place(far_away);
}

static void adopt(void)
{
    coil_file *f;
    int fd;

    put_file("a", "1");
    fd = open("a", O_RDONLY | O_CLOEXEC);
    CHECK_INT(coil_file_adopt(-1, &f), -EBADF);
    CHECK_INT(coil_file_adopt(fd, &f), 0);
    CHECK_INT(coil_file_fd(f), fd);
    coil_file_destroy(f);
    CHECK_INT(fcntl(fd, F_GETFD), -1);
}

IO_TEST(file_adopts_a_descriptor)
{
    in_a_place(adopt);
}

/* ---- temporary files --------------------------------------------------------------- */

static void temporary(void)
{
    char named[] = "t-XXXXXX", other[] = "t-XXXXXX";
    coil_file *f;
    char c;

    CHECK_INT(coil_file_open_temporary(".", &f), 0);
    CHECK_INT(count_names(), 0);
    CHECK_INT(coil_file_write(f, "x", 1), 1);
    CHECK_INT(coil_file_pread(f, &c, 1, 0), 1);
    coil_file_destroy(f);
    CHECK_INT(coil_file_open_temporary("missing", &f), -ENOENT);
    CHECK_INT(coil_mkstemp(named, &f), 0);
    CHECK(strcmp(named, other) != 0);
    CHECK(access(named, R_OK) == 0);
    CHECK_INT(coil_file_write(f, "x", 1), 1);
    coil_file_destroy(f);
    CHECK_INT(coil_mkdtemp(other), 0);
    CHECK_INT(count_names(), 2);
    CHECK_INT(coil_mkdtemp((char[]){"t-XXXXX"}), -EINVAL);
    CHECK_INT(coil_mkstemp((char[]){""}, &f), -EINVAL);
    strcpy(named, "x/XXXXXX");
    CHECK_INT(coil_mkstemp(named, &f), -ENOENT);
    CHECK_STR(named, "x/XXXXXX");
}

IO_TEST(file_that_is_temporary)
{
    coil_file *f;

    in_each_place(temporary);
    CHECK_INT(coil_file_open_temporary(NULL, &f), 0);
    coil_file_destroy(f);
}

/* ---- failures ---------------------------------------------------------------------- */

static void failures(void)
{
    char name[300];
    coil_file *f;

    CHECK_INT(coil_file_open("missing", O_RDONLY, 0, &f), -ENOENT);
    CHECK_INT(coil_file_open(".", O_WRONLY, 0, &f), -EISDIR);
    put_file("a", "1");
    CHECK_INT(coil_file_open("a/b", O_RDONLY, 0, &f), -ENOTDIR);
    CHECK_INT(coil_file_open("a", O_CREAT | O_EXCL | O_RDWR, 0600, &f), -EEXIST);
    CHECK(symlink("round", "round") == 0);
    CHECK_INT(coil_file_open("round", O_RDONLY, 0, &f), -ELOOP);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_INT(coil_file_open(name, O_CREAT | O_WRONLY, 0600, &f), -ENAMETOOLONG);
    CHECK_INT(coil_file_open("", O_RDONLY, 0, &f), -ENOENT);
    f = open_file(".", O_RDONLY | O_DIRECTORY);
    CHECK_INT(coil_file_read(f, name, 1), -EISDIR);
    coil_file_destroy(f);
}

IO_TEST(file_fails_as_its_system_calls_do)
{
    in_a_place(failures);
}

IO_TEST(file_that_is_full)
{
    coil_file *f = open_file("/dev/full", O_WRONLY);

    CHECK_INT(coil_file_write(f, "x", 1), -ENOSPC);
    CHECK_INT(coil_file_transferred(f), 0);
    coil_file_destroy(f);
    CHECK_INT(coil_write_file("/dev/full", "x", 1, 0600, 0), -ENOSPC);
}

static void too_large(void)
{
    static char data[100 * 1024];
    struct rlimit before, limit;
    coil_file *f = open_file("a", O_WRONLY | O_CREAT);

    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 64 * 1024;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_INT(coil_file_write(f, data, sizeof data), -EFBIG);
    CHECK_INT(coil_file_transferred(f), 64 * 1024);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    coil_file_destroy(f);
}

IO_TEST(file_says_how_much_was_written_before_it_failed)
{
    in_a_place(too_large);
}

static void out_of_descriptors(void)
{
    struct rlimit before, limit;
    coil_file *f;
    int probe;

    put_file("a", "1");
    /* Start the lane's thread before filling the table of descriptors. */
    CHECK_INT(coil_file_open("a", O_RDONLY, 0, &f), 0);
    coil_file_destroy(f);
    probe = open("a", O_RDONLY | O_CLOEXEC);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    limit = before;
    limit.rlim_cur = (rlim_t)probe;
    close(probe);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK_INT(coil_file_open("a", O_RDONLY, 0, &f), -EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_INT(coil_file_open("a", O_RDONLY, 0, &f), 0);
    coil_file_destroy(f);
}

IO_TEST(file_without_a_descriptor_left)
{
    in_a_place(out_of_descriptors);
}

/* ---- other descriptors ------------------------------------------------------------- */

IO_TEST(file_of_proc_and_of_devices)
{
    char buf[64];
    void *data;
    size_t n;
    coil_file *f = open_file("/proc/self/comm", O_RDONLY);

    CHECK(coil_file_read(f, buf, sizeof buf) > 0);
    coil_file_destroy(f);
    CHECK_INT(coil_read_file("/proc/self/stat", 0, &data, &n), 0);
    CHECK(n > 0 && n == strlen(data));
    coil_free(data);
    f = open_file("/dev/zero", O_RDONLY);
    memset(buf, 1, sizeof buf);
    CHECK_INT(coil_file_read_exact(f, buf, sizeof buf), sizeof buf);
    CHECK_INT(buf[63], 0);
    coil_file_destroy(f);
}

static int open_for_reading(void *arg)
{
    return coil_file_open("fifo", O_RDONLY, 0, arg);
}

/* A FIFO acts as a slow file, which must block only one thread. */
static void slow_file(void)
{
    coil_file *reader, *other, *writer;
    coil_task *opening;
    char c = '?';

    CHECK(mkfifo("fifo", 0600) == 0);
    put_file("a", "1");
    CHECK_INT(coil_spawn(open_for_reading, &reader, NULL, &opening), 0);
    for (int i = 0; i < 10; i++) {
        other = open_file("a", O_RDONLY);
        CHECK_INT(coil_file_read(other, &c, 1), 1);
        CHECK_INT(coil_file_close(other), 0);
        coil_file_destroy(other);
    }
    CHECK(!coil_future_done(coil_task_future(opening)));
    writer = open_file("fifo", O_WRONLY);
    CHECK_INT(coil_task_await(opening), 0);
    coil_task_release(opening);
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    CHECK_INT(coil_file_read(reader, &c, 1), 1);
    CHECK_INT(c, 'x');
    CHECK_INT(coil_file_seek(reader, 0, SEEK_SET), -ESPIPE);
    CHECK_INT(coil_file_pwrite(writer, "y", 1, 0), -ESPIPE);
    CHECK_INT(coil_file_pread(reader, &c, 1, 0), -ESPIPE);
    coil_file_destroy(writer);
    CHECK_INT(coil_file_read(reader, &c, 1), 0);
    coil_file_destroy(reader);
}

IO_TEST(file_that_is_slow_holds_up_nobody_else)
{
    in_a_place(slow_file);
}

/* ---- many tasks -------------------------------------------------------------------- */

#define MANY 1000

struct cell {
    coil_file *file;
    int64_t number;
};

static int write_cell(void *arg)
{
    struct cell *cell = arg;
    int64_t found = -1;
    ssize_t n = coil_file_pwrite(cell->file, &cell->number, sizeof cell->number,
                                 cell->number * (int64_t)sizeof cell->number);

    if (n < 0)
        return (int)n;
    n = coil_file_pread_exact(cell->file, &found, sizeof found,
                              cell->number * (int64_t)sizeof cell->number);
    if (n < 0)
        return (int)n;
    return found == cell->number ? 0 : -EPROTO;
}

static void at_once(void)
{
    static struct cell cells[MANY];
    struct statx st;
    coil_group g;
    coil_file *f = open_file("a", O_RDWR | O_CREAT);

    coil_group_enter(&g);
    for (int i = 0; i < MANY; i++) {
        cells[i] = (struct cell){f, i};
        CHECK_INT(coil_group_spawn(&g, write_cell, &cells[i], NULL, NULL), 0);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(coil_file_stat(f, &st), 0);
    CHECK_INT(st.stx_size, MANY * (int)sizeof(int64_t));
    CHECK_INT(coil_file_close(f), 0);
    coil_file_destroy(f);
}

IO_TEST(file_used_a_thousand_times_at_once)
{
    in_a_place(at_once);
}

struct line {
    coil_file *file;
    char text[64];
};

static int write_line(void *arg)
{
    struct line *line = arg;

    return (int)coil_file_write(line->file, line->text, strlen(line->text));
}

static int read_line(void *arg)
{
    struct line *line = arg;

    return (int)coil_file_read_exact(line->file, line->text, 6);
}

/* Many tasks use the same file position. No byte must be overwritten or read twice. */
static void take_turns(void)
{
    static struct line lines[100];
    char expected[8];
    coil_group g;
    coil_file *f = open_file("a", O_RDWR | O_CREAT);

    coil_group_enter(&g);
    for (int i = 0; i < 100; i++) {
        lines[i].file = f;
        snprintf(lines[i].text, sizeof lines[i].text, "%05d\n", i);
        CHECK_INT(coil_group_spawn(&g, write_line, &lines[i], NULL, NULL), 0);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(coil_file_seek(f, 0, SEEK_SET), 0);
    coil_group_enter(&g);
    for (int i = 0; i < 100; i++) {
        memset(lines[i].text, 0, sizeof lines[i].text);
        CHECK_INT(coil_group_spawn(&g, read_line, &lines[i], NULL, NULL), 0);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
    for (int i = 0; i < 100; i++) {
        snprintf(expected, sizeof expected, "%05d\n", i);
        CHECK_STR(lines[i].text, expected);
    }
    coil_file_destroy(f);
}

IO_TEST(file_calls_at_the_position_take_turns)
{
    in_each_place(take_turns);
}

/* ---- closing a file in use --------------------------------------------------------- */

struct reading {
    coil_file *file;
    char byte;
};

static int read_byte(void *arg)
{
    struct reading *r = arg;

    return (int)coil_file_read(r->file, &r->byte, 1);
}

static int read_two(void *arg)
{
    struct reading *r = arg;
    char two[2];
    ssize_t n = coil_file_read_exact(r->file, two, 2);

    r->byte = two[0];
    return (int)n;
}

static int close_it(void *arg)
{
    return coil_file_close(arg);
}

static void finish(coil_task *task, int expected)
{
    CHECK_INT(coil_task_await(task), expected);
    coil_task_release(task);
}

/* Open both ends of a FIFO in the working directory. */
static void open_fifo(struct reading *r, coil_file **writer)
{
    coil_task *opening;

    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK_INT(coil_spawn(open_for_reading, &r->file, NULL, &opening), 0);
    *writer = open_file("fifo", O_WRONLY);
    finish(opening, 0);
}

static void close_while_read(void)
{
    struct reading r;
    coil_file *writer;
    coil_task *reader, *closer, *second;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_byte, &r, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_INT(coil_spawn(close_it, r.file, NULL, &closer), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK(!coil_future_done(coil_task_future(closer)));
    CHECK_INT(coil_file_read(r.file, &r.byte, 1), -EBADF);
    CHECK_INT(coil_spawn(close_it, r.file, NULL, &second), 0);
    finish(second, -EBUSY);
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    finish(reader, 1);
    CHECK_INT(r.byte, 'x');
    finish(closer, 0);
    coil_file_destroy(r.file);
    coil_file_destroy(writer);
}

IO_TEST(file_close_waits_for_the_calls_in_it)
{
    in_a_place(close_while_read);
}

static void close_between_steps(void)
{
    struct reading r;
    coil_file *writer;
    coil_task *reader, *closer;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_two, &r, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_INT(coil_spawn(close_it, r.file, NULL, &closer), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    finish(reader, -EBADF);
    CHECK_INT(coil_file_transferred(r.file), 1);
    finish(closer, 0);
    coil_file_destroy(r.file);
    coil_file_destroy(writer);
}

IO_TEST(file_closed_ends_a_call_of_many_steps)
{
    in_a_place(close_between_steps);
}

static void close_is_cancelled(void)
{
    struct reading r;
    coil_file *writer;
    coil_task *reader, *closer;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_byte, &r, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_INT(coil_spawn(close_it, r.file, NULL, &closer), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    coil_task_cancel(closer, NULL);
    finish(closer, -ECANCELED);
    CHECK_INT(coil_file_fd(r.file), -1);
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    /* must wait for the reader, as the first close does */
    CHECK_INT(coil_file_close(r.file), 0);
    finish(reader, 1);
    coil_file_destroy(r.file);
    coil_file_destroy(writer);
}

IO_TEST(file_close_can_be_cancelled_and_called_again)
{
    in_a_place(close_is_cancelled);
}

static void destroy_while_read(void)
{
    struct reading r;
    coil_file *writer;
    coil_task *reader, *closer;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_byte, &r, NULL, &reader), 0);
    CHECK_INT(coil_spawn(close_it, r.file, NULL, &closer), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    coil_task_cancel(closer, NULL);
    finish(closer, -ECANCELED);
    coil_file_destroy(r.file);
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    finish(reader, 1);
    coil_file_destroy(writer);
}

IO_TEST(file_destroyed_is_closed_by_the_last_call_in_it)
{
    in_a_place(destroy_while_read);
}

/* ---- cancelling -------------------------------------------------------------------- */

static void cancel_begun(void)
{
    struct reading r;
    coil_file *writer;
    coil_task *reader;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_byte, &r, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    coil_task_cancel(reader, NULL);
    coil_yield();
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    /* coil has either abandoned the read, or waited for it and returned its result. */
    CHECK_INT(coil_task_await(reader) == 1 ? r.byte : 'x', 'x');
    coil_task_release(reader);
    coil_file_destroy(r.file);
    coil_file_destroy(writer);
}

IO_TEST(file_call_that_is_cancelled_ends_before_its_buffer_does)
{
    in_a_place(cancel_begun);
}

static int open_a(void *arg)
{
    return coil_file_open("a", O_RDONLY, 0, arg);
}

/* Cancel an open at various moments. The descriptor must not leak. */
static void cancel_opening(void)
{
    put_file("a", "1");
    for (int turns = 0; turns < 20; turns++) {
        coil_file *f = NULL;
        coil_task *task;

        CHECK_INT(coil_spawn(open_a, &f, NULL, &task), 0);
        for (int i = 0; i < turns; i++)
            coil_yield();
        coil_task_cancel(task, NULL);
        /* An open that had already completed succeeds. */
        if (coil_task_await(task) == 0)
            CHECK(f != NULL);
        coil_task_release(task);
        coil_file_destroy(f);
    }
}

struct endless {
    coil_file *file;
    int reads_after;
    bool begun, cancelled;
};

static int read_for_ever(void *arg)
{
    struct endless *e = arg;
    ssize_t n = 0;
    char byte;

    while (e->reads_after < 1000 && (n = coil_file_read(e->file, &byte, 1)) > 0) {
        e->begun = true;
        e->reads_after += e->cancelled;
    }
    return n < 0 ? (int)n : 0;
}

/*
 * With io_uring, each read completes before the request to cancel it is handled. Even so,
 * at most one read may succeed after the cancellation.
 */
IO_TEST(file_without_end_that_is_read_for_ever_can_be_cancelled)
{
    struct endless e = {.file = open_file("/dev/zero", O_RDONLY)};
    coil_task *task;

    CHECK_INT(coil_spawn(read_for_ever, &e, NULL, &task), 0);
    while (!e.begun)
        CHECK_INT(coil_yield(), 0);
    e.cancelled = true;
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(e.reads_after <= 1);
    coil_task_release(task);
    coil_file_destroy(e.file);
}

IO_TEST(file_open_that_is_cancelled_loses_no_descriptor)
{
    in_a_place(cancel_opening);
}

static void cancel_closing(void)
{
    for (int turns = 0; turns < 20; turns++) {
        coil_file *f = open_file("a", O_WRONLY | O_CREAT);
        int fd = coil_file_fd(f), rc;
        coil_task *task;

        CHECK_INT(coil_spawn(close_it, f, NULL, &task), 0);
        for (int i = 0; i < turns; i++)
            coil_yield();
        coil_task_cancel(task, NULL);
        rc = coil_task_await(task);
        CHECK(rc == 0 || rc == -ECANCELED);
        /* with 0 turns, close_it() has not begun */
        CHECK(turns == 0 || fcntl(fd, F_GETFD) < 0);
        coil_task_release(task);
        coil_file_destroy(f);
    }
}

IO_TEST(file_close_that_is_cancelled_closes)
{
    in_a_place(cancel_closing);
}

/* ---- everything that may fail, fails ----------------------------------------------- */

static int use_file(void)
{
    char buf[4];
    coil_file *f;
    int rc = coil_file_open("a", O_RDWR | O_CREAT | O_TRUNC, 0600, &f);
    ssize_t n;

    if (rc < 0)
        return rc;
    n = coil_file_write(f, "abcd", 4);
    if (n >= 0)
        n = coil_file_pread_exact(f, buf, 4, 0);
    if (n >= 0)
        n = coil_file_sync(f, false);
    if (n >= 0)
        n = coil_file_close(f);
    coil_file_destroy(f);
    return n < 0 ? (int)n : 0;
}

/*
 * Make each system call of use_file() fail once. Returns the number of failed calls that
 * use the file, not counting those in which the loop waits.
 */
static int each_call_fails(void)
{
    int rc, failures = 0;

    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_system_call(nth, 0);
        rc = use_file();
        if (coil_testing_failed() == NULL)
            break;
        if (strstr(coil_testing_failed(), "op->fd") != NULL) {
            CHECK(rc < 0);
            failures++;
        }
    }
    coil_testing_fail_system_call(0, 0);
    CHECK_INT(rc, 0);
    return failures;
}

static void nth_call_fails(void)
{
    /*
     * Repeat until a call that uses the file has failed. This may take several attempts,
     * because the number of waits varies.
     */
    while (each_call_fails() == 0)
        ;
    coil_testing_fail_system_call(1, EINTR); /* EINTR is not an error */
    CHECK_INT(use_file(), 0);
    coil_testing_fail_system_call(0, 0);
}

TASK_TEST(file_whose_nth_system_call_fails)
{
    in_a_place(nth_call_fails);
}

static void nth_allocation_fails(void)
{
    int rc, nth = 0;

    CHECK_INT(use_file(), 0); /* starts the lane's thread */
    do {
        coil_testing_fail_allocation((uint64_t)++nth);
        rc = use_file();
        CHECK(rc == 0 || rc == -ENOMEM);
    } while (coil_testing_failed() != NULL);
    coil_testing_fail_allocation(0);
    CHECK_INT(rc, 0);
}

TASK_TEST(file_whose_nth_allocation_fails)
{
    in_a_place(nth_allocation_fails);
}

/* ---- debug output ------------------------------------------------------------------ */

static void shown(void)
{
    struct reading r;
    coil_waiting waiting;
    coil_file *writer;
    coil_task *reader;

    open_fifo(&r, &writer);
    CHECK_INT(coil_spawn(read_byte, &r, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK(coil_task_waiting(reader, &waiting));
    CHECK_STR(waiting.what, "read");
    CHECK_INT(waiting.fd, coil_file_fd(r.file));
    CHECK_INT(coil_file_write(writer, "x", 1), 1);
    finish(reader, 1);
    coil_file_destroy(r.file);
    coil_file_destroy(writer);
}

IO_TEST(file_calls_are_shown_by_their_names)
{
    in_a_place(shown);
}
