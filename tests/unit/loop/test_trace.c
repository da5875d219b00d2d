/*
 * test_trace.c - the records of a trace, the ring, and the file.
 */
#include "../../../src/loop/loop.h"
#include "../../harness/harness.h"

#include <coil.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- records ----------------------------------------------------------------------- */

static const char *const names_of_kinds[] = {
    "?",     "switch", "callback", "poll",   "polled", "wait", "wake",
    "spawn", "name",   "end",      "cancel", "ready",  "is",   "calls"};

/* Append a description of the record to `text`, such as "wait 2 sleep, ". */
static void describe(const struct coil__trace_record *record, char *text, size_t size)
{
    unsigned kind = record->kind_and_value & 0xff;
    size_t n = strlen(text);

    n += (size_t)snprintf(text + n, size - n, "%s", names_of_kinds[kind]);
    if (record->task != 0 || kind == COIL__TRACE_SWITCH)
        n += (size_t)snprintf(text + n, size - n, " %u", (unsigned)record->task);
    if (kind == COIL__TRACE_WAIT)
        n += (size_t)snprintf(text + n, size - n, " %s",
                              (const char *)(uintptr_t)record->word);
    if (kind == COIL__TRACE_END)
        n += (size_t)snprintf(text + n, size - n, " %d", (int)record->word);
    snprintf(text + n, size - n, ", ");
}

/* Describe all records of this thread's loop. */
static const char *records(void)
{
    static char text[8192];
    const struct coil__trace *trace = coil__loop_of_thread->trace_kept;
    uint64_t count = trace->count;

    text[0] = '\0';
    for (uint64_t i = count > trace->mask ? count - trace->mask - 1 : 0; i < count; i++)
        describe(&trace->records[i & trace->mask], text, sizeof text);
    return text;
}

#define CHECK_RECORDS(expected) CHECK_STR(records(), expected)

static int sleep_a_while(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_MSEC(5));
}

TASK_TEST(trace_records_a_spawn_a_sleep_and_an_end)
{
    coil_task *task;

    CHECK_INT(coil_trace_start(0), 0);
    coil_spawn(sleep_a_while, NULL, NULL, &task);
    CHECK_INT(coil_task_await(task), 0);
    coil_trace_stop();
    coil_task_release(task);
    /* The sleeper's timer runs as a callback, which wakes the sleeper. */
    CHECK_RECORDS("switch 1, spawn 2, wait 1 task, poll, polled, switch 2, "
                  "wait 2 sleep, poll, polled, callback, is, wake 2, poll, polled, "
                  "switch 2, end 2 0, wake 1, poll, polled, switch 1, switch 0, ");
}

static coil_lock lock;

static int hold_lock(void *arg)
{
    (void)arg;
    CHECK_INT(coil_lock_acquire(&lock), 0);
    coil_yield();
    coil_lock_release(&lock);
    return 7;
}

TASK_TEST(trace_records_who_wakes_whom)
{
    coil_spawn_opts first = {.name = "first"};
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_group_spawn(&group, hold_lock, NULL, &first, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, hold_lock, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    coil_trace_stop();
    CHECK_RECORDS("switch 1, spawn 2, name 2, spawn 3, wait 1 group, poll, polled, "
                  "switch 2, switch 3, wait 3 lock, poll, polled, switch 2, wake 3, "
                  "end 2 7, ready, poll, polled, switch 3, callback, is, poll, polled, "
                  "switch 3, end 3 7, ready, poll, polled, callback, is, wake 1, poll, "
                  "polled, switch 1, switch 0, ");
}

static void do_nothing(void *arg)
{
    (void)arg;
}

TASK_TEST(trace_records_callbacks_and_cancellations)
{
    coil_task *task;

    coil_spawn(sleep_a_while, NULL, NULL, &task);
    coil_yield();
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_call_soon(do_nothing, NULL, NULL), 0);
    coil_task_cancel(task, "test");
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_trace_stop();
    coil_task_release(task);
    CHECK_RECORDS("switch 1, cancel 2, wake 2, wait 1 task, poll, polled, callback, is, "
                  "calls, switch 2, end 2 -125, wake 1, poll, polled, switch 1, "
                  "switch 0, ");
}

static int wait_in_eager_start(void *arg)
{
    (void)arg;
    return coil_yield();
}

