/*
 * test_million.c - a million tasks wait at once, a page each. (seeds-checklist row 102)
 */
#include "../harness/harness.h"

#include "../../src/base/compiler.h"

#include <coil.h>

enum { MILLION = 1000000 };

/* What the process has taken at most, page tables included. */
static long taken(void)
{
    return test_proc_kib("/proc/self/status", "VmHWM") +
           test_proc_kib("/proc/self/status", "VmPTE");
}

static int sleep_and_count(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    ++*(long *)arg;
    return rc;
}

TASK_TEST(a_million_sleeping_tasks_take_a_page_each)
{
    long before, bytes_each, awake = 0;

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("a sanitizer's own memory is many times that");
    if (test_proc_kib("/proc/meminfo", "MemAvailable") < 6L * 1024 * 1024)
        test_skip("needs 6 GiB of free memory");
    before = taken();
    for (int i = 0; i < MILLION; i++)
        CHECK_INT(coil_spawn(sleep_and_count, &awake, NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    bytes_each = (taken() - before) * 1024 / MILLION;
    printf("%ld bytes each, %ld mappings\n", bytes_each, test_mapping_count());
    CHECK(bytes_each <= 4505); /* 4.4 KiB */
    CHECK(test_mapping_count() < 65530);
    CHECK_INT(coil_sleep(COIL_SEC(2)), 0);
    CHECK_INT(awake, MILLION);
}
