/*
 * test_lease.c - crawler/shared/lease.h: leases of the workers of a shared crawl, with a
 * redis-server that the test starts. tests/suites/crawler/test_scripts.py tests the
 * scripts.
 */
#include "../../../../crawler/shared/lease.h"
#include "../../../harness/harness.h"
#include "redis/redis_process.h"

#include <coil.h>

#include <errno.h>
#include <signal.h>

#define SPAN_NS COIL_SEC(600) /* long enough that leases do not expire in a test */

struct crawl {
    struct redis_process process;
    struct redis *redis;
    coil_task *task;
};

static const struct leases_setup plain = {.options = "--max-depth=3", .split = 1};

static void open_crawl(struct crawl *crawl)
{
    redis_process_start(&crawl->process);
    redis_process_open(&crawl->process, COIL_SEC(15), &crawl->redis);
    crawl->task = test_spawn(redis_serve, crawl->redis);
}

static void close_crawl(struct crawl *crawl)
{
    coil_task_cancel(crawl->task, "test");
    CHECK_INT(test_join(crawl->task), -ECANCELED);
    redis_destroy(crawl->redis);
    redis_process_stop(&crawl->process);
}

static void begin(struct crawl *crawl, struct leases *leases, bool is_new)
{
    CHECK_INT(leases_begin(leases, crawl->redis, "test", &plain, SPAN_NS), is_new);
}

static void add(struct leases *leases, const char *url)
{
    struct redis_words links = {.count = 0};

    leases_link(leases, &links, &(struct lease_url){.url = url});
    CHECK_INT(leases_add(leases, &links), 0);
    redis_words_finish(&links);
}

static struct lease acquire(struct leases *leases)
{
    struct lease lease;
    int64_t wait_ns;

    CHECK_INT(leases_acquire(leases, LEASE_SITE, 10, &lease, &wait_ns), 1);
    return lease;
}

static void trace_items(const struct lease *lease)
{
    for (size_t i = 0; i < lease->count; i++)
        test_trace("%s ", lease->items[i].url.url);
}

/* Complete one item, without new links. */
static int complete(struct leases *leases, struct lease *lease, size_t i)
{
    struct lease_result result = {lease->items[i].number, "result", 6};

    return lease_complete(leases, lease,
                          &(struct lease_done){.results = &result, .count = 1});
}

static void check_over(struct leases *leases)
{
    struct lease lease;
    int64_t wait_ns;

    CHECK_INT(leases_acquire(leases, LEASE_SITE, 1, &lease, &wait_ns), -ENODATA);
}

IO_TEST(leases_join_what_is_there)
{
    struct crawl crawl;
    struct leases one, two;
    char *options;

    open_crawl(&crawl);
    CHECK_INT(leases_join(&two, crawl.redis, "test", &options), -ENOENT);
    CHECK_PTR(options, NULL);
    begin(&crawl, &one, true);
    CHECK_INT(leases_join(&two, crawl.redis, "test", &options), 0);
    CHECK_STR(options, plain.options);
    CHECK(memcmp(one.seeds, two.seeds, sizeof one.seeds) == 0);
    free(options);
    close_crawl(&crawl);
}

/* Run a Redis command that returns a number. */
static void command(struct crawl *crawl, const char *const words[], size_t count)
{
    struct redis_words command = {.count = 0};
    redisReply *reply;

    for (size_t i = 0; i < count; i++)
        redis_words_add(&command, words[i]);
    CHECK_INT(redis_command(crawl->redis, &command, &reply), 0);
    freeReplyObject(reply);
    redis_words_finish(&command);
}

/* Check that no process can join the crawl, because it has another format. */
static void check_format(struct crawl *crawl, int64_t format, const char *message)
{
    struct leases leases;
    char *options, words[512];

    CHECK_INT(leases_begin(&leases, crawl->redis, "test", &plain, SPAN_NS),
              -EPROTONOSUPPORT);
    CHECK_INT(leases.format, format);
    CHECK_INT(leases_join(&leases, crawl->redis, "test", &options), -EPROTONOSUPPORT);
    CHECK_PTR(options, NULL);
    CHECK_INT(leases.format, format);
    leases_describe_format(&leases, "test", words, sizeof words);
    CHECK(strstr(words, message) != NULL);
}

