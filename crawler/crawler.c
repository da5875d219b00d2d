/*
 * crawler.c - a queue of URLs and the workers that empty and fill it.
 *
 *     start URL --> queue --> worker: fetch -- redirect --> its target, if unseen --.
 *                     ^         (x max_tasks) \- HTML ----> its links, if unseen ---|
 *                     '--------------------------------------------------------------'
 *
 * The crawl is over when every item that was ever put into the queue has been dealt with:
 * coil_queue_join(). Workers that find the queue empty just wait in it, and are sent home
 * by shutting it down.
 *
 * Invariants
 *   1. A URL enters the queue at most once, when it enters `seen`. Between looking and
 *      adding nothing suspends, so there is nothing to lock.
 *   2. A page is `done` when its worker is through with it; one that was being fetched
 *      when the crawl was interrupted is not.
 *   3. Redirects are items of their own, with one redirect less to go, so that two chains
 *      that meet go on as one, and a circle ends where it meets itself.
 *
 * Where to start reading: crawler_run(), work(), visit().
 *
 * After "A Web Crawler With asyncio Coroutines" by A. Jesse Jiryu Davis and Guido van
 * Rossum, in "500 Lines or Less".
 */
#include "crawler.h"

#include "answer.h"
#include "report.h"
#include "search.h"
#include "url.h"

#include <coil/group.h>
#include <coil/scope.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_PAUSE_NS COIL_MSEC(200)
#define PROGRESS_NS COIL_MSEC(100)

struct job {
    struct page *page;
    unsigned redirects_left;
};

/* ---- pages ------------------------------------------------------------------------- */

static int remember(struct crawler *crawler, struct page *page)
{
    if (crawler->page_count == crawler->page_capacity) {
        size_t capacity = crawler->page_capacity > 0 ? 2 * crawler->page_capacity : 256;
        struct page **longer = realloc(crawler->pages, capacity * sizeof *longer);
        if (longer == NULL)
            return -ENOMEM;
        crawler->pages = longer;
        crawler->page_capacity = capacity;
    }
    if (table_add(&crawler->seen, page->url, page) < 0)
        return -ENOMEM;
    crawler->pages[crawler->page_count++] = page;
    return 0;
}

/* The page of a URL that was never met before. */
static int add_page(struct crawler *crawler, const char *url, unsigned depth,
                    struct page **out)
{
    struct page *page = page_create(url, depth);
    int rc = page != NULL ? remember(crawler, page) : -ENOMEM;

    if (rc < 0) {
        page_destroy(page);
        return rc;
    }
    *out = page;
    return 0;
}

static void count(struct crawler *crawler, const struct page *page)
{
    struct crawler_totals *totals = &crawler->totals;

    totals->done++;
    totals->broken += page_broken(page);
    totals->redirects += page->next_url != NULL;
    totals->html += page_ok(page) && page->html;
    totals->files += page_ok(page) && !page->html;
}

static struct page *start_page(const struct crawler *crawler)
{
    return crawler->pages[0];
}

/*
 * A URL belongs to the site if it has the origin of the start URL, or of a page that the
 * start URL redirects to: http://example.org/ often leads to https://www.example.org/.
 */
static bool belongs(const struct crawler *crawler, const char *url)
{
    const struct page *page = start_page(crawler);

    for (unsigned i = 0; i <= crawler->options.max_redirects && page != NULL; i++) {
        if (!page->external && url_same_origin(page->url, url))
            return true;
        page = page->next;
    }
    return false;
}

/* The start URL may lead to a sibling host, but not take the crawl to a stranger's. */
static bool moves_site(const struct crawler *crawler, const struct page *page,
                       const char *url)
{
    const struct page *step = start_page(crawler);

    for (unsigned i = 0; i <= crawler->options.max_redirects && step != NULL; i++) {
        if (step == page)
            return url_sibling_hosts(start_page(crawler)->url, url);
        step = step->next;
    }
    return false;
}

static int put_job(struct crawler *crawler, struct page *page, unsigned redirects_left)
{
    struct job job = {page, redirects_left};

    return coil_queue_put_nowait(&crawler->queue, &job);
}

/*
 * Note that `from` points at `url`: make its page if it is new, and have it visited if it
 * belongs to the site. Returns 1 if it was new, 0 if not, or -ENOMEM.
 */
static int note_link(struct crawler *crawler, struct page *from, const char *url,
                     bool inside, unsigned redirects_left, struct page **out)
{
    struct page *page = table_get(&crawler->seen, url);
    bool is_new = page == NULL;
    int rc = 0;

    if (is_new) {
        rc = add_page(crawler, url, from->depth + 1, &page);
        if (rc < 0)
            return rc;
        page->external = !inside;
        crawler->totals.external += !inside;
        if (inside)
            rc = put_job(crawler, page, redirects_left);
    }
    if (rc == 0 && page->counted_for != from) {
        page->counted_for = from;
        rc = page_add_referrer(page, from);
    }
    *out = page;
    return rc < 0 ? rc : is_new;
}

