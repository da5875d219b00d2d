/*
 * test_throttle.c - crawler/frontier/throttle.h: crawls of simulated sites that limit the
 * rate of requests. Time is virtual. Ten workers send requests, as in a crawl, and each
 * response takes 20 ms.
 */
#include "../../../../crawler/frontier/frontier.h"
#include "../../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 300
#define WORKERS 10
#define HALF_TRIP_NS COIL_MSEC(10)

/* How a simulated site answers requests. */
struct site {
    /*
     * rate and capacity of the token bucket; with rate 0 the site refuses every request
     */
    double rate, burst;
    /* if not 0, the site allows `burst` requests per window, instead of using a bucket */
    int64_t window_ns;
    int status;             /* HTTP status of a refusal */
    int64_t retry_after_ns; /* 0: no Retry-After */
    double penalty;         /* number of tokens that a refused request takes */
    unsigned broken_every;  /* if not 0, always refuse every n-th page */
    /* if not 0, always refuse the pages n with n % 100 >= broken_from instead */
    unsigned broken_from;
    unsigned pages;     /* 0: PAGES */
    unsigned max_tries; /* the crawl's --max-tries; 0 means 3 */
};

static struct simulation {
    const struct site *site;
    struct frontier frontier;
    struct targets targets;
    int64_t begin_ns, filled_ns, window;
    double tokens;
    unsigned asked, refused, good, broken, false_verdicts;
    double seconds;
} simulated;

static bool is_broken_page(const struct target *page)
{
    unsigned every = simulated.site->broken_every;

    if (simulated.site->broken_from > 0)
        return (unsigned)atoi(strrchr(page->url, '/') + 1) % 100 >=
               simulated.site->broken_from;
    return every > 0 && (unsigned)atoi(strrchr(page->url, '/') + 1) % every == every - 1;
}

static bool has_token(void)
{
    const struct site *site = simulated.site;
    int64_t now = coil_now();

    if (site->window_ns > 0) {
        if (now / site->window_ns != simulated.window)
            simulated.tokens = site->burst;
        simulated.window = now / site->window_ns;
    } else {
        simulated.tokens += site->rate * (double)(now - simulated.filled_ns) / 1e9;
        if (simulated.tokens > site->burst)
            simulated.tokens = site->burst;
    }
    simulated.filled_ns = now;
    if (simulated.tokens < 1) {
        simulated.tokens -= site->penalty;
        return false;
    }
    simulated.tokens -= 1;
    return true;
}

/*
 * Send a request for the page, and wait for the response. Sets *is_answered to false if
 * the site refuses it. Returns the result of the wait.
 */
static int answer(const struct target *page, bool *is_answered)
{
    int rc = coil_sleep(HALF_TRIP_NS);

    *is_answered = has_token() && !is_broken_page(page);
    return rc == 0 ? coil_sleep(HALF_TRIP_NS) : rc;
}

static int put_back(const struct frontier_job *job, int64_t sent_ns, bool is_rested)
{
    struct target *page = job->target;
    const struct site *site = simulated.site;
    struct throttle_refusal refusal = {.sent_ns = sent_ns,
                                       .now_ns = coil_now(),
                                       .retry_after_ns = site->retry_after_ns,
                                       .is_too_many = site->status == 429,
                                       .is_rested = is_rested,
                                       .page_refusals = page->refusals,
                                       .max_tries =
                                           site->max_tries > 0 ? site->max_tries : 3};
    enum throttle_advice advice = frontier_refuse(job->host, page, &refusal);
    int64_t at_ns = refusal.now_ns + throttle_pause_ns(&refusal);
    int rc;

    if (advice == THROTTLE_FINAL ||
        (advice == THROTTLE_FAILURE && ++page->tries == refusal.max_tries))
        return 0;
    rc = advice == THROTTLE_TEST ? frontier_test(&simulated.frontier, job)
                                 : frontier_retry(&simulated.frontier, job, at_ns);
    return rc < 0 ? rc : 1;
}

