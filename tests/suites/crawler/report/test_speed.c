/*
 * test_speed.c - crawler/report/speed.h: how long each host and each phase of a crawl
 * took.
 */
#include "../../../../crawler/report/speed.h"
#include "../../../harness/harness.h"

static void add(struct speed *speed, const char *url, int status, int64_t at_ms,
                int64_t duration_ms)
{
    struct record_answer record = {.url = url,
                                   .status = status,
                                   .at_ns = COIL_MSEC(at_ms),
                                   .duration_ns = COIL_MSEC(duration_ms),
                                   .bytes = 100};

    CHECK_INT(speed_add(speed, &record), 0);
}

TEST(speed_has_the_slowest_hosts_first)
{
    struct speed speed = {0};

    add(&speed, "http://fast/a", 200, 0, 10);
    add(&speed, "http://slow:81/a", 200, 0, 300);
    add(&speed, "http://fast/b", 404, 10, 50);
    add(&speed, "http://u:p@slow:81/b", 0, 0, 100);
    speed_arrange(&speed);
    CHECK_INT(speed.host_count, 2);
    CHECK_STR(speed.hosts[0]->name, "slow:81");
    CHECK_INT(speed.hosts[0]->total_ns, COIL_MSEC(400));
    CHECK_INT(speed.hosts[0]->slowest_ns, COIL_MSEC(300));
    CHECK_INT(speed.hosts[0]->failures, 1);
    CHECK_STR(speed.hosts[1]->name, "fast");
    CHECK_INT(speed.hosts[1]->failures, 1);
    CHECK_INT(speed.answers, 4);
    speed_finish(&speed);
}

static size_t sum_of(const struct speed *speed)
{
    size_t sum = 0;

    for (size_t i = 0; i < SPEED_SPANS; i++)
        sum += speed->spans[i].answers;
    return sum;
}

TEST(speed_spans_grow_with_the_crawl)
{
    struct speed speed = {0};

    for (int i = 0; i < 100; i++)
        add(&speed, "http://h/", 200, i * 10, 5);
    CHECK_INT(speed.span_ns, COIL_MSEC(10));
    CHECK_INT(speed.spans[99].answers, 1);
    add(&speed, "http://h/", 500, 4000, 799);
    CHECK_INT(speed.span_ns, COIL_MSEC(40));
    CHECK_INT(speed.spans[0].answers, 4);
    CHECK_INT(speed.spans[0].bytes, 400);
    CHECK_INT(speed.spans[119].failures, 1);
    CHECK_INT(speed.span_count, 120);
    add(&speed, "http://h/", 200, INT64_C(1000000000), 0); /* eleven days */
    CHECK_INT(sum_of(&speed), 102);
    CHECK(speed.span_count <= SPEED_SPANS);
    speed_finish(&speed);
}