/* ---- links ------------------------------------------------------------------------- */

static int note_invalid(struct crawler *crawler, struct page *from, const char *text,
                        struct page **out)
{
    int rc = note_link(crawler, from, text, false, 0, out);

    if (rc == 1) {
        crawler->totals.external--;
        (*out)->external = false;
        page_fail(*out, -EINVAL, "this is not a URL");
        count(crawler, *out);
    }
    return rc;
}

static int note_reference(struct crawler *crawler, struct page *page, const char *text,
                          bool is_url)
{
    struct page *target = table_get(&crawler->seen, text);
    int rc;

    if (target != NULL && target->counted_for == page)
        return 0; /* once more on the same page */
    if (is_url)
        rc = note_link(crawler, page, text, belongs(crawler, text),
                       crawler->options.max_redirects, &target);
    else
        rc = note_invalid(crawler, page, text, &target);
    if (rc < 0)
        return rc;
    page->link_count++;
    page->new_link_count += rc == 1;
    crawler->totals.links++;
    return 0;
}

static int find_links(struct crawler *crawler, struct page *page,
                      const struct answer *answer)
{
    struct search_result result;
    const char *at = NULL, *text;
    bool is_url;
    int rc = search_page(page->url, page->content_type, answer->body, answer->body_bytes,
                         &result);

    if (rc < 0 && rc != -ECANCELED)
        page_fail(page, rc, "searching it for links: %s",
                  rc == -ETIME ? "it takes too long" : strerror(-rc));
    while (rc == 0 && (text = search_next(&result, &at, &is_url)) != NULL)
        rc = note_reference(crawler, page, text, is_url);
    search_result_finish(&result);
    return page->rc < 0 ? 0 : rc;
}

/* ---- fetching ---------------------------------------------------------------------- */

static bool is_html(const char *content_type)
{
    static const char *const types[] = {"text/html", "application/xhtml+xml"};

    for (size_t i = 0; content_type != NULL && i < 2; i++) {
        size_t n = strlen(types[i]);
        if (strncasecmp(content_type, types[i], n) == 0 &&
            strchr("; \t", content_type[n]) != NULL)
            return true;
    }
    return false;
}

static bool want_body(int status, const char *content_type)
{
    return status >= 200 && status < 300 && is_html(content_type);
}

/* The network may do better next time; a server that answers has had its say. */
static bool worth_another_try(int rc)
{
    switch (rc) {
    case -ETIMEDOUT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENODATA:
    case -EMFILE:
    case -ENFILE:
    case -EAGAIN: /* of a name */
        return true;
    default:
        return false;
    }
}

static int fetch_once(struct crawler *crawler, const struct page *page,
                      struct answer *answer)
{
    coil_scope scope;
    int rc;

    *answer = (struct answer){.status = 0};
    rc = coil_scope_enter(&scope, coil_in(crawler->options.timeout_ns));
    if (rc < 0)
        return rc;
    rc = answer_get(answer, crawler->session, page->url, crawler->options.body_limit,
                    want_body);
    rc = coil_scope_exit(&scope, rc);
    if (rc == -ETIMEDOUT)
        snprintf(answer->error, sizeof answer->error, "no answer within %g s",
                 (double)crawler->options.timeout_ns / 1e9);
    return rc;
}

static int fetch_patiently(struct crawler *crawler, struct page *page,
                           struct answer *answer)
{
    int64_t pause_ns = FIRST_PAUSE_NS;

    for (;;) {
        int rc = fetch_once(crawler, page, answer);
        page->tries++;
        if (!worth_another_try(rc) || page->tries >= crawler->options.max_tries)
            return rc;
        answer_finish(answer);
        rc = coil_sleep(pause_ns);
        if (rc < 0)
            return rc;
        pause_ns *= 2;
    }
}

/* ---- visiting ---------------------------------------------------------------------- */

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static int follow_redirect(struct crawler *crawler, struct page *page,
                           const char *location, unsigned redirects_left)
{
    char *url = NULL;
    int rc;

    if (location == NULL) {
        page_fail(page, -EPROTO, "a redirect (%d) to nowhere", page->status);
        return 0;
    }
    rc = url_resolve(page->url, location, &url);
    if (rc == -ENOMEM)
        return rc;
    if (rc == -EINVAL) {
        page_fail(page, rc, "a redirect to what is not a URL: %s", location);
        return 0;
    }
    page->next_url = url != NULL ? url : strdup(location);
    if (url == NULL)
        return page->next_url != NULL ? 0 : -ENOMEM;
    if (redirects_left == 0) {
        page_fail(page, -ELOOP, "too many redirects in a row, the next to %s", url);
        return 0;
    }
    rc = note_link(crawler, page, url,
                   belongs(crawler, url) || moves_site(crawler, page, url),
                   redirects_left - 1, &page->next);
    return rc < 0 ? rc : 0;
}

