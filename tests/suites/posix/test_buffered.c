/*
 * test_buffered.c - stdio on pipes, sockets and terminals in tasks.
 */
#include "differential.h"

#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static FILE *open_end(int fd, const char *mode)
{
    FILE *file = fdopen(fd, mode);

    CHECK(file != NULL);
    return file;
}

static void open_both_ends(int p[2], FILE **in, FILE **out)
{
    make_pipe(p);
    *in = open_end(p[0], "r");
    *out = open_end(p[1], "w");
}

static void record_state(const char *what, FILE *file)
{
    record("%s: %s%s", what, feof(file) ? "at the end" : "more",
           ferror(file) ? ", failed" : "");
}

/* ---- reading ----------------------------------------------------------------------- */

static const char *next_text;

static void write_text(int fd)
{
    size_t n = strlen(next_text);

    CHECK_INT(write(fd, next_text, n), n);
}

static void write_later(const char *text, int fd)
{
    finish_later();
    next_text = text;
    later(10, write_text, fd);
}

/* Write the text, pause so that the reader reads it, and write one more byte. */
static void write_text_and_byte(int fd)
{
    write_text(fd);
    usleep(20000);
    write_byte(fd);
}

static void write_text_and_close(int fd)
{
    write_text(fd);
    usleep(20000);
    close_fd(fd);
}

SAME(get_from_a_pipe, true)
{
    int p[2], number = 0;
    char line[100], word[20] = "";
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    write_later("ab\ncd", p[1]);
    RECORD(getc(in));
    RECORD(fgetc(in));
    RECORD(ungetc('z', in));
    RECORD(fgetc(in));
    RECORD(getc_unlocked(in));
    write_later("ef\n17 words here\nlast", p[1]);
    record("%s", fgets(line, sizeof line, in));
    RECORD(fscanf(in, "%d %19s", &number, word));
    record("%d %s", number, word);
    record("%s", fgets(line, 4, in));
    record("%s", fgets(line, sizeof line, in));
    finish_later();
    later(10, close_fd, p[1]);
    record("%s", fgets(line, sizeof line, in));
    record_state("after the last line", in);
    RECORD(getc(in));
    record("%s", fgets(line, sizeof line, in) == NULL ? "no line" : line);
    RECORD(fscanf(in, "%d", &number));
    finish_later();
    RECORD(fclose(in));
}

SAME(read_blocks_in_pieces, true)
{
    static char buf[300000], sent[100000];
    int p[2];
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    memset(sent, 'x', 60000);
    sent[60000] = '\0';
    write_later("hello", p[1]);
    RECORD(fread(buf, 1, 2, in));
    RECORD(fread(buf, 1, 3, in));
    finish_later();
    next_text = "0123456";
    later(10, write_text_and_byte, p[1]);
    RECORD(fread(buf, 4, 2, in)); /* the last byte of the item arrives later */
    record("%.8s", buf);
    for (int i = 0; i < 3; i++) {
        write_later(sent, p[1]);
        RECORD(fread(buf, 1, 60000, in));
    }
    finish_later();
    next_text = "01234";
    later(10, write_text_and_close, p[1]);
    RECORD(fread(buf, 4, 10, in));
    record_state("after an item and a half", in);
    RECORD(fread(buf, 4, 10, in));
    RECORD(fread(buf, 0, 10, in));
    finish_later();
    RECORD(fclose(in));
}

SAME(get_lines_of_any_length, true)
{
    static char text[10001];
    size_t room = 0;
    char *line = NULL;
    int s[2];
    FILE *in;

    make_tcp(s);
    in = open_end(s[0], "r");
    memset(text, 'y', sizeof text - 1);
    write_later("short\n", s[1]);
    RECORD(getline(&line, &room, in));
    write_later(text, s[1]);
    finish_later();
    write_later("end\nfield;rest", s[1]);
    RECORD(getline(&line, &room, in));
    record("%s", line + 9998);
    RECORD(getdelim(&line, &room, ';', in));
    record("%s", line);
    finish_later();
    later(10, close_fd, s[1]);
    RECORD(getdelim(&line, &room, ';', in));
    record("%s", line);
    RECORD(getdelim(&line, &room, ';', in));
    RECORD(getline(NULL, &room, in));
    free(line);
    finish_later();
    RECORD(fclose(in));
}

