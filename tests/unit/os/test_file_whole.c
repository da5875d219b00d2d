/*
 * test_file_whole.c - reading, writing and copying whole files.
 */
#include "../../harness/harness.h"
#include "places.h"

#include <coil.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* ---- reading ----------------------------------------------------------------------- */

static void read_whole(void)
{
    void *data = NULL;
    size_t n = 0;

    put_file("a", "some text");
    CHECK_INT(coil_read_file("a", 0, &data, &n), 0);
    CHECK_INT(n, 9);
    CHECK_STR(data, "some text");
    coil_free(data);
    CHECK_INT(coil_read_file("a", 9, &data, &n), 0);
    coil_free(data);
    CHECK_INT(coil_read_file("a", 8, &data, &n), -EFBIG);
    put_file("empty", "");
    CHECK_INT(coil_read_file("empty", 8, &data, &n), 0);
    CHECK_INT(n, 0);
    CHECK_STR(data, "");
    coil_free(data);
    coil_free(NULL);
    CHECK_INT(coil_read_file(".", 0, &data, &n), -EISDIR);
    CHECK_INT(coil_read_file("missing", 0, &data, &n), -ENOENT);
}

IO_TEST(file_read_whole)
{
    in_each_place(read_whole);
}

IO_TEST(file_read_whole_that_does_not_know_its_size)
{
    void *data;
    size_t n, again;

    CHECK_INT(coil_read_file("/proc/self/maps", 0, &data, &n), 0);
    CHECK(n > 4096);
    CHECK_INT(strlen(data), n);
    coil_free(data);
    CHECK_INT(coil_read_file("/proc/self/maps", 100, &data, &again), -EFBIG);
    CHECK_INT(coil_read_file("/dev/zero", 100000, &data, &again), -EFBIG);
}

/* ---- writing ----------------------------------------------------------------------- */

static void write_whole(void)
{
    umask(022);
    CHECK_INT(coil_write_file("a", "long text", 9, 0666, 0), 0);
    check_file("a", "long text");
    CHECK_INT(mode_of("a"), 0644);
    CHECK_INT(coil_write_file("a", "short", 5, 0666, 0), 0);
    check_file("a", "short");
    CHECK_INT(coil_write_file("a", "er", 2, 0666, COIL_FILE_APPEND), 0);
    check_file("a", "shorter");
    CHECK_INT(coil_write_file("a", "", 0, 0666, COIL_FILE_EXCLUSIVE), -EEXIST);
    check_file("a", "shorter");
    CHECK_INT(coil_write_file("b", "b", 1, 0666, COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC),
              0);
    check_file("b", "b");
    CHECK_INT(coil_write_file("b", "", 0, 0666, COIL_FILE_APPEND | COIL_FILE_ATOMIC),
              -EINVAL);
    CHECK_INT(coil_write_file("b", "", 0, 0666, 1u << 31), -EINVAL);
    CHECK_INT(coil_write_file(".", "", 0, 0666, 0), -EISDIR);
    CHECK_INT(coil_write_file("x/y", "", 0, 0666, 0), -ENOENT);
}

IO_TEST(file_written_whole)
{
    in_each_place(write_whole);
}