TASK_TEST(trace_records_an_eager_start)
{
    coil_spawn_opts opts = {.eager = true};
    coil_task *task;

    CHECK_INT(coil_trace_start(0), 0);
    coil_spawn(wait_in_eager_start, NULL, &opts, &task);
    CHECK_INT(coil_task_await(task), 0);
    coil_trace_stop();
    coil_task_release(task);
    CHECK_RECORDS("switch 1, spawn 2, switch 2, switch 1, wait 1 task, poll, polled, "
                  "switch 2, end 2 0, wake 1, poll, polled, switch 1, switch 0, ");
}

/* Yield, which switches directly to the next task, because polls are skipped. */
static int yield_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        coil_yield();
    return 0;
}

static int start_two(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_group_spawn(&group, yield_often, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, yield_often, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    coil_trace_stop();
    /* Between the tasks' steps there is neither a poll nor a switch to the loop. */
    CHECK_RECORDS("switch 1, spawn 2, spawn 3, wait 1 group, switch 2, switch 3, "
                  "switch 2, switch 3, switch 2, switch 3, switch 2, end 2 0, ready, "
                  "switch 3, end 3 0, ready, callback, is, callback, is, wake 1, "
                  "switch 1, switch 0, ");
    return 0;
}

TEST(trace_records_direct_switches)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true, .skip_polls = true}};

    CHECK_INT(coil_run(start_two, NULL, &opts), 0);
}

TASK_TEST(trace_records_only_while_it_is_on)
{
    uint64_t count;

    CHECK_INT(coil_trace_start(0), 0);
    coil_yield();
    coil_trace_stop();
    count = coil__loop_of_thread->trace_kept->count;
    coil_yield();
    CHECK(coil__loop_of_thread->trace_kept->count == count);
    CHECK_INT(coil_trace_start(0), 0);
    coil_yield();
    coil_trace_stop();
    CHECK_RECORDS("switch 1, poll, polled, switch 1, switch 0, ");
}

TASK_TEST(trace_keeps_the_newest_records)
{
    const struct coil__trace *trace;

    CHECK_INT(coil_trace_start(1), 0); /* rounded up to 256 records */
    for (int i = 0; i < 1000; i++)
        coil_yield();
    coil_trace_stop();
    trace = coil__loop_of_thread->trace_kept;
    CHECK_INT(trace->mask, 255);
    CHECK_INT(trace->count, 1 + 3 * 1000 + 1);
    CHECK_INT(trace->records[(trace->count - 1) & trace->mask].task, 0);
    CHECK_INT(trace->records[(trace->count - 2) & trace->mask].task, 1);
    CHECK_INT(coil_trace_write("/dev/full"), -ENOSPC);
}

TASK_TEST(trace_start_fails_without_a_new_ring)
{
    CHECK_INT(coil_trace_write("/dev/null"), -ENOENT);
    CHECK_INT(coil_trace_start(((size_t)1 << 30) + 1), -EINVAL);
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_trace_start(0), -EALREADY);
    CHECK_INT(coil_trace_write("/nowhere/trace.json"), -ENOENT);
    coil_trace_stop();
    coil_trace_stop();
}

/*
 * With the real clock, a trace stores two pairs of the clock's time and the processor's
 * ticks, at its start and at its end. They must fit the elapsed time.
 */
IO_TEST(trace_times_are_those_of_the_clock)
{
    const struct coil__trace_clock *clock;
    int64_t began = coil_now();
    double rate;

    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
    coil_trace_stop();
    clock = &coil__loop_of_thread->trace_kept->clock;
    if (!coil__loop_of_thread->trace_kept->has_ticks)
        return;
    rate = (double)(clock->ns2 - clock->ns1) / (double)(clock->ticks2 - clock->ticks1);
    CHECK(clock->ns1 >= began && clock->ns2 - clock->ns1 >= COIL_MSEC(20));
    CHECK(rate > 0.01 && rate < 1000);
}