SAME(read_without_a_buffer, true)
{
    int p[2], a = 0, b = 0;
    char line[20], byte;
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    RECORD(setvbuf(in, NULL, _IONBF, 0));
    write_later("12 34,x\nrest", p[1]);
    RECORD(fscanf(in, "%d %d", &a, &b));
    record("%d %d", a, b);
    RECORD(getc(in));
    record("%s", fgets(line, sizeof line, in));
    RECORD(fread(line, 1, 2, in));
    RECORD(read(p[0], &byte, 1)); /* the FILE has not read ahead */
    record("%c", byte);
    finish_later();
    close(p[1]);
    RECORD(fclose(in));
}

SAME(scan_what_comes_in_pieces, true)
{
    char *allocated = NULL, letters[10] = "";
    int p[2], n = 0, count = 0;
    double number = 0;
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    next_text = "  12";
    later(10, write_text_and_byte, p[1]); /* the extra byte ends the number */
    RECORD(fscanf(in, "%d", &n));
    record("%d", n);
    RECORD(getc(in));
    write_later("1.5e1 abc-- tail\n", p[1]);
    RECORD(fscanf(in, "%lf %ms%n", &number, &allocated, &count));
    record("%f %s %d", number, allocated, count);
    free(allocated);
    /* scanning stops at the blank, which remains in the buffer */
    RECORD(fscanf(in, "%9[a-s]", letters));
    RECORD(getc(in));
    RECORD(fscanf(in, "%9[a-t]x", letters));
    record("%s", letters);
    write_later("x", p[1]);
    RECORD(fscanf(in, " %d", &n)); /* skips the newline, but "x" is not a number */
    RECORD(getc(in));
    finish_later();
    later(10, close_fd, p[1]);
    RECORD(getc(in));
    RECORD(fscanf(in, "%d", &n));
    record_state("scanned", in);
    finish_later();
    RECORD(fclose(in));
}