IO_TEST(leases_refuse_a_crawl_of_another_format)
{
    struct crawl crawl;
    struct leases leases;
    static const char setup[] = "coil:{test}:setup";

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    CHECK_INT(leases.format, LEASES_FORMAT);
    command(&crawl, (const char *[]){"HSET", setup, "format", "99"}, 4);
    check_format(&crawl, 99,
                 "test: a newer version of coil-crawl began this crawl: its data in "
                 "Redis has format 99, but this version needs format 1;");
    command(&crawl, (const char *[]){"HDEL", setup, "format"}, 3);
    check_format(&crawl, 0,
                 "test: an older version of coil-crawl began this crawl: its data in "
                 "Redis has format 0, but this version needs format 1;");
    close_crawl(&crawl);
}

static int note_origin(void *arg, const char *origin)
{
    (void)arg;
    test_trace("%s ", origin);
    return 0;
}

IO_TEST(leases_tell_what_belongs_to_the_site_and_then_what_was_held)
{
    struct crawl crawl;
    struct leases leases;
    struct redis_words links = {.count = 0};
    struct lease lease;
    struct lease_result result = {.number = 1};
    int64_t wait_ns;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    CHECK_INT(leases.starts, -1);
    leases_link(&leases, &links,
                &(struct lease_url){.url = "http://a/", .flags = LEASE_START});
    leases_link(
        &leases, &links,
        &(struct lease_url){.url = "http://b/x", .class = LEASE_HELD, .depth = 1});
    leases_origin(&links, "http://www.a:81/b");
    CHECK_INT(leases_add(&leases, &links), 0);
    redis_words_finish(&links);
    CHECK_INT(leases_acquire(&leases, LEASE_HELD, 9, &lease, &wait_ns), 0);
    CHECK_INT(leases.starts, 1);
    CHECK_INT(leases.origins, 1);
    CHECK_INT(leases_origins(&leases, note_origin, NULL), 0);
    CHECK_TRACE("http://www.a:81 ");
    lease = acquire(&leases);
    CHECK_INT(complete(&leases, &lease, 0), 0);
    lease_finish(&lease);
    CHECK_INT(leases_acquire(&leases, LEASE_HELD, 9, &lease, &wait_ns), 1);
    CHECK_INT(leases.starts, 0);
    CHECK_STR(lease.items[0].url.url, "http://b/x");
    CHECK_INT(lease.items[0].url.class, LEASE_HELD);
    CHECK_INT(lease.items[0].url.depth, 1);
    CHECK_INT(lease_complete(&leases, &lease,
                             &(struct lease_done){.results = &result, .count = 1}),
              0);
    check_over(&leases);
    lease_finish(&lease);
    close_crawl(&crawl);
}

/* Add links to `count` pages of http://a/, numbered from `first`. */
static void link_many(const struct leases *leases, struct redis_words *links, int first,
                      int count)
{
    char url[64];

    for (int i = first; i < first + count; i++) {
        snprintf(url, sizeof url, "http://a/%d", i);
        leases_link(leases, links, &(struct lease_url){.url = url});
    }
}

#define SOME 500

/* Complete all items of the lease, add `links`, and lease up to SOME further items. */
static int complete_all(struct leases *leases, struct lease *lease,
                        const struct redis_words *links)
{
    struct lease_result results[500];
    size_t count = lease->count;

    CHECK(count <= SOME);
    for (size_t i = 0; i < count; i++)
        results[i] = (struct lease_result){lease->items[i].number, "result", 6};
    CHECK_INT(lease_complete(
                  leases, lease,
                  &(struct lease_done){
                      .results = results, .count = count, .links = links, .more = SOME}),
              0);
    return (int)count;
}