/* ---- the file ---------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 65536);

    CHECK(file != NULL && text != NULL);
    text[fread(text, 1, 65535, file)] = 0;
    fclose(file);
    return text;
}

static size_t count_in(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

/* Return true if the text begins and ends like a JSON object with a list of events. */
static bool is_whole(const char *text)
{
    size_t length = strlen(text);

    return strncmp(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{", 41) == 0 &&
           length > 60 && strcmp(text + length - 5, "}\n]}\n") == 0 &&
           count_in(text, "traceEvents") == 1;
}

TASK_TEST(trace_writes_a_file_with_both_ends_of_each_arrow)
{
    coil_spawn_opts opts = {.name = "a \"name\""};
    char path[] = "/tmp/coil-trace-XXXXXX", *text;
    coil_group group;

    close(mkstemp(path));
    coil_group_enter(&group);
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil_group_spawn(&group, hold_lock, NULL, &opts, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, hold_lock, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(coil_trace_write(path), 0);
    text = read_file(path);
    CHECK(is_whole(text));
    CHECK_INT(count_in(text, "\"ph\":\"s\""), 4); /* two spawns, the lock, the group */
    CHECK_INT(count_in(text, "\"ph\":\"f\""), 4);
    CHECK(strstr(text, "\"name\":\"a \\\"name\\\": hold_lock") != NULL);
    CHECK(strstr(text, "\"name\":\"lock\",\"pid\":1,\"tid\":3,\"cat\":\"wait\"") != NULL);
    free(text);
    unlink(path);
}

static char first_byte_of(const char *path)
{
    char *text, first;

    CHECK_INT(coil_trace_write(path), 0);
    text = read_file(path);
    first = *text;
    free(text);
    unlink(path);
    return first;
}

/* JSON begins with a brace, and Perfetto's format with the tag of a packet, 10. */
TASK_TEST(trace_has_the_format_of_its_file_name)
{
    char folder[] = "/tmp/coil-trace.pftrace-XXXXXX", old[4096];

    CHECK(mkdtemp(folder) != NULL && getcwd(old, sizeof old) != NULL);
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(chdir(folder), 0);
    CHECK_INT(first_byte_of("a.pftrace"), 10);
    CHECK_INT(first_byte_of("a.b.perfetto-trace"), 10);
    CHECK_INT(first_byte_of("a.pftrace.1234"), 10);
    CHECK_INT(first_byte_of("a.pftrace.copy2"), 10);
    CHECK_INT(first_byte_of("a.pftrace.1234.copy12"), 10);
    CHECK_INT(first_byte_of("a.pftrace.copy"), '{');
    CHECK_INT(first_byte_of("a.pftrace.copy2.1234"), '{');
    CHECK_INT(first_byte_of("a.json"), '{');
    CHECK_INT(first_byte_of("pftrace"), '{');
    CHECK_INT(first_byte_of("a.pftrace.json"), '{');
    CHECK_INT(first_byte_of("a.pftrace."), '{');
    CHECK_INT(first_byte_of("a.pftraces"), '{');
    CHECK_INT(chdir(old), 0);
    CHECK_INT(rmdir(folder), 0);
}

/* The file of COIL_TRACE may have been truncated since the first loop wrote it. */
TASK_TEST(trace_is_not_appended_to_a_truncated_file)
{
    char path[] = "/tmp/coil-trace-XXXXXX";
    struct stat st;
    int fd = mkstemp(path);

    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(coil__trace_write_file(coil__loop_of_thread, path, true), -EINVAL);
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_size, 0);
    close(fd);
    unlink(path);
}

/* Records in a core file may have any contents. */

static bool find_no_text(void *arg, uint64_t address, char *text, size_t size)
{
    (void)arg, (void)address, (void)text, (void)size;
    return false;
}

static void name_a_task(void *arg, coil__trace_visit_task *visit, void *visit_arg)
{
    visit(visit_arg, 3, "\"\\\x01\xff", (uintptr_t)arg);
}

static uint64_t random_word(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 33;
}

static void write_random_records(uint64_t seed, const char *path)
{
    struct coil__trace_record list[300];
    struct coil__trace_copy copy = {
        .records = list, .count = 300, .text = find_no_text, .each_task = name_a_task};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct coil__trace_writer writer;

    for (size_t i = 0; i < copy.count; i++) {
        uint64_t random = random_word(&seed);

        list[i].word = random >> (random_word(&seed) % 64);
        list[i].task = (uint32_t)(random % 3 == 0 ? random >> 32 : random % 8);
        list[i].kind_and_value = (uint32_t)(random_word(&seed) % 18 | random << 8);
    }
    copy.clock.ticks1 = random_word(&seed);
    copy.clock.ns1 = (int64_t)random_word(&seed);
    copy.clock.ticks2 = random_word(&seed);
    copy.clock.ns2 = (int64_t)random_word(&seed);
    CHECK(coil__trace_begin_file(&writer, out, path, false));
    CHECK_INT(coil__trace_write_events(&writer, &copy), 0);
    coil__trace_end_file(&writer);
    fclose(out);
    CHECK_INT(*text, path == NULL ? '{' : '\n');
    CHECK(path != NULL || is_whole(text));
    CHECK_INT(count_in(text, "\"ph\":\"s\""), count_in(text, "\"ph\":\"f\""));
    free(text);
}

TEST(trace_of_random_records_is_written)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        write_random_records(seed, NULL);
        write_random_records(seed, "random.pftrace");
    }
}