SAME(read_from_what_does_not_block_by_file, false)
{
    char line[100];
    int p[2];
    FILE *in;

    make_pipe(p);
    CHECK_INT(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
    in = open_end(p[0], "r");
    RECORD(getc(in));
    record_state("empty", in);
    CHECK_INT(write(p[1], "half a line", 11), 11);
    record("%s", fgets(line, sizeof line, in));
    record_state("half", in);
    RECORD(fgets(line, sizeof line, in) == NULL);
    clearerr(in);
    CHECK_INT(write(p[1], "abcdef", 6), 6);
    RECORD(fread(line, 4, 3, in));
    RECORD(fputc('x', in));
    record_state("written to", in);
    RECORD(fclose(in));
    close(p[1]);
}

SAME(read_what_is_no_pipe, false)
{
    char line[100], *text = NULL;
    size_t bytes;
    FILE *in = tmpfile(), *memory = open_memstream(&text, &bytes);
    int number = 0;

    RECORD(fprintf(in, "one %d\ntwo\n", 1));
    rewind(in);
    record("%s", fgets(line, sizeof line, in));
    RECORD(getc(in));
    RECORD(fscanf(in, "%s", line));
    RECORD(fread(line, 1, 100, in));
    record_state("a file", in);
    RECORD(fseek(in, 4, SEEK_SET));
    RECORD(fscanf(in, "%d", &number));
    RECORD(ftell(in));
    RECORD(fclose(in));
    RECORD(fprintf(memory, "%s %5.2f", "memory", 3.14159));
    RECORD(putc('!', memory));
    RECORD(fclose(memory));
    record("%s", text);
    free(text);
    in = fmemopen((char[]){"from memory"}, 11, "r");
    record("%s", fgets(line, sizeof line, in));
    fclose(in);
    RECORD(fgetc(stdout));
    clearerr(stdout);
}

SAME(read_and_write_a_terminal_by_file, true)
{
    char line[100];
    int master, slave;
    size_t total;
    FILE *file, *other;

    CHECK_INT(openpty(&master, &slave, NULL, NULL, NULL), 0);
    file = open_end(slave, "r+");
    other = open_end(dup(slave), "w");
    write_later("typed\n", master);
    record("%s", fgets(line, sizeof line, file));
    RECORD(fprintf(other, "out"));
    RECORD(__fpending(other));
    RECORD(fprintf(other, "put\nmore"));
    RECORD(__fpending(other));
    RECORD(fclose(other));
    finish_later();
    for (total = 0; total < 19; total += (size_t)read(master, line, sizeof line))
        ; /* the terminal may deliver the line in pieces */
    record("%zu", total);
    RECORD(fclose(file));
    close(master);
}

/* Write to a socket and read from it through one FILE. */
SAME(ask_and_answer_by_one_file, true)
{
    char line[100];
    int s[2];
    FILE *file;

    make_tcp(s);
    file = open_end(s[0], "r+");
    RECORD(fprintf(file, "question %d\n", 1));
    write_later("answer\n", s[1]);
    record("%s", fgets(line, sizeof line, file)); /* reading flushes the question */
    record("%zd", recv(s[1], line, sizeof line, MSG_DONTWAIT));
    RECORD(fputs("next\n", file));
    RECORD(fflush(file));
    record("%zd", recv(s[1], line, sizeof line, 0));
    finish_later();
    RECORD(fclose(file));
    close(s[1]);
}

/* ---- writing ----------------------------------------------------------------------- */

SAME(write_more_than_a_pipe_holds, true)
{
    static char much[300000];
    int p[2];
    FILE *out;

    memset(much, 'z', sizeof much - 1);
    make_pipe(p);
    out = open_end(p[1], "w");
    later(10, read_slowly, p[0]);
    RECORD(fwrite(much, 1, sizeof much - 1, out));
    RECORD(fputs(much, out));
    RECORD(fprintf(out, "%s and %d\n", much, 7));
    for (int i = 0; i < 200000; i++)
        if (putc('a', out) != 'a' || fputc('b', out) != 'b' ||
            putc_unlocked('c', out) != 'c')
            record("it failed");
    RECORD(fflush(out));
    RECORD(fwrite(much, 1, 100, out));
    RECORD(fclose(out));
    finish_later();
    close(p[0]);
}

static void record_arrived(int fd)
{
    char buf[20001];
    ssize_t n = recv(fd, buf, sizeof buf - 1, MSG_DONTWAIT);

    buf[n > 0 ? n : 0] = '\0';
    record("arrived %zd: %.20s", n, buf);
}

/*
 * Write to a socket through a FILE with this buffering mode, and record how many bytes
 * the socket receives immediately.
 */
static void write_by_mode(int mode)
{
    static char block[5000];
    int s[2];
    FILE *out;

    memset(block, 'b', sizeof block);
    make_unix(s, SOCK_STREAM);
    out = open_end(s[1], "w");
    if (mode >= 0)
        RECORD(setvbuf(out, NULL, mode, 1024));
    RECORD(fputs("some", out));
    record_arrived(s[0]);
    RECORD(fputs(" line\nand", out));
    record_arrived(s[0]);
    RECORD(putc('\n', out));
    record_arrived(s[0]);
    RECORD(fwrite(block, 100, 50, out));
    record_arrived(s[0]);
    RECORD(fprintf(out, "%d\n%s", 42, "tail"));
    record_arrived(s[0]);
    RECORD(fwrite("", 1, 0, out));
    RECORD(fflush(out));
    record_arrived(s[0]);
    RECORD(fputs("at the end", out));
    RECORD(fclose(out));
    record_arrived(s[0]);
    close(s[0]);
}

SAME(write_by_every_mode, false)
{
    write_by_mode(-1);
    write_by_mode(_IOFBF);
    write_by_mode(_IOLBF);
    write_by_mode(_IONBF);
}

SAME(write_to_who_has_closed, false)
{
    int s[2];
    FILE *out;

    signal(SIGPIPE, SIG_IGN);
    make_unix(s, SOCK_STREAM);
    out = open_end(s[1], "w");
    close(s[0]);
    RECORD(fputs("lost", out));
    RECORD(fflush(out));
    record_state("flushed", out);
    RECORD(__fpending(out));
    RECORD(fputs("lost", out));
    RECORD(fclose(out));
    signal(SIGPIPE, SIG_DFL);
}

SAME(print_to_a_descriptor, true)
{
    static char much[200000];
    int p[2];

    memset(much, 'z', sizeof much - 1);
    make_pipe(p);
    later(10, read_slowly, p[0]);
    RECORD(dprintf(p[1], "%s", much));
    RECORD(dprintf(p[1], "%d\n", 17));
    close(p[1]);
    finish_later();
    close(p[0]);
    if (may_call_wrongly()) /* glibc leaks a buffer here */
        RECORD(dprintf(p[1], "nobody"));
}

/* ---- commands ---------------------------------------------------------------------- */

SAME(open_a_command, true)
{
    char line[100];
    FILE *command = popen("sleep 0.05; echo said; sleep 0.05; exit 3", "r");

    record("%s", fgets(line, sizeof line, command));
    RECORD(fgets(line, sizeof line, command) == NULL);
    RECORD(pclose(command));
    command = popen("read x; test \"$x\" = told; exit $?", "w");
    RECORD(fprintf(command, "told\n"));
    RECORD(pclose(command));
}

static int run_command(void *arg)
{
    FILE *command = popen("sleep 100", "r");
    int *error = arg;

    errno = 0;
    CHECK_INT(pclose(command), -1);
    *error = errno;
    return 0;
}

static pid_t find_child(void)
{
    siginfo_t info = {.si_pid = 0};
    char path[64];
    pid_t child = 0;
    FILE *file;

    (void)info;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file != NULL)
        fclose(file);
    return child;
}