IO_TEST(leases_take_more_links_than_fit_into_a_script)
{
    struct crawl crawl;
    struct leases leases;
    struct redis_words links = {.count = 0};
    struct lease lease;
    int all = 0;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    link_many(&leases, &links, 0, 9001);
    CHECK_INT(leases_add(&leases, &links), 0);
    redis_words_clear(&links);
    link_many(&leases, &links, 8000, 9001);
    lease = acquire(&leases);
    while (lease.count > 0)
        all += complete_all(&leases, &lease, all == 0 ? &links : NULL);
    CHECK_INT(all, 17001);
    check_over(&leases);
    redis_words_finish(&links);
    lease_finish(&lease);
    close_crawl(&crawl);
}

TEST(leases_names_are_short_and_plain)
{
    CHECK(leases_is_name("a"));
    CHECK(leases_is_name("docs.2026-11_x"));
    CHECK(!leases_is_name(""));
    CHECK(!leases_is_name("a b"));
    CHECK(!leases_is_name("a}"));
    CHECK(!leases_is_name(
        "0123456789012345678901234567890123456789012345678901234567890123x"));
}

IO_TEST(leases_of_two_workers_are_of_one_crawl)
{
    struct crawl crawl;
    struct leases one, two;
    struct leases_setup other = {.options = "--max-depth=4"};
    struct lease lease;

    open_crawl(&crawl);
    begin(&crawl, &one, true);
    begin(&crawl, &two, false);
    CHECK_INT(leases_begin(&two, crawl.redis, "test", &other, SPAN_NS), -EEXIST);
    begin(&crawl, &two, false);
    CHECK(strcmp(one.worker, two.worker) != 0);
    add(&one, "http://a/1?q");
    add(&two, "http://a/1?q");
    lease = acquire(&two);
    trace_items(&lease);
    CHECK_TRACE("http://a/1?q ");
    CHECK_STR(lease.host, "shttp://a");
    CHECK_INT(complete(&two, &lease, 0), 0);
    CHECK_STR(lease.token, "");
    check_over(&one);
    lease_finish(&lease);
    close_crawl(&crawl);
}

IO_TEST(leases_bring_what_is_known_of_a_url)
{
    struct crawl crawl;
    struct leases leases;
    struct redis_words links = {.count = 0};
    struct lease_url url = {.url = "https://b:81/x",
                            .class = LEASE_EXTERNAL,
                            .flags = LEASE_IDS,
                            .hops = 2,
                            .depth = 258};
    struct lease lease;
    int64_t wait_ns;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    leases_link(&leases, &links, &url);
    leases_link(&leases, &links, &(struct lease_url){.url = "mailto:nobody"});
    CHECK_INT(leases_add(&leases, &links), 0);
    redis_words_finish(&links);
    CHECK_INT(leases_acquire(&leases, LEASE_SITE, 1, &lease, &wait_ns), 0);
    CHECK(wait_ns > 0);
    CHECK_INT(leases_acquire(&leases, LEASE_EXTERNAL, 1, &lease, &wait_ns), 1);
    CHECK_STR(lease.items[0].url.url, "https://b:81/x");
    CHECK_INT(lease.items[0].url.class, LEASE_EXTERNAL);
    CHECK_INT(lease.items[0].url.flags, LEASE_IDS);
    CHECK_INT(lease.items[0].url.hops, 2);
    CHECK_INT(lease.items[0].url.depth, 258);
    lease.items[0].url.tries = 3;
    CHECK_INT(lease_release(&leases, &lease, 0, COIL_MSEC(1), 0, false), 0);
    lease_finish(&lease);
    while (leases_acquire(&leases, LEASE_EXTERNAL, 1, &lease, &wait_ns) == 0)
        CHECK_INT(coil_sleep(wait_ns), 0);
    CHECK_INT(lease.items[0].url.tries, 3);
    CHECK_INT(complete(&leases, &lease, 0), 0);
    lease_finish(&lease);
    close_crawl(&crawl);
}