static int ask(const struct frontier_job *job)
{
    int64_t sent_ns = coil_now();
    bool is_answered, is_rested = frontier_begin_request(job->host);
    int rc;

    rc = answer(job->target, &is_answered);
    if (rc < 0)
        return rc;
    simulated.asked++;
    simulated.refused += !is_answered;
    if (is_answered)
        frontier_accept(job->host, job->target, is_rested);
    else
        rc = put_back(job, sent_ns, is_rested);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    simulated.good += is_answered;
    simulated.broken += !is_answered && is_broken_page(job->target);
    simulated.false_verdicts += !is_answered && !is_broken_page(job->target);
    frontier_done(&simulated.frontier, job);
    return 0;
}

static int work(void *arg)
{
    struct frontier_job job;
    int rc;

    (void)arg;
    while ((rc = frontier_take(&simulated.frontier, FRONTIER_SITE, &job)) == 0)
        if ((rc = ask(&job)) < 0)
            break;
    return rc;
}

static void add_pages(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char url[64];
        bool is_new;
        struct target *target;

        snprintf(url, sizeof url, "http://a/%u", i);
        target = targets_get(&simulated.targets, url, 0, &is_new);
        target->host = frontier_host(&simulated.frontier, url, FRONTIER_SITE);
        frontier_add(&simulated.frontier, target);
    }
}

static void crawl(const struct site *site)
{
    struct frontier_options options = {.limits = {WORKERS, WORKERS},
                                       .per_host = {WORKERS, WORKERS}};
    coil_task *workers[WORKERS];

    memset(&simulated, 0, sizeof simulated);
    simulated.site = site;
    simulated.tokens = site->burst;
    simulated.window = -1;
    simulated.begin_ns = simulated.filled_ns = coil_now();
    frontier_init(&simulated.frontier, &options);
    add_pages(site->pages > 0 ? site->pages : PAGES);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = test_spawn(work, NULL);
    for (int i = 0; i < WORKERS; i++)
        CHECK_INT(test_join(workers[i]), -ESHUTDOWN);
    simulated.seconds = (double)(coil_now() - simulated.begin_ns) / 1e9;
    frontier_close(&simulated.frontier);
    frontier_finish(&simulated.frontier);
    targets_finish(&simulated.targets);
}

/*
 * Crawl the site. Check that no verdict is wrong, that the crawl takes less than
 * `seconds`, and that the site refuses fewer requests than it answers.
 */
static void check_site(const struct site *site, double seconds)
{
    crawl(site);
    CHECK_INT(simulated.false_verdicts, 0);
    CHECK_INT(simulated.good, site->pages > 0 ? site->pages : PAGES);
    CHECK(simulated.seconds < seconds);
    CHECK(2 * simulated.refused < simulated.asked);
}

TASK_TEST(throttle_of_sites_with_a_bucket)
{
    static const double rates[] = {1, 5, 20, 100};
    static const int statuses[] = {429, 503};
    static const int64_t retry_afters[] = {0, 1, 5};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof statuses / sizeof *statuses; j++)
            for (size_t k = 0; k < sizeof retry_afters / sizeof *retry_afters; k++) {
                struct site site = {.rate = rates[i],
                                    .burst = 5,
                                    .status = statuses[j],
                                    .retry_after_ns = COIL_SEC(retry_afters[k])};
                check_site(&site,
                           2.5 * PAGES / rates[i] + 30 * (double)retry_afters[k] + 10);
            }
}

