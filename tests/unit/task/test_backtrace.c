/*
 * test_backtrace.c - in a task, gdb shows all C functions up to the task's entry,
 * including functions of other libraries.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../coro/emulated.h"

#include <coil.h>

#include <unistd.h>

/* ---- the inspected code ------------------------------------------------------------ */

static int waits_begun, waits_ended;

static COIL__NOINLINE int wait_in_task(void)
{
    int rc;

    waits_begun++;
    rc = coil_sleep(COIL_MSEC(1));
    waits_ended++;
    return rc;
}

static COIL__NOINLINE int compare_and_wait(const void *a, const void *b)
{
    int rc = wait_in_task();

    return rc < 0 ? 0 : *(const int *)a - *(const int *)b;
}

/* Check that this task can run while the other one waits inside qsort(). */
static int look_inside_qsort(void *arg)
{
    while (waits_begun == 0)
        coil_yield();
    *(bool *)arg = waits_begun == 1 && waits_ended == 0;
    return 0;
}

static COIL__NOINLINE int sort_in_task(void *arg)
{
    qsort(arg, 2, sizeof(int), compare_and_wait);
    return 0;
}

/*
 * Wait in the comparison function of qsort(), while another task runs. This test is also
 * run in gdb.
 */
TASK_TEST(task_that_waits_inside_qsort)
{
    int numbers[] = {2, 1};
    int64_t before = coil_now();
    bool sort_was_waiting = false;
    coil_task *sorting = test_spawn(sort_in_task, numbers);
    coil_task *looking = test_spawn(look_inside_qsort, &sort_was_waiting);

    CHECK_INT(test_join(looking), 0);
    CHECK(sort_was_waiting);
    CHECK_INT(test_join(sorting), 0);
    CHECK(waits_ended > 0); /* AddressSanitizer's qsort() compares the numbers twice */
    CHECK_INT(coil_now() - before, waits_ended * COIL_MSEC(1));
    CHECK_INT(numbers[0], 1);
    CHECK_INT(numbers[1], 2);
}

/* ---- gdb --------------------------------------------------------------------------- */

static void read_backtrace(char *text, size_t size)
{
    char program[256] = "", command[1024];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    FILE *gdb;

    CHECK(n > 0);
    snprintf(command, sizeof command,
             "gdb -nx -batch -ex 'break wait_in_task' -ex run -ex bt "
             "--args '%s' task_that_waits_inside_qsort 2>&1",
             program);
    gdb = popen(command, "r");
    text[gdb != NULL ? fread(text, 1, size - 1, gdb) : 0] = '\0';
    if (gdb != NULL)
        pclose(gdb);
}

static bool in_this_order(const char *text, const char *const names[], size_t n)
{
    for (size_t i = 0; i < n && text != NULL; i++)
        text = strstr(text, names[i]);
    return text != NULL && strstr(text, "\n#") == NULL;
}

TEST(gdb_shows_the_frames_of_a_task_down_to_its_entry)
{
    static const char *const frames[] = {"#0 ",   "wait_in_task", "compare_and_wait",
                                         "qsort", "sort_in_task", "switch_entry"};
    static char text[65536];

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind() || emulated())
        test_skip("gdb would also show the tool's frames");
    if (system("command -v gdb >/dev/null 2>&1") != 0)
        test_skip("gdb is missing");
    read_backtrace(text, sizeof text);
    if (strstr(text, "ptrace") != NULL)
        test_skip("gdb is not allowed to attach here");
    CHECK(in_this_order(text, frames, sizeof frames / sizeof *frames));
    CHECK(strstr(text, "corrupt") == NULL);
    CHECK(strstr(text, "Backtrace stopped") == NULL);
    fputs(text, stdout);
}
