/*
 * test_file_line.c - reading files line by line.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static coil_file *file_of(const char *text, size_t n)
{
    coil_file *file = NULL;

    CHECK_INT(coil_file_open_temporary(NULL, &file), 0);
    CHECK_INT(coil_file_write(file, text, n), n);
    CHECK_INT(coil_file_seek(file, 0, SEEK_SET), 0);
    return file;
}

static void check_line(coil_file *file, const char *expected)
{
    char line[64];

    CHECK_INT(coil_file_read_line(file, line, sizeof line), strlen(expected));
    CHECK_STR(line, expected);
    CHECK_INT(coil_file_transferred(file), strlen(expected) + 1);
}

static void check_end(coil_file *file, const char *rest)
{
    char line[64] = "x";

    CHECK_INT(coil_file_read_line(file, line, sizeof line), -ENODATA);
    CHECK_STR(line, rest);
    CHECK_INT(coil_file_transferred(file), strlen(rest));
}

IO_TEST(file_line_by_line)
{
    coil_file *file = file_of("one\ntwo\r\n\n\r\nlast", 16);

    check_line(file, "one");
    check_line(file, "two\r");
    check_line(file, "");
    check_line(file, "\r");
    check_end(file, "last");
    check_end(file, "");
    coil_file_destroy(file);
    file = file_of("", 0);
    check_end(file, "");
    coil_file_destroy(file);
    file = file_of("whole\n", 6);
    check_line(file, "whole");
    check_end(file, "");
    coil_file_destroy(file);
}

/* A line is returned only if there is also room for its line feed. */
IO_TEST(file_line_longer_than_its_memory_is_still_there)
{
    coil_file *file = file_of("12345\n6\n", 8);
    char line[8] = "";

    CHECK_INT(coil_file_read_line(file, line, 0), -EINVAL);
    CHECK_INT(coil_file_read_line(file, line, 5), -EMSGSIZE);
    CHECK_INT(coil_file_transferred(file), 0);
    CHECK_INT(coil_file_read_line(file, line, 1), -EMSGSIZE);
    CHECK_INT(coil_file_seek(file, 0, SEEK_CUR), 0);
    CHECK_INT(coil_file_read_line(file, line, 6), 5);
    CHECK_STR(line, "12345");
    CHECK_INT(coil_file_read_line(file, line, 2), 1);
    CHECK_STR(line, "6");
    coil_file_destroy(file);
}

IO_TEST(file_line_longer_than_what_is_read_at_once)
{
    enum { N = 300000 };
    char *text = malloc(N + 3), *line = malloc(N + 1);
    coil_file *file;

    memset(text, 'a', N);
    memcpy(text + N, "\nb\n", 3);
    file = file_of(text, N + 3);
    CHECK_INT(coil_file_read_line(file, line, N), -EMSGSIZE);
    CHECK_INT(coil_file_read_line(file, line, N + 1), N);
    CHECK(memcmp(line, text, N) == 0);
    check_line(file, "b");
    check_end(file, "");
    coil_file_destroy(file);
    free(text);
    free(line);
}

/*
 * For all other calls, coil_file_read_line() leaves the file's position just after the
 * line that it returned.
 */
IO_TEST(file_lines_between_other_calls)
{
    coil_file *file = file_of("one\ntwo\nthree\nfour\n", 19);
    char bytes[8] = "";

    check_line(file, "one");
    CHECK_INT(coil_file_seek(file, 0, SEEK_CUR), 4);
    CHECK_INT(coil_file_read(file, bytes, 4), 4);
    CHECK_STR(bytes, "two\n");
    check_line(file, "three");
    CHECK_INT(coil_file_pread(file, bytes, 4, 0), 4);
    CHECK_STR(bytes, "one\n");
    CHECK_INT(coil_file_seek(file, 4, SEEK_SET), 4);
    check_line(file, "two");
    CHECK_INT(coil_file_seek(file, 1, SEEK_CUR), 9);
    check_line(file, "hree");
    check_line(file, "four");
    check_end(file, "");
    CHECK_INT(coil_file_seek(file, 0, SEEK_SET), 0);
    check_line(file, "one");
    coil_file_destroy(file);
}

IO_TEST(file_lines_that_are_written_meanwhile)
{
    coil_file *file = file_of("one\ntwo\nthree\n", 14);

    check_line(file, "one");
    CHECK_INT(coil_file_pwrite(file, "TWO", 3, 4), 3);
    check_line(file, "TWO");
    CHECK_INT(coil_file_write(file, "THREE\n", 6), 6);
    check_end(file, "");
    CHECK_INT(coil_file_pwrite(file, "more\n", 5, 14), 5);
    check_line(file, "more");
    CHECK_INT(coil_file_seek(file, 4, SEEK_SET), 4);
    check_line(file, "TWO");
    CHECK_INT(coil_file_truncate(file, 10), 0);
    check_end(file, "TH");
    coil_file_destroy(file);
}

