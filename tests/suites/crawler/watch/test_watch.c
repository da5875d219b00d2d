/*
 * test_watch.c - crawler/watch: the status page shows the busiest hosts, and escapes
 * their names. tests/suites/crawler/test_watch.py queries a crawl.
 */
#include "../../../../crawler/watch/pages.h"
#include "../../../harness/harness.h"

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct crawler crawler;
static struct watch_numbers numbers;

static void open_crawler(int64_t delay_ns)
{
    struct frontier_options options = {
        .limits = {10, 10}, .per_host = {1, 1}, .delay_ns = delay_ns};

    memset(&crawler, 0, sizeof crawler);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0); /* the virtual clock begins at 0 */
    crawler.result.begin_ns = coil_now();
    frontier_init(&crawler.frontier, &options);
}

static void close_crawler(void)
{
    frontier_close(&crawler.frontier);
    frontier_finish(&crawler.frontier);
    targets_finish(&crawler.targets);
}

static void add(const char *url)
{
    bool is_new;
    struct target *target = targets_get(&crawler.targets, url, 0, &is_new);

    target->host = frontier_host(&crawler.frontier, url, FRONTIER_EXTERNAL);
    frontier_add(&crawler.frontier, target);
}

/* Host number n has n % 7 URLs. */
static void add_hosts(int count)
{
    char url[64];

    for (int n = 0; n < count; n++)
        for (int i = 0; i < n % 7; i++) {
            snprintf(url, sizeof url, "http://h%d.example/%d", n, i);
            add(url);
        }
}

TASK_TEST(watch_names_the_busiest_hosts)
{
    open_crawler(0);
    add_hosts(210);
    watch_count(&numbers, &crawler);
    CHECK_INT(numbers.host_count, 180);
    CHECK_INT(numbers.queued, 30 * (1 + 2 + 3 + 4 + 5 + 6));
    CHECK_INT(numbers.urls.known, numbers.queued);
    CHECK_INT(numbers.listed, WATCH_HOSTS);
    for (size_t i = 0; i < WATCH_HOSTS; i++) {
        CHECK_INT(numbers.hosts[i].queued, 6 - i / 30);
        CHECK_INT(numbers.hosts[i].state, WATCH_READY);
    }
    close_crawler();
}

TASK_TEST(watch_knows_what_a_host_waits_for)
{
    struct frontier_job job;

    open_crawler(COIL_SEC(5));
    add("http://a/1");
    add("http://a/2");
    CHECK_INT(frontier_take(&crawler.frontier, FRONTIER_EXTERNAL, &job), 0);
    watch_count(&numbers, &crawler);
    CHECK_INT(numbers.hosts[0].state, WATCH_ASKED);
    CHECK_INT(numbers.hosts[0].queued, 1);
    CHECK_INT(numbers.in_flight[FRONTIER_EXTERNAL], 1);
    frontier_begin_request(job.host);
    frontier_done(&crawler.frontier, &job);
    watch_count(&numbers, &crawler);
    CHECK_INT(numbers.hosts[0].state, WATCH_DELAYED);
    CHECK_INT(numbers.hosts[0].wait_ns, COIL_SEC(5));
    CHECK_INT(numbers.delayed_count, 1);
    CHECK_INT(frontier_take(&crawler.frontier, FRONTIER_EXTERNAL, &job), 0);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_INT(frontier_retry(&crawler.frontier, &job, coil_now() + COIL_SEC(9)), 0);
    watch_count(&numbers, &crawler);
    CHECK_INT(numbers.hosts[0].state, WATCH_IDLE);
    CHECK_INT(numbers.retrying, 1);
    CHECK_INT(numbers.elapsed_ns, COIL_SEC(6));
    close_crawler();
}

static void check_holds(void (*write)(struct text *, const struct watch_numbers *,
                                      double),
                        const char *part)
{
    struct text text = {0};

    write(&text, &numbers, 12.5);
    CHECK(!text.failed);
    text_add(&text, "", 1);
    if (strstr(text.at, part) == NULL)
        CHECK_STR(text.at, part);
    free(text.at);
}

/*
 * Host names are escaped in HTML and in JSON, for example an ampersand, or a byte that
 * would end a string.
 */
TASK_TEST(watch_takes_names_for_text)
{
    open_crawler(0);
    add("http://a&b\"\\<c/");
    watch_count(&numbers, &crawler);
    check_holds(watch_page,
                "<th scope=row>http://a&#38;b&#34;\\&#60;c<td>ready<td>1<td>0");
    check_holds(watch_json, "{\"origin\":\"http://a&b\\\"\\\\<c\",\"state\":\"ready\"");
    check_holds(watch_metrics,
                "coil_crawl_host_queued{host=\"http://a&b\\\"\\\\<c\"} 1\n");
    check_holds(watch_lines, "  http://a&b\"\\<c  ready, 1 queued, 0 in flight\n");
    check_holds(watch_json, "\"rate\":12.5,");
    close_crawler();
}