IO_TEST(lease_that_has_expired_is_anothers)
{
    struct crawl crawl;
    struct leases slow, quick;
    struct lease lost, lease;
    struct lease_renewal renewal;
    int64_t wait_ns;

    open_crawl(&crawl);
    begin(&crawl, &slow, true);
    begin(&crawl, &quick, false);
    slow.span_ns = COIL_MSEC(1);
    add(&slow, "http://a/1");
    lost = acquire(&slow);
    while (leases_acquire(&quick, LEASE_SITE, 10, &lease, &wait_ns) == 0)
        CHECK_INT(coil_sleep(wait_ns), 0);
    CHECK_INT(lease.items[0].url.flags, LEASE_SINGLE);
    memcpy(renewal.token, lost.token, sizeof renewal.token);
    CHECK_INT(leases_renew(&slow, &renewal, 1), 0);
    CHECK(renewal.is_lost);
    memcpy(renewal.token, lease.token, sizeof renewal.token);
    CHECK_INT(leases_renew(&quick, &renewal, 1), 0);
    CHECK(!renewal.is_lost);
    CHECK_INT(complete(&slow, &lost, 0), 1);
    CHECK_INT(lost.count, 0);
    CHECK_INT(complete(&quick, &lease, 0), 0);
    check_over(&slow);
    lease_finish(&lost);
    lease_finish(&lease);
    close_crawl(&crawl);
}

static int acquire_in_vain(void *arg)
{
    struct lease lease;
    int64_t wait_ns;

    return leases_acquire(arg, LEASE_SITE, 10, &lease, &wait_ns);
}

/*
 * As after Ctrl-C, a worker's request for a lease is cancelled before the reply, and the
 * worker leaves the crawl. The items of the lease must go back to the queue.
 */
IO_TEST(lease_that_a_worker_was_not_told_of_goes_back_when_it_leaves)
{
    struct crawl crawl;
    struct leases ends, stays;
    struct lease lease;
    coil_task *task;

    open_crawl(&crawl);
    begin(&crawl, &ends, true);
    begin(&crawl, &stays, false);
    add(&ends, "http://a/1");
    kill(crawl.process.pid, SIGSTOP);
    task = test_spawn(acquire_in_vain, &ends);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0); /* wait until the request has been sent */
    coil_task_cancel(task, "test");
    CHECK_INT(test_join(task), -ECANCELED);
    kill(crawl.process.pid, SIGCONT);
    CHECK_INT(leases_leave(&ends), 0);
    lease = acquire(&stays);
    CHECK_INT(lease.items[0].url.flags, 0);
    lease_finish(&lease);
    close_crawl(&crawl);
}

IO_TEST(lease_given_back_leaves_its_host_alone)
{
    struct crawl crawl;
    struct leases leases;
    struct lease lease;
    int64_t wait_ns;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    add(&leases, "http://a/1");
    lease = acquire(&leases);
    CHECK_INT(lease_release_all(&leases, &lease, COIL_SEC(600), true), 0);
    lease_finish(&lease);
    CHECK_INT(leases_acquire(&leases, LEASE_SITE, 1, &lease, &wait_ns), 0);
    CHECK(wait_ns > 0);
    close_crawl(&crawl);
}

IO_TEST(lease_given_back_is_as_it_was)
{
    struct crawl crawl;
    struct leases leases;
    struct lease lease;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    add(&leases, "http://a/1");
    lease = acquire(&leases);
    CHECK_INT(lease_release_all(&leases, &lease, 0, false), 0);
    CHECK_INT(lease.count, 0);
    lease_finish(&lease);
    lease = acquire(&leases);
    CHECK_INT(lease.items[0].url.flags, 0);
    CHECK_INT(complete(&leases, &lease, 0), 0);
    CHECK_INT(leases_reap(&leases), 0);
    lease_finish(&lease);
    close_crawl(&crawl);
}

/* ---- a whole crawl ----------------------------------------------------------------- */

enum { PAGES = 300, HOSTS = 5, WORKERS = 4 };

static void url_of(int page, char url[64])
{
    snprintf(url, 64, "http://host%d/%d", page % HOSTS, page);
}

/* Page n links to the pages 0, 2n + 1 and 2n + 2. */
static void add_links(struct leases *leases, const char *url, struct redis_words *links)
{
    int page = atoi(strrchr(url, '/') + 1);
    const int others[] = {0, 2 * page + 1, 2 * page + 2};
    char other[64];

    for (int i = 0; i < 3; i++) {
        url_of(others[i], other);
        if (others[i] < PAGES)
            leases_link(leases, links, &(struct lease_url){.url = other});
    }
}

