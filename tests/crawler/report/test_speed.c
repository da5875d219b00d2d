/*
 * test_speed.c - crawler/report/speed.h: hosts, and spans of a crawl's time.
 */
#include "../../../crawler/report/speed.h"
#include "../../harness/harness.h"

static void add(struct pace *pace, const char *url, int status, int64_t at_ms,
                int64_t duration_ms)
{
    struct record_answer record = {.url = url,
                                   .status = status,
                                   .at_ns = COIL_MSEC(at_ms),
                                   .duration_ns = COIL_MSEC(duration_ms),
                                   .bytes = 100};

    CHECK_INT(pace_add(pace, &record), 0);
}

TEST(pace_has_the_slowest_hosts_first)
{
    struct pace pace = {0};

    add(&pace, "http://fast/a", 200, 0, 10);
    add(&pace, "http://slow:81/a", 200, 0, 300);
    add(&pace, "http://fast/b", 404, 10, 50);
    add(&pace, "http://u:p@slow:81/b", 0, 0, 100);
    pace_arrange(&pace);
    CHECK_INT(pace.host_count, 2);
    CHECK_STR(pace.hosts[0]->name, "slow:81");
    CHECK_INT(pace.hosts[0]->total_ns, COIL_MSEC(400));
    CHECK_INT(pace.hosts[0]->slowest_ns, COIL_MSEC(300));
    CHECK_INT(pace.hosts[0]->failures, 1);
    CHECK_STR(pace.hosts[1]->name, "fast");
    CHECK_INT(pace.hosts[1]->failures, 1);
    CHECK_INT(pace.answers, 4);
    pace_finish(&pace);
}

static size_t sum_of(const struct pace *pace)
{
    size_t sum = 0;

    for (size_t i = 0; i < PACE_SPANS; i++)
        sum += pace->spans[i].answers;
    return sum;
}

TEST(pace_spans_grow_with_the_crawl)
{
    struct pace pace = {0};

    for (int i = 0; i < 100; i++)
        add(&pace, "http://h/", 200, i * 10, 5);
    CHECK_INT(pace.span_ns, COIL_MSEC(10));
    CHECK_INT(pace.spans[99].answers, 1);
    add(&pace, "http://h/", 500, 4000, 799);
    CHECK_INT(pace.span_ns, COIL_MSEC(40));
    CHECK_INT(pace.spans[0].answers, 4);
    CHECK_INT(pace.spans[0].bytes, 400);
    CHECK_INT(pace.spans[119].failures, 1);
    CHECK_INT(pace.span_count, 120);
    add(&pace, "http://h/", 200, INT64_C(1000000000), 0); /* eleven days */
    CHECK_INT(sum_of(&pace), 102);
    CHECK(pace.span_count <= PACE_SPANS);
    pace_finish(&pace);
}
