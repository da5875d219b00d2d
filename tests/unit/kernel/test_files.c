/* test_files.c - file operations that POSIX does not define. */
#include "../../harness/harness.h"

#include "../../../src/kernel/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_file(const char *text)
{
    int fd = open("/tmp", coil__files_unnamed() | O_RDWR, 0600);

    if (fd < 0)
        test_skip("/tmp does not support unnamed files");
    else
        CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

TEST(file_without_a_name_has_no_links)
{
    int fd = make_file("coil");
    struct statx st;

    if (fd < 0)
        return;
    CHECK_INT(coil__files_stat(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st), 0);
    CHECK_INT(st.stx_nlink, 0);
    CHECK_INT(st.stx_size, 4);
    close(fd);
}

/* Copying with explicit offsets does not change the positions of the two files. */
TEST(files_are_copied_by_offsets)
{
    int from = make_file("a coil"), to = make_file("12");
    char text[8] = "";
    ssize_t n;

    if (from < 0 || to < 0)
        return;
    n = coil__files_copy(from, 2, to, 1, 4);
    if (n < 0 && (errno == EXDEV || errno == ENOSYS || errno == EOPNOTSUPP)) {
        test_skip("the kernel cannot copy files in /tmp");
    } else {
        CHECK_INT(n, 4);
        CHECK_INT(lseek(from, 0, SEEK_CUR), 6);
        CHECK_INT(lseek(to, 0, SEEK_CUR), 2);
        CHECK_INT(pread(to, text, sizeof text, 0), 5);
        CHECK_STR(text, "1coil");
    }
    close(from);
    close(to);
}

TEST(file_goes_into_a_pipe_by_offset)
{
    int from = make_file("a coil"), fds[2];
    char text[8] = "";

    if (from < 0)
        return;
    CHECK(pipe(fds) == 0);
    CHECK_INT(coil__files_splice(from, 2, fds[1], -1, 4, 0), 4);
    CHECK_INT(lseek(from, 0, SEEK_CUR), 6);
    CHECK_INT(read(fds[0], text, sizeof text), 4);
    CHECK_STR(text, "coil");
    close(from);
    close(fds[0]);
    close(fds[1]);
}

TEST(file_that_was_just_written_is_read_without_waiting)
{
    int fd = make_file("coil");
    char text[8] = "";
    ssize_t n;

    if (fd < 0)
        return;
    n = coil__files_read_cached(fd, text, sizeof text, 1);
    CHECK(coil__files_in_memory(fd) || n == 3 || errno == EOPNOTSUPP || errno == EAGAIN);
    if (n >= 0)
        CHECK_STR(text, "oil");
    close(fd);
}