IO_TEST(close_a_command_in_a_cancelled_task)
{
    int error = 0;
    coil_task *task = start_task(run_command, &error);
    pid_t child;

    coil_sleep(COIL_MSEC(20));
    child = find_child();
    if (child == 0)
        test_skip("/proc does not tell of children");
    coil_task_cancel(task, NULL);
    finish_task(task);
    CHECK_INT(error, ECANCELED);
    CHECK_INT(kill(child, SIGKILL), 0);
    while (kill(child, 0) == 0) /* wait until coil has reaped the child */
        coil_sleep(COIL_MSEC(1));
}

/* ---- between tasks ----------------------------------------------------------------- */

struct reader {
    FILE *file;
    char line[40];
};

static int read_line(void *arg)
{
    struct reader *r = arg;

    CHECK(fgets(r->line, sizeof r->line, r->file) == r->line);
    return 0;
}

/*
 * While a task waits after it has read half a line, another task must not get the other
 * half.
 */
IO_TEST(lines_of_one_file_are_read_whole)
{
    struct reader readers[3];
    coil_task *tasks[3];
    int p[2];
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    for (int i = 0; i < 3; i++) {
        readers[i] = (struct reader){.file = in};
        tasks[i] = start_task(read_line, &readers[i]);
    }
    settle();
    CHECK_INT(write(p[1], "on", 2), 2);
    settle();
    CHECK_INT(write(p[1], "e\ntw", 4), 4);
    settle();
    CHECK_INT(write(p[1], "o\nthree\n", 8), 8);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    CHECK_STR(readers[0].line, "one\n");
    CHECK_STR(readers[1].line, "two\n");
    CHECK_STR(readers[2].line, "three\n");
    fclose(in);
    close(p[1]);
}

static int print_line(void *arg)
{
    struct reader *r = arg;

    CHECK_INT(fprintf(r->file, "%s\n", r->line), 31);
    return 0;
}

IO_TEST(lines_of_one_file_are_written_whole)
{
    static char full[65536];
    struct reader writers[20];
    coil_task *tasks[20];
    char line[40];
    int p[2];
    FILE *in, *out;

    open_both_ends(p, &in, &out);
    setvbuf(out, NULL, _IONBF, 0);
    CHECK_INT(write(p[1], full, sizeof full), sizeof full);
    for (int i = 0; i < 20; i++) {
        writers[i] = (struct reader){.file = out};
        memset(writers[i].line, 'a' + i, 30);
        tasks[i] = start_task(print_line, &writers[i]);
    }
    settle();
    CHECK_INT(fread(full, 1, sizeof full, in), sizeof full);
    for (int i = 0; i < 20; i++)
        finish_task(tasks[i]);
    fclose(out);
    for (int i = 0; i < 20; i++) {
        CHECK(fgets(line, sizeof line, in) != NULL);
        CHECK_INT(strspn(line, (char[]){line[0], '\0'}), 30);
    }
    fclose(in);
}

static int hold_file(void *arg)
{
    struct reader *r = arg;

    flockfile(r->file);
    flockfile(r->file);
    fputs(r->line, r->file);
    usleep(2000);
    funlockfile(r->file);
    fputs(r->line, r->file);
    usleep(2000);
    fputs(r->line, r->file);
    funlockfile(r->file);
    return 0;
}

