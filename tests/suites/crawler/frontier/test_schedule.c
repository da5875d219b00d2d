#include "../../../../crawler/frontier/schedule.h"
#include "../../../harness/harness.h"

TEST(schedule_gives_the_first_by_time)
{
    static const int times[] = {5, 1, 4, 1, 3, 9, 2, 6};
    struct schedule schedule = {.count = 0};

    CHECK_INT(schedule_first(&schedule), INT64_MAX);
    for (size_t i = 0; i < 8; i++)
        CHECK_INT(schedule_add(&schedule, times[i], (void *)&times[i]), 0);
    while (schedule.count > 0) {
        int64_t at = schedule_first(&schedule);
        const int *thing = schedule_take(&schedule);
        CHECK_INT(at, *thing);
        test_trace("%d@%d ", *thing, (int)(thing - times));
    }
    CHECK_TRACE("1@1 1@3 2@6 3@4 4@2 5@0 6@7 9@5 ");
    schedule_finish(&schedule);
}

TEST(schedule_keeps_the_order_of_what_has_the_same_time)
{
    struct schedule schedule = {.count = 0};
    char things[1000];

    for (int i = 0; i < 1000; i++)
        CHECK_INT(schedule_add(&schedule, i % 3, &things[i]), 0);
    for (int time = 0; time < 3; time++)
        for (int i = time; i < 1000; i += 3)
            CHECK_PTR(schedule_take(&schedule), &things[i]);
    CHECK_INT(schedule.count, 0);
    schedule_finish(&schedule);
    CHECK_INT(schedule_first(&schedule), INT64_MAX);
}

TEST(schedule_in_any_order_gives_out_in_order)
{
    struct schedule schedule = {.count = 0};
    uint32_t random = 1;
    int64_t last = 0;

    for (int i = 0; i < 5000; i++) {
        random = random * 1664525 + 1013904223;
        CHECK_INT(schedule_add(&schedule, random >> 8, &schedule), 0);
        if (i % 3 == 2)
            CHECK_PTR(schedule_take(&schedule), &schedule);
    }
    while (schedule.count > 0) {
        int64_t at = schedule_first(&schedule);
        if (at < last)
            CHECK_INT(at, last);
        last = at;
        schedule_take(&schedule);
    }
    schedule_finish(&schedule);
}