static void write_atomic(void)
{
    ino_t before;
    struct stat st;
    int old;
    char c;

    umask(027);
    CHECK_INT(coil_write_file("a", "1", 1, 0666, COIL_FILE_ATOMIC), 0);
    check_file("a", "1");
    CHECK_INT(mode_of("a"), 0640);
    CHECK(chmod("a", 0606) == 0);
    CHECK(stat("a", &st) == 0);
    before = st.st_ino;
    old = open("a", O_RDONLY | O_CLOEXEC);
    CHECK_INT(coil_write_file("a", "2", 1, 0666, COIL_FILE_ATOMIC | COIL_FILE_SYNC), 0);
    check_file("a", "2");
    CHECK_INT(mode_of("a"), 0606);
    CHECK(stat("a", &st) == 0 && st.st_ino != before);
    CHECK(read(old, &c, 1) == 1 && c == '1');
    close(old);
    CHECK_INT(coil_write_file("a", "3", 1, 0666, COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE),
              -EEXIST);
    CHECK_INT(coil_write_file(".", "3", 1, 0666, COIL_FILE_ATOMIC), -EISDIR);
    CHECK_INT(coil_write_file("x/a", "3", 1, 0666, COIL_FILE_ATOMIC), -ENOENT);
    CHECK_INT(count_names(), 1);
    CHECK(mkdir("d", 0700) == 0);
    CHECK_INT(coil_write_file("d/a", "4", 1, 0666,
                              COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC),
              0);
    check_file("d/a", "4");
}

IO_TEST(file_written_atomically)
{
    in_each_place(write_atomic);
}

static int write_new(void *rc)
{
    *(int *)rc = coil_write_file("a", "new", 3, 0666, COIL_FILE_ATOMIC | COIL_FILE_SYNC);
    return 0;
}

/*
 * Cancel an atomic write at various moments. The file must have its old or its new
 * contents, and no temporary file must be left.
 */
static void cancel_atomic(void)
{
    for (int turns = 0; turns < 60; turns++) {
        coil_task *task;
        int rc = -ECANCELED; /* the result of a task that is cancelled before it begins */

        put_file("a", "old");
        CHECK_INT(coil_spawn(write_new, &rc, NULL, &task), 0);
        for (int i = 0; i < turns; i++)
            CHECK_INT(i % 3 ? coil_yield() : coil_sleep(COIL_USEC(20)), 0);
        coil_task_cancel(task, NULL);
        coil_task_await(task);
        coil_task_release(task);
        CHECK(rc == 0 || rc == -ECANCELED);
        CHECK_INT(count_names(), 1);
        check_file("a", rc == 0 ? "new" : "old");
    }
}

IO_TEST(file_written_atomically_and_cancelled)
{
    in_a_place(cancel_atomic);
}

static void nth_call_of_atomic_fails(void)
{
    int rc;

    for (uint64_t nth = 1;; nth++) {
        put_file("a", "old");
        coil_testing_fail_system_call(nth, 0);
        write_new(&rc);
        /* The call that failed may be part of the cleanup. */
        CHECK_INT(count_names(), 1);
        if (coil_testing_failed() == NULL)
            break;
        /* After the rename, only the directory's fsync(2) can fail. */
        if (rc < 0 && strstr(coil_testing_failed(), "fsync") == NULL)
            check_file("a", "old");
    }
    coil_testing_fail_system_call(0, 0);
    CHECK_INT(rc, 0);
    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_allocation(nth);
        write_new(&rc);
        if (coil_testing_failed() == NULL)
            break;
        CHECK_INT(rc, -ENOMEM);
        CHECK_INT(count_names(), 1);
    }
    coil_testing_fail_allocation(0);
}

TASK_TEST(file_written_atomically_whose_nth_call_fails)
{
    in_a_place(nth_call_of_atomic_fails);
}

/* ---- copying ----------------------------------------------------------------------- */

static void count_progress(int64_t done, int64_t total, void *arg)
{
    int64_t *last = arg;

    CHECK(done >= *last);
    CHECK(done <= total);
    *last = done;
}

