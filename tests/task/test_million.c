/*
 * test_million.c - a million tasks wait at once, a page each. (seeds-checklist row 102)
 */
#include "../harness/harness.h"

#include "../../src/base/compiler.h"

#include <coil.h>

#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000 };

/* A figure of /proc in KiB, or -1. */
static long figure(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[256];
    long kib = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), ": %ld", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

static long mapping_count(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    long count = 0;
    int c;

    while (file != NULL && (c = getc(file)) != EOF)
        count += c == '\n';
    if (file != NULL)
        fclose(file);
    return count;
}

/* What the process has taken at most, page tables included. */
static long taken(void)
{
    return figure("/proc/self/status", "VmHWM") + figure("/proc/self/status", "VmPTE");
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
    if (figure("/proc/meminfo", "MemAvailable") < 6L * 1024 * 1024)
        test_skip("needs 6 GiB of free memory");
    before = taken();
    for (int i = 0; i < MILLION; i++)
        CHECK_INT(coil_spawn(sleep_and_count, &awake, NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    bytes_each = (taken() - before) * 1024 / MILLION;
    printf("%ld bytes each, %ld mappings\n", bytes_each, mapping_count());
    CHECK(bytes_each <= 4505); /* 4.4 KiB */
    CHECK(mapping_count() < 65530);
    CHECK_INT(coil_sleep(COIL_SEC(2)), 0);
    CHECK_INT(awake, MILLION);
}