static int read_numbers(void *arg)
{
    coil_file *file = arg;
    char line[16];
    ssize_t n;
    int count = 0, last = -1;

    while ((n = coil_file_read_line(file, line, sizeof line)) >= 0) {
        CHECK(atoi(line) > last);
        last = atoi(line);
        count++;
    }
    CHECK_INT(n, -ENODATA);
    return count;
}

/* Two tasks read lines. Each line must be returned to one of the tasks, as a whole. */
IO_TEST(file_lines_for_several_tasks)
{
    enum { N = 50000 };
    char *text = malloc((size_t)N * 8), *end = text;
    coil_task *task;
    coil_file *file;
    int count;

    for (int i = 0; i < N; i++)
        end += sprintf(end, "%d\n", i);
    file = file_of(text, (size_t)(end - text));
    CHECK_INT(coil_spawn(read_numbers, file, NULL, &task), 0);
    count = read_numbers(file);
    CHECK_INT(count + coil_task_await(task), N);
    CHECK(count > 0 && count < N); /* both get lines */
    coil_task_release(task);
    coil_file_destroy(file);
    free(text);
}

/* A read that is cancelled before it gets data consumes nothing. */
IO_TEST(file_line_cancelled_takes_nothing)
{
    coil_file *file = file_of("one\ntwo\n", 8);
    char line[8];
    coil_scope scope;
    int rc;

    coil_scope_enter(&scope, coil_in(-1));
    coil_yield();
    rc = (int)coil_file_read_line(file, line, sizeof line);
    CHECK(rc == -ECANCELED || rc == 3);
    coil_scope_exit(&scope, rc < 0 ? rc : 0);
    if (rc < 0)
        check_line(file, "one");
    check_line(file, "two");
    coil_file_destroy(file);
}

static int read_first_line(void *file)
{
    char line[64];

    return (int)coil_file_read_line(file, line, sizeof line);
}

/*
 * Write to a file while it is being read ahead. The bytes that were read ahead must be
 * discarded, whether the read or the write ends first.
 */
IO_TEST(file_line_after_a_write_during_the_read)
{
    coil_file *file = file_of("old\nold\n", 8);
    coil_task *reader;

    for (int i = 0; i < 20; i++) {
        const char *text = i % 2 == 0 ? "new\nnew\n" : "old\nold\n";

        CHECK_INT(coil_file_seek(file, 0, SEEK_SET), 0);
        CHECK_INT(coil_spawn(read_first_line, file, NULL, &reader), 0);
        coil_yield();
        CHECK_INT(coil_file_pwrite(file, text, 8, 0), 8);
        CHECK_INT(coil_task_await(reader), 3);
        coil_task_release(reader);
        check_line(file, i % 2 == 0 ? "new" : "old");
    }
    coil_file_destroy(file);
}

/*
 * coil_file_read_line() must not undo a seek that occurs between its two checks of the
 * position.
 */
IO_TEST(file_line_before_a_seek_during_the_read)
{
    coil_file *file = file_of("one\ntwo\nthree\n", 14);
    coil_task *reader;

    for (int i = 0; i < 20; i++) {
        /* discards bytes that were read ahead */
        CHECK_INT(coil_file_pwrite(file, "one", 3, 0), 3);
        CHECK_INT(coil_file_seek(file, 0, SEEK_SET), 0);
        CHECK_INT(coil_spawn(read_first_line, file, NULL, &reader), 0);
        coil_yield();
        CHECK_INT(coil_file_seek(file, 8, SEEK_SET), 8);
        CHECK_INT(coil_task_await(reader), 3);
        coil_task_release(reader);
        check_line(file, "three");
    }
    coil_file_destroy(file);
}

IO_TEST(file_line_of_what_has_no_lines)
{
    coil_file *file = file_of("one\n", 4);
    char line[8];
    int fds[2];

    CHECK_INT(coil_file_close(file), 0);
    CHECK_INT(coil_file_read_line(file, line, sizeof line), -EBADF);
    coil_file_destroy(file);
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_file_adopt(fds[0], &file), 0);
    CHECK_INT(coil_file_read_line(file, line, sizeof line), -ESPIPE);
    coil_file_destroy(file);
    close(fds[1]);
    CHECK_INT(coil_file_open("/", O_RDONLY, 0, &file), 0);
    CHECK_INT(coil_file_read_line(file, line, sizeof line), -EISDIR);
    coil_file_destroy(file);
}

IO_TEST(file_line_without_memory)
{
    coil_file *file = file_of("one\n", 4);
    char line[8];
    int n = 0;
    ssize_t rc;

    do {
        test_fail_allocation(++n);
        rc = coil_file_read_line(file, line, sizeof line);
        test_fail_allocation(0);
        CHECK(rc == -ENOMEM || rc == 3);
    } while (rc == -ENOMEM);
    CHECK(n > 1);
    check_end(file, "");
    coil_file_destroy(file);
}