static void copy(void)
{
    coil_copy_opts opts = {.flags = COIL_FILE_EXCLUSIVE};
    int64_t progress = 0;

    umask(022);
    put_file("a", "text");
    CHECK(chmod("a", 0775) == 0);
    CHECK_INT(coil_copy_file("a", "b", NULL), 0);
    check_file("b", "text");
    CHECK_INT(mode_of("b"), 0775);
    put_file("a", "much more text than before");
    CHECK_INT(coil_copy_file("a", "b", &opts), -EEXIST);
    opts = (coil_copy_opts){.progress = count_progress, .arg = &progress};
    CHECK_INT(coil_copy_file("a", "b", &opts), 0);
    check_file("b", "much more text than before");
    CHECK_INT(progress, 26);
    put_file("a", "less");
    opts = (coil_copy_opts){.flags = COIL_FILE_ATOMIC | COIL_FILE_SYNC};
    CHECK_INT(coil_copy_file("a", "b", &opts), 0);
    check_file("b", "less");
    put_file("a", "");
    CHECK_INT(coil_copy_file("a", "b", NULL), 0);
    check_file("b", "");
    CHECK_INT(count_names(), 2);
}

IO_TEST(file_copied)
{
    in_each_place(copy);
}

static void yield_and_count(int64_t done, int64_t total, void *arg)
{
    (void)done, (void)total;
    CHECK_INT(coil_yield(), 0);
    ++*(int *)arg;
}

static void copy_with_a_callback_that_waits(void)
{
    int calls = 0;
    coil_copy_opts opts = {.progress = yield_and_count, .arg = &calls};

    put_file("a", "text");
    CHECK_INT(coil_copy_file("a", "b", &opts), 0);
    check_file("b", "text");
    CHECK_INT(calls, 1);
}

IO_TEST(file_copy_goes_on_after_a_callback_that_waited)
{
    in_each_place(copy_with_a_callback_that_waits);
}

static void copy_what_cannot_be(void)
{
    coil_copy_opts opts = {.flags = COIL_FILE_ATOMIC};

    put_file("a", "text");
    CHECK(mkdir("d", 0700) == 0);
    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK(link("a", "same") == 0);
    CHECK_INT(coil_copy_file("missing", "b", NULL), -ENOENT);
    CHECK_INT(coil_copy_file("d", "b", NULL), -EISDIR);
    CHECK_INT(coil_copy_file("fifo", "b", NULL), -EINVAL);
    CHECK_INT(coil_copy_file("a", "d", NULL), -EISDIR);
    CHECK_INT(coil_copy_file("a", "d", &opts), -EISDIR);
    CHECK_INT(coil_copy_file("a", "fifo", NULL), -ENXIO);
    CHECK_INT(coil_copy_file("a", "a", NULL), -EINVAL);
    CHECK_INT(coil_copy_file("a", "same", NULL), -EINVAL);
    CHECK_INT(coil_copy_file("a", "same", &opts), -EINVAL);
    check_file("a", "text");
    CHECK_INT(coil_copy_file("a", "/dev/full", NULL), -ENOSPC);
    CHECK_INT(coil_copy_file("a", "/dev/null", NULL), 0);
    opts.flags = 1u << 31;
    CHECK_INT(coil_copy_file("a", "b", &opts), -EINVAL);
    opts.flags = COIL_FILE_APPEND;
    CHECK_INT(coil_copy_file("a", "b", &opts), -EINVAL);
    CHECK_INT(count_names(), 4);
}

IO_TEST(file_that_cannot_be_copied)
{
    in_each_place(copy_what_cannot_be);
}

static void copy_of_proc(void)
{
    struct stat st;

    CHECK_INT(coil_copy_file("/proc/self/comm", "a", NULL), 0);
    CHECK(stat("a", &st) == 0 && st.st_size > 0);
}

IO_TEST(file_copied_that_only_seems_empty)
{
    in_each_place(copy_of_proc);
}

static char *much(size_t n)
{
    char *data = malloc(n);

    for (size_t i = 0; i < n; i++)
        data[i] = (char)(i * 31 + i / 4096);
    return data;
}

/*
 * Copy a large file to another file system and back, if there is one. The data are then
 * copied through a buffer.
 */