TASK_TEST(throttle_of_sites_with_other_limits)
{
    static const struct {
        struct site site;
        double seconds;
    } rows[] = {
        {{.rate = 0.5, .burst = 5, .status = 429}, 700},
        {{.rate = 5, .burst = 1, .status = 429}, 120},
        {{.rate = 20, .burst = 1, .status = 503}, 30},
        {{.rate = 5, .burst = 50, .status = 429}, 75},
        {{.rate = 20, .burst = 100, .status = 503}, 20},
        /* sites where a refused request also takes a token */
        {{.rate = 5, .burst = 5, .status = 429, .penalty = 1}, 120},
        {{.rate = 20, .burst = 5, .status = 503, .penalty = 1}, 40},
        {{.burst = 5, .window_ns = COIL_SEC(1), .status = 429}, 100},
        {{.burst = 20, .window_ns = COIL_SEC(1), .status = 503}, 40},
        {{.burst = 50, .window_ns = COIL_SEC(10), .status = 429}, 180},
        /* a site whose Retry-After is too short */
        {{.burst = 50,
          .window_ns = COIL_SEC(10),
          .status = 429,
          .retry_after_ns = COIL_SEC(1)},
         120},
        {{.burst = 60,
          .window_ns = COIL_SEC(60),
          .status = 429,
          .retry_after_ns = COIL_SEC(60)},
         300},
        {{.rate = 20, .burst = 5, .status = 503, .max_tries = 1}, 30},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_site(&rows[i].site, rows[i].seconds);
}

/*
 * Pages that are always refused must finally be reported as broken, and must not delay
 * other pages forever.
 */
TASK_TEST(throttle_of_pages_that_are_always_refused)
{
    static const struct {
        struct site site;
        double seconds;
    } rows[] = {
        {{.status = 503, .broken_every = 100}, 20},
        {{.status = 503, .broken_every = 20, .pages = 3000}, 25},
        {{.status = 503, .broken_every = 5, .pages = 3000}, 60},
        {{.status = 503, .broken_every = 2}, 40},
        {{.status = 503, .broken_from = 50, .pages = 1000}, 150},
        {{.status = 429, .broken_every = 100}, 50},
        {{.status = 429, .broken_every = 5}, 150},
        {{.status = 503, .broken_every = 3, .pages = 3}, 8},
        {{.status = 429, .broken_every = 3, .pages = 3}, 30},
        {{.rate = 5, .burst = 5, .status = 503, .broken_every = 100}, 120},
        {{.rate = 20, .burst = 5, .status = 429, .broken_every = 20}, 120},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct site site = rows[i].site;

        if (site.rate == 0)
            site.rate = site.burst = 1e6;
        crawl(&site);
        CHECK_INT(simulated.false_verdicts, 0);
        CHECK_INT(simulated.good + simulated.broken, site.pages > 0 ? site.pages : PAGES);
        CHECK(simulated.seconds < rows[i].seconds);
    }
}

/*
 * The manual promises that a crawl of such a host ends after 30 s, or after --max-tries
 * times Retry-After.
 */
TASK_TEST(throttle_of_hosts_that_never_stop_refusing)
{
    static const struct {
        struct site site;
        double seconds;
    } rows[] = {
        {{.status = 503, .pages = 1}, 7},
        {{.status = 503}, 30},
        {{.status = 429}, 30},
        {{.status = 429, .max_tries = 1}, 30},
        {{.status = 429, .burst = 50}, 40},
        {{.status = 429, .retry_after_ns = COIL_SEC(1)}, 30},
        {{.status = 429, .burst = 50, .retry_after_ns = COIL_SEC(1)}, 40},
        {{.status = 429, .retry_after_ns = COIL_SEC(60)}, 190},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        crawl(&rows[i].site);
        CHECK_INT(simulated.good + simulated.false_verdicts,
                  rows[i].site.pages > 0 ? rows[i].site.pages : PAGES);
        CHECK(simulated.seconds < rows[i].seconds);
        CHECK(simulated.asked < 2 * PAGES);
    }
}

TEST(throttle_pauses_of_a_page_double)
{
    static const int64_t expected_ms[] = {200, 400, 800, 1600, 3200, 6400, 6400, 6400};
    struct throttle_refusal refusal = {.page_refusals = 0};

    for (; refusal.page_refusals < 8; refusal.page_refusals++)
        CHECK_INT(throttle_pause_ns(&refusal),
                  COIL_MSEC(expected_ms[refusal.page_refusals]));
    refusal.retry_after_ns = COIL_SEC(7);
    CHECK_INT(throttle_pause_ns(&refusal), COIL_SEC(7));
}

TEST(throttle_takes_no_single_503_for_a_limit)
{
    struct throttle throttle = {.rate = 0};
    struct throttle_refusal refusal = {.sent_ns = 1, .now_ns = 2, .max_tries = 3};

    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_AGAIN);
    CHECK_INT(throttle_due(&throttle, 3), 3);
    for (int i = 0; i < 8; i++)
        throttle_accept(&throttle, 3);
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_TEST);
    CHECK(throttle_due(&throttle, 3) > 3);
    throttle = (struct throttle){.rate = 0};
    refusal.is_too_many = true;
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_TEST);
    CHECK(throttle_due(&throttle, 3) > 3);
}