/* What the answer was, by its headers. */
static void take_over(struct page *page, struct answer *answer)
{
    page->status = answer->status;
    page->size = answer->size;
    page->content_type = answer->content_type;
    answer->content_type = NULL;
}

static int digest(struct crawler *crawler, struct job *job, struct answer *answer, int rc)
{
    struct page *page = job->page;

    if (rc < 0 && rc != -ECANCELED)
        page_fail(page, rc, "%s", answer->error[0] ? answer->error : strerror(-rc));
    if (rc < 0)
        return rc == -ECANCELED ? rc : 0;
    if (is_redirect(page->status))
        return follow_redirect(crawler, page, answer->location, job->redirects_left);
    page->html = answer->body != NULL || want_body(page->status, page->content_type);
    if (answer->body != NULL)
        return find_links(crawler, page, answer);
    return 0;
}

/* Returns below 0 only for what must end the crawl: cancelled, or out of memory. */
static int visit(struct crawler *crawler, struct job *job)
{
    struct answer answer;
    int rc = fetch_patiently(crawler, job->page, &answer);

    take_over(job->page, &answer);
    crawler->totals.bytes += answer.received_bytes;
    rc = digest(crawler, job, &answer, rc);
    answer_finish(&answer);
    if (rc < 0)
        return rc;
    job->page->done = true;
    count(crawler, job->page);
    if (crawler->options.verbose)
        report_page(stderr, job->page);
    return 0;
}

static int work(void *arg)
{
    struct crawler *crawler = arg;
    struct job job;
    int rc;

    while ((rc = coil_queue_get(&crawler->queue, &job)) == 0) {
        rc = visit(crawler, &job);
        if (rc < 0)
            return rc;
        coil_queue_task_done(&crawler->queue);
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

/* ---- the crawl --------------------------------------------------------------------- */

static int show_progress(void *arg)
{
    struct crawler *crawler = arg;
    int rc;

    do {
        report_progress(stderr, crawler);
        rc = coil_sleep(PROGRESS_NS);
    } while (rc == 0);
    report_clear_progress(stderr);
    return rc;
}

/* As many workers as were asked for, or as there is memory for, but one at least. */
static int spawn_workers(struct crawler *crawler, coil_group *group)
{
    int rc = 0;

    for (unsigned i = 0; i < crawler->options.max_tasks && rc == 0; i++) {
        coil_spawn_opts opts = {.name = "worker"};
        rc = coil_group_spawn(group, work, crawler, &opts, NULL);
        if (rc == -ENOMEM && i > 0)
            return 0;
    }
    return rc;
}

/*
 * A circle of redirects, and whatever leads into it, leads nowhere; nobody notices on
 * the way, since each of its URLs is visited but once. (Floyd's tortoise and hare)
 */
static void fail_redirect_circles(struct crawler *crawler)
{
    for (size_t i = 0; i < crawler->page_count; i++) {
        struct page *page = crawler->pages[i], *slow = page, *fast = page;
        while (fast != NULL && fast->next != NULL && page->rc == 0) {
            slow = slow->next;
            fast = fast->next->next;
            if (slow != fast)
                continue;
            page_fail(page, -ELOOP, "redirects go in a circle from %s", page->next_url);
            crawler->totals.broken++;
        }
    }
}

static int crawl(struct crawler *crawler)
{
    coil_task *progress = NULL;
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = put_job(crawler, start_page(crawler), crawler->options.max_redirects);
    if (rc == 0)
        rc = spawn_workers(crawler, &group);
    if (rc == 0 && crawler->options.progress)
        rc = coil_group_spawn(&group, show_progress, crawler, NULL, &progress);
    if (rc == 0)
        rc = coil_queue_join(&crawler->queue);
    coil_queue_shutdown(&crawler->queue, true);
    if (progress != NULL)
        coil_task_cancel(progress, "the crawl is over");
    return coil_group_exit(&group, rc);
}

int crawler_run(void *arg)
{
    struct crawler *crawler = arg;
    coil_http_session_opts opts = {.user_agent = crawler->options.user_agent,
                                   .max_connections = crawler->options.max_tasks};
    int64_t begin = coil_now();
    int rc = coil_http_session_create(&opts, &crawler->session);

    if (rc < 0)
        return rc;
    rc = crawl(crawler);
    fail_redirect_circles(crawler);
    coil_http_session_destroy(crawler->session);
    crawler->totals.duration_ns = coil_now() - begin;
    return rc;
}

int crawler_init(struct crawler *crawler, const struct crawler_options *options)
{
    struct page *start;

    *crawler = (struct crawler){.options = *options};
    coil_queue_init(&crawler->queue, sizeof(struct job), 0);
    return add_page(crawler, options->start_url, 0, &start);
}

void crawler_finish(struct crawler *crawler)
{
    coil_queue_finish(&crawler->queue);
    table_finish(&crawler->seen);
    for (size_t i = 0; i < crawler->page_count; i++)
        page_destroy(crawler->pages[i]);
    free(crawler->pages);
    *crawler = (struct crawler){.page_count = 0};
}