IO_TEST(flockfile_is_a_tasks)
{
    struct reader holders[2];
    coil_task *tasks[2];
    char line[40];
    int p[2];
    FILE *in, *out;

    open_both_ends(p, &in, &out);
    for (int i = 0; i < 2; i++) {
        holders[i] = (struct reader){.file = out, .line = {(char)('a' + i)}};
        tasks[i] = start_task(hold_file, &holders[i]);
    }
    for (int i = 0; i < 2; i++)
        finish_task(tasks[i]);
    CHECK_INT(ftrylockfile(out), 0);
    funlockfile(out);
    fclose(out);
    CHECK(fgets(line, sizeof line, in) != NULL);
    CHECK_STR(line, "aaabbb");
    fclose(in);
}

/* Read a line on a thread, which must wait while a task is using the FILE. */
static void *read_a_line(void *arg)
{
    read_line(arg);
    return NULL;
}

IO_TEST(file_of_a_task_and_a_thread)
{
    struct reader readers[2];
    pthread_t thread;
    coil_task *task;
    int p[2];
    FILE *in;

    make_pipe(p);
    in = open_end(p[0], "r");
    readers[0] = readers[1] = (struct reader){.file = in};
    task = start_task(read_line, &readers[0]);
    settle();
    CHECK_INT(pthread_create(&thread, NULL, read_a_line, &readers[1]), 0);
    CHECK_INT(write(p[1], "o", 1), 1);
    coil_sleep(COIL_MSEC(5));
    CHECK_INT(write(p[1], "ne\ntwo\n", 7), 7);
    finish_task(task);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_STR(readers[0].line, "one\n");
    CHECK_STR(readers[1].line, "two\n");
    fclose(in);
    close(p[1]);
}

static _Atomic int thread_has, thread_lets_go;

static void *hold_in_a_thread(void *file)
{
    flockfile(file);
    thread_has = 1;
    while (!thread_lets_go)
        sched_yield();
    funlockfile(file);
    return NULL;
}

static int put_line(void *arg)
{
    struct reader *r = arg;

    return fputs(r->line, r->file) >= 0 ? 0 : -errno;
}

/*
 * If two tasks wait for a FILE that a thread holds, and the first of them is cancelled,
 * the second must still get the FILE.
 */
IO_TEST(file_turn_of_a_task_that_gives_up_is_the_next_ones)
{
    struct reader writers[2];
    coil_task *tasks[2];
    pthread_t thread;
    char line[40];
    int p[2];
    FILE *in, *out;

    thread_has = thread_lets_go = 0;
    open_both_ends(p, &in, &out);
    flockfile(out);
    for (int i = 0; i < 2; i++) {
        writers[i] = (struct reader){.file = out, .line = {(char)('a' + i), '\n'}};
        tasks[i] = start_task(put_line, &writers[i]);
    }
    settle();
    CHECK_INT(pthread_create(&thread, NULL, hold_in_a_thread, out), 0);
    funlockfile(out);
    while (!thread_has)
        /* sched_yield() is interposed, and would let other tasks run */
        syscall(SYS_sched_yield);
    coil_sleep(COIL_MSEC(5));
    coil_task_cancel(tasks[0], NULL);
    CHECK_INT(coil_task_await(tasks[0]), -ECANCELED);
    coil_task_release(tasks[0]);
    thread_lets_go = 1;
    CHECK_INT(pthread_join(thread, NULL), 0);
    finish_task(tasks[1]);
    fclose(out);
    CHECK(fgets(line, sizeof line, in) != NULL);
    CHECK_STR(line, "b\n");
    fclose(in);
}

/* ---- buffered bytes, while a thread holds the FILE --------------------------------- */

/*
 * Call these functions through pointers, because headers may replace direct calls with
 * calls of getc_unlocked() and similar functions.
 */
static int (*const get_one[])(FILE *file) = {fgetc, getc};
static int (*const put_one[])(int c, FILE *file) = {fputc, putc};

struct quick_call {
    FILE *in, *out;
    int which;
    bool ended;
};

static int call_quickly(void *arg)
{
    struct quick_call *c = arg;
    char line[8], *longer = NULL;
    size_t room = 0;

    if (c->which < 2)
        CHECK_INT(get_one[c->which](c->in), 'a');
    else if (c->which < 4)
        CHECK_INT(put_one[c->which - 2]('x', c->out), 'x');
    else if (c->which == 4)
        CHECK_INT(fread(line, 1, 2, c->in), 2);
    else if (c->which == 5)
        CHECK(fgets(line, sizeof line, c->in) != NULL);
    else
        CHECK_INT(getline(&longer, &room, c->in), 2);
    free(longer);
    c->ended = true;
    return 0;
}