static int complete_first(struct leases *leases, struct lease *lease)
{
    const char *url = lease->items[0].url.url;
    struct lease_result result = {lease->items[0].number, url, strlen(url)};
    struct redis_words links = {.count = 0};
    int rc;

    add_links(leases, url, &links);
    rc = lease_complete(
        leases, lease,
        &(struct lease_done){.results = &result, .count = 1, .links = &links, .more = 2});
    redis_words_finish(&links);
    return rc;
}

static int work(void *arg)
{
    struct leases *leases = arg;
    struct lease lease;
    int64_t wait_ns;
    int rc;

    while ((rc = leases_acquire(leases, LEASE_SITE, 3, &lease, &wait_ns)) >= 0) {
        if (rc == 0)
            rc = coil_sleep(wait_ns < COIL_MSEC(5) ? wait_ns : COIL_MSEC(5));
        while (rc >= 0 && lease.count > 0)
            rc = complete_first(leases, &lease);
        lease_finish(&lease);
        if (rc != 0)
            break;
    }
    return rc;
}

struct collected {
    bool pages[PAGES];
    int count;
    int64_t last;
};

static int collect(void *arg, int64_t number, const void *bytes, size_t n)
{
    struct collected *collected = arg;
    char url[64];
    int page;

    snprintf(url, sizeof url, "%.*s", (int)n, (const char *)bytes);
    page = atoi(strrchr(url, '/') + 1);
    CHECK(number > collected->last);
    CHECK(!collected->pages[page]);
    collected->pages[page] = true;
    collected->last = number;
    collected->count++;
    return 0;
}

/*
 * Check that leases_forget() deletes all keys except the two from which workers learn
 * that the crawl has ended.
 */
static void check_forgotten(struct crawl *crawl, struct leases *leases)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;

    CHECK_INT(leases_forget(leases), 0);
    redis_words_add(&words, "DBSIZE");
    CHECK_INT(redis_command(crawl->redis, &words, &reply), 0);
    redis_words_finish(&words);
    CHECK_INT(reply->integer, 2);
    freeReplyObject(reply);
    check_over(leases);
}

IO_TEST(leases_of_many_workers_bring_each_page_once)
{
    struct crawl crawl;
    struct leases leases[WORKERS];
    coil_task *workers[WORKERS];
    struct collected collected = {.count = 0};
    struct lease_progress progress;
    int rc;

    open_crawl(&crawl);
    for (int i = 0; i < WORKERS; i++)
        begin(&crawl, &leases[i], i == 0);
    add(&leases[0], "http://host0/0");
    for (int i = 0; i < WORKERS; i++)
        workers[i] = test_spawn(work, &leases[i]);
    for (int i = 0; i < WORKERS; i++)
        CHECK_INT(test_join(workers[i]), -ENODATA);
    while ((rc = leases_collect(&leases[0], collected.last, 100, collect, &collected,
                                &progress)) > 0)
        ;
    CHECK_INT(rc, -ENODATA);
    CHECK_INT(collected.count, PAGES);
    CHECK_INT(progress.through, PAGES);
    CHECK_INT(progress.left, 0);
    check_forgotten(&crawl, &leases[0]);
    close_crawl(&crawl);
}

static void run_command(struct crawl *crawl, const char *const *command, size_t count)
{
    struct redis_words words = {.count = 0};
    redisReply *reply;

    for (size_t i = 0; i < count; i++)
        redis_words_add(&words, command[i]);
    CHECK_INT(redis_command(crawl->redis, &words, &reply), 0);
    freeReplyObject(reply);
    redis_words_finish(&words);
}

static void limit_memory(struct crawl *crawl, const char *bytes)
{
    const char *const words[] = {"CONFIG", "SET", "maxmemory", bytes};

    run_command(crawl, words, sizeof words / sizeof *words);
}

/*
 * If Redis has no memory left, the first command to fail is the one that sends the
 * results.
 */
