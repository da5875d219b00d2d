/*
 * test_base.c - lists, time, the allocator.
 */
#include "../harness/harness.h"

#include "../../src/base/base.h"

#include <coil.h>

#include <stdio.h>

TEST(list_keeps_order_and_forgets_twice)
{
    struct coil__list list, other, a, b, c;

    coil__list_init(&list);
    coil__list_init(&other);
    CHECK(coil__list_empty(&list));
    CHECK_PTR(coil__list_pop(&list), NULL);
    coil__list_push(&list, &a);
    coil__list_push(&list, &b);
    coil__list_push(&other, &c);
    coil__list_splice(&list, &other);
    CHECK(coil__list_empty(&other));
    coil__list_splice(&list, &other);
    coil__list_remove(&b);
    coil__list_remove(&b);
    CHECK_PTR(coil__list_pop(&list), &a);
    CHECK_PTR(coil__list_pop(&list), &c);
    CHECK(coil__list_empty(&list));
}

TEST(list_may_lose_the_link_it_is_at_while_it_is_walked)
{
    struct coil__list list, links[4];
    int seen = 0;

    coil__list_init(&list);
    for (int i = 0; i < 4; i++)
        coil__list_push(&list, &links[i]);
    COIL__LIST_EACH (link, &list) {
        coil__list_remove(link);
        seen++;
    }
    CHECK_INT(seen, 4);
    CHECK(coil__list_empty(&list));
}

TEST(time_saturates)
{
    CHECK_INT(coil__time_add(1, 2), 3);
    CHECK_INT(coil__time_add(COIL_NEVER, 1), COIL_NEVER);
    CHECK_INT(coil__time_add(INT64_MIN, -1), INT64_MIN);
    CHECK_INT(coil_in(COIL_NEVER), COIL_NEVER);
    CHECK_INT(COIL_SEC(2), 2000 * COIL_MSEC(1));
    CHECK_INT(COIL_MSEC(2), 2000 * COIL_USEC(1));
    CHECK_INT(COIL_USEC(2), 2000 * COIL_NSEC(1));
}

TEST(now_is_monotonic_without_a_loop)
{
    int64_t before = coil_now();

    CHECK(before > 0);
    CHECK(coil_now() >= before);
}

TEST(version_is_that_of_the_header)
{
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", COIL_VERSION_MAJOR, COIL_VERSION_MINOR,
             COIL_VERSION_PATCH);
    CHECK_STR(coil_version(), version);
}

TEST(allocations_fail_where_the_test_says)
{
    void *p;

    test_fail_allocation(2);
    p = coil__alloc(1);
    CHECK(p != NULL);
    CHECK_PTR(coil__alloc_zeroed(8), NULL);
    p = coil__realloc(p, 100);
    CHECK(p != NULL);
    coil__free(p);
    coil__free(NULL);
}