static void call_while_a_thread_has(FILE *file, struct quick_call *c)
{
    pthread_t thread;
    coil_task *task;

    thread_has = thread_lets_go = 0;
    CHECK_INT(pthread_create(&thread, NULL, hold_in_a_thread, file), 0);
    while (!thread_has)
        coil_sleep(COIL_MSEC(1));
    task = start_task(call_quickly, c);
    coil_sleep(COIL_MSEC(2));
    CHECK(!c->ended);
    thread_lets_go = 1;
    finish_task(task);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

/*
 * While a thread holds the FILE, the task must wait without blocking other tasks,
 * although the pipe is ready.
 */
IO_TEST(buffered_bytes_wait_for_a_thread_that_has_the_file)
{
    for (int i = 0; i < 7; i++) {
        struct quick_call c = {.which = i};
        int p[2];

        open_both_ends(p, &c.in, &c.out);
        CHECK(fputs("-a\n", c.out) >= 0 && fflush(c.out) == 0 && fputs("-", c.out) >= 0);
        CHECK_INT(getc(c.in), '-');
        call_while_a_thread_has(i == 2 || i == 3 ? c.out : c.in, &c);
        fclose(c.out);
        fclose(c.in);
    }
}

/* ---- cancelled --------------------------------------------------------------------- */

static FILE *input, *output;
static char buf[100000];

static bool call_getc(void)
{
    return getc(input) == EOF;
}

static bool call_fgets(void)
{
    return fgets(buf, 10, input) == NULL;
}

static bool call_fread(void)
{
    return fread(buf, 1, sizeof buf, input) == 0;
}

static bool call_getline(void)
{
    size_t room = 0;
    char *line = NULL;
    bool failed = getline(&line, &room, input) == -1;

    free(line);
    return failed;
}

static bool call_fscanf(void)
{
    return fscanf(input, "%s", buf) == EOF;
}

static bool call_fwrite(void)
{
    return fwrite(buf, 1, sizeof buf, output) < sizeof buf;
}

static bool call_fflush(void)
{
    return fputs("x", output) >= 0 && fflush(output) == EOF;
}

static bool call_fprintf(void)
{
    return fprintf(output, "%100000d", 1) == -1;
}

static bool (*const calls[])(void) = {call_getc,    call_fgets,  call_fread,
                                      call_getline, call_fscanf, call_fwrite,
                                      call_fflush,  call_fprintf};

struct calling {
    bool (*call)(void);
    int error;
    bool ended;
};

static int do_call(void *arg)
{
    struct calling *c = arg;

    CHECK(c->call());
    c->error = errno;
    c->ended = true;
    return 0;
}

IO_TEST(cancelled_calls_on_files_fail)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct calling c = {.call = calls[i]};
        coil_task *task;
        int in[2], out[2];

        make_pipe(in);
        make_pipe(out);
        CHECK_INT(write(out[1], buf, 65536), 65536);
        input = open_end(in[0], "r");
        output = open_end(out[1], "w");
        task = start_task(do_call, &c);
        settle();
        CHECK(!c.ended);
        coil_task_cancel(task, NULL);
        finish_task(task);
        CHECK_INT(c.error, ECANCELED);
        CHECK(ferror(input) || ferror(output));
        CHECK(read(out[0], buf, sizeof buf) > 0);
        fclose(input);
        fclose(output);
        close(in[1]);
        close(out[0]);
    }
}

/* If a task is cancelled in fflush(), the unwritten bytes remain in the buffer. */
IO_TEST(cancelled_flush_loses_nothing)
{
    struct calling c = {.call = call_fflush};
    char last = 0;
    coil_task *task;
    int out[2];

    make_pipe(out);
    CHECK_INT(write(out[1], buf, 65536), 65536);
    output = open_end(out[1], "w");
    task = start_task(do_call, &c);
    settle();
    coil_task_cancel(task, NULL);
    finish_task(task);
    CHECK_INT(read(out[0], buf, sizeof buf), 65536);
    CHECK_INT(fclose(output), 0);
    CHECK_INT(read(out[0], &last, 1), 1);
    CHECK_INT(last, 'x');
    close(out[0]);
}
