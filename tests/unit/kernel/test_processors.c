/*
 * test_processors.c - the number of processors that this process may use.
 */
#include "../../harness/harness.h"

#include <coil/testing.h>
#include <coil/threads.h>

#include <stdio.h>
#include <string.h>

#include "../../../src/kernel/linux/quota.h"

TEST(processors_and_the_quota_of_a_container)
{
    CHECK_INT(coil__processors_of_quota("max 100000\n"), 0);
    CHECK_INT(coil__processors_of_quota("100000 100000\n"), 1);
    CHECK_INT(coil__processors_of_quota("150000 100000\n"), 2);
    CHECK_INT(coil__processors_of_quota("1000 100000\n"), 1);
    CHECK_INT(coil__processors_of_quota(""), 0);
    CHECK_INT(coil__processors_of_quota("1 0"), 0);
}

static bool group_is_known(void)
{
    char text[2048] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (file != NULL && fread(text, 1, sizeof text - 1, file) == 0)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    return strstr(text, "0::/") != NULL;
}

TEST(processors_reads_the_quota_only_once)
{
    unsigned count = coil_processor_count();

    if (!group_is_known())
        test_skip("this system does not use cgroups, version 2");
    coil_testing_fail_system_call(1, 0);
    CHECK_INT(coil_processor_count(), count);
    CHECK(coil_testing_failed() == NULL);
    coil_testing_fail_system_call(0, 0);
}