/*
 * After a refusal, the throttle pauses, and then requests a single page. If the host
 * refuses this page too, the throttle tests another page. After three such pages, the
 * throttle assumes that the host does not limit the rate, but always refuses these pages.
 */
TEST(throttle_tests_a_page_that_is_refused)
{
    struct throttle throttle = {.rate = 0};
    struct throttle_refusal refusal = {.sent_ns = COIL_SEC(1),
                                       .now_ns = COIL_SEC(1),
                                       .is_too_many = true,
                                       .max_tries = 3};

    throttle_accept(&throttle, 1);
    for (int i = 0; i < 3; i++) {
        refusal.page_refusals = 0;
        refusal.is_rested = false;
        CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_TEST);
        CHECK(throttle_rest_ns(&throttle) >= COIL_SEC(1));
        refusal.page_refusals = 1;
        refusal.is_rested = true;
        CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_AGAIN);
        CHECK(throttle_due(&throttle, COIL_SEC(1)) > COIL_SEC(1));
        throttle_prove(&throttle);
        throttle_accept(&throttle, COIL_SEC(1));
    }
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_FAILURE);
    CHECK_INT(throttle_due(&throttle, COIL_SEC(1)), COIL_SEC(1));
    refusal.is_rested = false;
    for (int i = 0; i < 12; i++) /* many refusals must still cause a delay */
        throttle_refuse(&throttle, &refusal);
    CHECK(throttle_due(&throttle, COIL_SEC(1)) > COIL_SEC(1));
}

/*
 * After a pause, the host serves the page that it refused before, so it limits the rate.
 * A single refusal after that is retried without such a test.
 */
TEST(throttle_does_not_test_a_host_that_passed_a_test)
{
    struct throttle throttle = {.rate = 0};
    struct throttle_refusal refusal = {
        .sent_ns = 1, .now_ns = 2, .is_too_many = true, .max_tries = 3};

    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_TEST);
    throttle_disprove(&throttle);
    throttle_accept(&throttle, 3);
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_AGAIN);
    refusal.page_refusals = 1;
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_TEST);
    refusal.page_refusals = THROTTLE_PAGE_REFUSALS;
    throttle_accept(&throttle, 3);
    CHECK_INT(throttle_refuse(&throttle, &refusal), THROTTLE_FINAL);
}

/*
 * The rate is not reduced again if the refused requests were sent before the last
 * reduction.
 */
TEST(throttle_is_reduced_once_for_requests_in_flight)
{
    struct throttle throttle = {.rate = 0};
    struct throttle_refusal refusal = {.max_tries = 3, .is_too_many = true};
    double first;

    for (int64_t i = 0; i < 10; i++) {
        refusal.now_ns = COIL_MSEC(10) + i;
        throttle_refuse(&throttle, &refusal);
    }
    first = throttle.rate;
    refusal.sent_ns = COIL_MSEC(20);
    refusal.now_ns = COIL_MSEC(30);
    throttle_refuse(&throttle, &refusal);
    CHECK(throttle.rate == first / 2);
}
