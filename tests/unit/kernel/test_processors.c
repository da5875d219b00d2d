/*
 * test_processors.c - the number of processors that this process may use.
 */
#include "../../harness/harness.h"

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