/* ---- COIL_TRACE -------------------------------------------------------------------- */

static int sleep_briefly(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_MSEC(1));
}

TEST(trace_environment_writes_one_file_for_all_loops)
{
    char folder[] = "/tmp/coil-trace-XXXXXX", path[64], value[80], *text;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/all.json", folder);
    snprintf(value, sizeof value, "%s,64K", path);
    setenv("COIL_TRACE", value, 1);
    CHECK_INT(coil_run(sleep_briefly, NULL, NULL), 0);
    CHECK_INT(coil_run_threads(2, sleep_briefly, NULL, NULL), 0);
    text = read_file(path);
    CHECK(is_whole(text));
    CHECK_INT(count_in(text, "\"process_name\""), 3);
    CHECK_INT(count_in(text, "\"name\":\"sleep\""), 3);
    free(text);
    unlink(path);
    rmdir(folder);
}

TEST(trace_environment_gives_a_forked_child_a_file_of_its_own)
{
    char folder[] = "/tmp/coil-trace-XXXXXX", path[64], childs[80], *text;
    struct stat stat_of_file;
    int status = -1;
    pid_t child;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/t.json", folder);
    setenv("COIL_TRACE", path, 1);
    CHECK_INT(coil_run(sleep_briefly, NULL, NULL), 0);
    child = fork();
    if (child == 0)
        _exit(coil_run(sleep_briefly, NULL, NULL) < 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    snprintf(childs, sizeof childs, "%s.%d", path, (int)child);
    text = read_file(childs);
    CHECK(is_whole(text));
    CHECK_INT(count_in(text, "\"process_name\""), 1);
    free(text);
    text = read_file(path);
    CHECK_INT(count_in(text, "\"process_name\""), 1);
    free(text);
    CHECK_INT(stat(path, &stat_of_file), 0);
    unlink(path);
    unlink(childs);
    rmdir(folder);
}

static int fork_and_exit(void *arg)
{
    int status = -1;
    pid_t child = fork();

    (void)arg;
    if (child == 0) {
        CHECK(coil__loop_of_parent->trace == NULL);
        _exit(coil_run(sleep_briefly, NULL, NULL) < 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return status;
}

TASK_TEST(trace_is_off_in_a_forked_child)
{
    CHECK_INT(coil_trace_start(0), 0);
    CHECK_INT(fork_and_exit(NULL), 0);
    coil_yield();
    coil_trace_stop();
    CHECK_RECORDS("switch 1, poll, polled, switch 1, switch 0, ");
}

static void run_with_a_wrong_size(void *value)
{
    setenv("COIL_TRACE", value, 1);
    coil_run(sleep_briefly, NULL, NULL);
    abort();
}

TEST(trace_environment_reports_a_wrong_size)
{
    test_dies(run_with_a_wrong_size, "trace.json,4X",
              "coil: COIL_TRACE=trace.json,4X: must be FILE or FILE,SIZE");
    test_dies(run_with_a_wrong_size, "trace.json,", "coil: COIL_TRACE=trace.json,: ");
    test_dies(run_with_a_wrong_size, "trace.json,2G", "coil: COIL_TRACE=trace.json,2G: ");
    test_dies(run_with_a_wrong_size, ",4M", "coil: COIL_TRACE=,4M: ");
    test_dies(run_with_a_wrong_size, "/nowhere/trace.json",
              "coil: COIL_TRACE=/nowhere/trace.json: No such file or directory");
}

static int call_exit(void *arg)
{
    (void)arg;
    exit(0);
}

static void exit_in_a_task(void *path)
{
    setenv("COIL_TRACE", path, 1);
    coil_run(call_exit, NULL, NULL);
}

TEST(trace_environment_writes_the_file_at_exit)
{
    char path[] = "/tmp/coil-trace-XXXXXX", *text;
    int status = -1;
    pid_t child;

    if (COIL__ASAN)
        test_skip("LeakSanitizer reports the memory of a run that exit(3) ends");
    close(mkstemp(path));
    child = fork();
    if (child == 0)
        exit_in_a_task(path);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    text = read_file(path);
    CHECK(is_whole(text));
    CHECK(strstr(text, "\"name\":\"main\"") != NULL);
    free(text);
    unlink(path);
}