IO_TEST(lease_complete_fails_if_redis_is_full_and_can_be_repeated)
{
    struct crawl crawl;
    struct leases leases;
    struct lease lease;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    add(&leases, "http://a/1");
    lease = acquire(&leases);
    limit_memory(&crawl, "1");
    CHECK_INT(complete(&leases, &lease, 0), -ENOSPC);
    CHECK(strstr(redis_message(crawl.redis), "OOM ") != NULL);
    CHECK_INT(lease.count, 1);
    limit_memory(&crawl, "0");
    CHECK_INT(complete(&leases, &lease, 0), 0);
    check_over(&leases);
    lease_finish(&lease);
    close_crawl(&crawl);
}

/* Delete the bytes of all results, but not the entries that refer to them. */
static void delete_bytes(struct crawl *crawl)
{
    const char *const words[] = {
        "EVAL",
        "for _, key in ipairs(redis.call('KEYS', '*:b:*')) do redis.call('DEL', key) end "
        "return 1",
        "0"};

    run_command(crawl, words, sizeof words / sizeof *words);
}

static int count_visit(void *visits, int64_t number, const void *bytes, size_t n)
{
    (void)number, (void)bytes, (void)n;
    ++*(int *)visits;
    return 0;
}

/* Redis may restart with older data, or another collector may delete results, between the
 * script and the command that reads the bytes. */
IO_TEST(lease_results_whose_bytes_are_missing_must_be_collected_again)
{
    struct lease_progress progress;
    struct crawl crawl;
    struct leases leases;
    struct lease lease;
    int visits = 0;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    add(&leases, "http://a/1");
    lease = acquire(&leases);
    CHECK_INT(complete(&leases, &lease, 0), 0);
    delete_bytes(&crawl);
    CHECK_INT(leases_collect(&leases, 0, 100, count_visit, &visits, &progress), -EBUSY);
    CHECK(redis_may_pass(-EBUSY));
    CHECK_INT(visits, 0);
    lease_finish(&lease);
    close_crawl(&crawl);
}

static int trace_result(void *arg, int64_t number, const void *bytes, size_t n)
{
    (void)arg, (void)number;
    test_trace("%.*s ", (int)n, (const char *)bytes);
    return 0;
}

IO_TEST(leases_collect_skips_results_that_redis_refused)
{
    const struct lease_result results[] = {
        {1, "one", 3}, {2, "two", 3}, {3, "", 0}, {4, "four", 4}, {5, "five", 4}};
    struct lease_progress progress;
    struct crawl crawl;
    struct leases leases;
    struct lease lease;
    struct redis_words links = {.count = 0};

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    link_many(&leases, &links, 0, 5);
    CHECK_INT(leases_add(&leases, &links), 0);
    redis_words_finish(&links);
    lease = acquire(&leases);
    CHECK_INT(complete(&leases, &lease, 1), 0);
    CHECK_INT(lease.items[1].number, 5);
    CHECK_INT(complete(&leases, &lease, 1), 0);
    CHECK_INT(lease_complete(&leases, &lease,
                             &(struct lease_done){.results = results, .count = 5}),
              2);
    check_over(&leases);
    CHECK_INT(leases_collect(&leases, 0, 100, trace_result, NULL, &progress), 4);
    CHECK_TRACE("result result one four ");
    CHECK_INT(progress.through, 4);
    lease_finish(&lease);
    close_crawl(&crawl);
}

struct completing {
    struct leases *leases;
    struct lease *lease;
};

static int complete_in_vain(void *arg)
{
    struct completing *completing = arg;

    return complete(completing->leases, completing->lease, 0);
}

IO_TEST(lease_complete_can_be_cancelled_and_repeated)
{
    struct crawl crawl;
    struct leases leases;
    struct lease lease;
    coil_task *task;

    open_crawl(&crawl);
    begin(&crawl, &leases, true);
    add(&leases, "http://a/1");
    lease = acquire(&leases);
    kill(crawl.process.pid, SIGSTOP);
    task = test_spawn(complete_in_vain, &(struct completing){&leases, &lease});
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0); /* wait until the request has been sent */
    coil_task_cancel(task, "test");
    CHECK_INT(test_join(task), -ECANCELED);
    kill(crawl.process.pid, SIGCONT);
    CHECK_INT(complete(&leases, &lease, 0), 1); /* Redis has stored the first results */
    check_over(&leases);
    lease_finish(&lease);
    close_crawl(&crawl);
}