static void copy_large(void)
{
    size_t size = 3 * 1000 * 1000, n;
    char *data = much(size), other[] = "/dev/shm/coil-test-XXXXXX";
    void *copied;
    int fd = mkstemp(other);

    CHECK_INT(coil_write_file("a", data, size, 0600, 0), 0);
    if (fd >= 0) {
        CHECK_INT(coil_copy_file("a", other, NULL), 0);
        CHECK_INT(coil_copy_file(other, "b", NULL), 0);
        close(fd);
        CHECK(unlink(other) == 0);
    } else {
        CHECK_INT(coil_copy_file("a", "b", NULL), 0);
    }
    CHECK_INT(coil_read_file("b", 0, &copied, &n), 0);
    CHECK_INT(n, size);
    CHECK(memcmp(copied, data, n) == 0);
    coil_free(copied);
    free(data);
}

IO_TEST(file_copied_between_file_systems)
{
    in_each_place(copy_large);
}

static void copy_holes(void)
{
    struct stat from, to;
    int fd = open("a", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    char c = 0;

    CHECK(pwrite(fd, "x", 1, 10 << 20) == 1);
    CHECK(pwrite(fd, "y", 1, 40 << 20) == 1);
    CHECK(ftruncate(fd, 64 << 20) == 0);
    CHECK(fstat(fd, &from) == 0);
    close(fd);
    CHECK_INT(coil_copy_file("a", "b", NULL), 0);
    CHECK(stat("b", &to) == 0);
    CHECK_INT(to.st_size, from.st_size);
    CHECK(to.st_blocks < 4096);
    fd = open("b", O_RDONLY | O_CLOEXEC);
    CHECK(pread(fd, &c, 1, 10 << 20) == 1 && c == 'x');
    CHECK(pread(fd, &c, 1, 40 << 20) == 1 && c == 'y');
    close(fd);
}

IO_TEST(file_copied_with_its_holes)
{
    in_each_place(copy_holes);
}

static void cancel_oneself(int64_t done, int64_t total, void *arg)
{
    CHECK(done > 0 && done < total);
    ++*(int *)arg;
    coil_task_cancel(coil_task_current(), NULL);
}

static int copy_and_cancel(void *arg)
{
    int calls = 0;
    coil_copy_opts opts = {COIL_FILE_ATOMIC, cancel_oneself, &calls};
    int rc = coil_copy_file("a", "b", &opts);

    CHECK_INT(calls, 1);
    CHECK_INT(rc, -ECANCELED);
    (void)arg;
    return rc;
}

static void copy_is_cancelled(void)
{
    size_t size = 20 << 20;
    char *data = calloc(1, size);
    coil_task *task;

    put_file("b", "old");
    CHECK_INT(coil_write_file("a", data, size, 0600, 0), 0);
    free(data);
    CHECK_INT(coil_spawn(copy_and_cancel, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    check_file("b", "old");
    CHECK_INT(count_names(), 2);
}

IO_TEST(file_copy_that_is_cancelled_leaves_nothing)
{
    in_each_place(copy_is_cancelled);
}

static void nth_call_of_copy_fails(void)
{
    coil_copy_opts atomic = {.flags = COIL_FILE_ATOMIC};
    int rc;

    put_file("a", "text");
    put_file("b", "old");
    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_system_call(nth, 0);
        rc = coil_copy_file("a", "b", &atomic);
        CHECK_INT(count_names(), 2);
        if (coil_testing_failed() == NULL)
            break;
    }
    CHECK_INT(rc, 0);
    for (uint64_t nth = 1;; nth++) {
        coil_testing_fail_system_call(nth, 0);
        rc = coil_copy_file("a", "b", NULL);
        if (coil_testing_failed() == NULL)
            break;
        /* After EXDEV, the data are copied through a buffer. */
        if (strstr(coil_testing_failed(), "copy_file_range") != NULL)
            CHECK_INT(rc, 0);
    }
    coil_testing_fail_system_call(0, 0);
    CHECK_INT(rc, 0);
    check_file("b", "text");
}

TASK_TEST(file_copied_whose_nth_call_fails)
{
    in_a_place(nth_call_of_copy_fails);
}
