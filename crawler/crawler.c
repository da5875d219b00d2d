/*
 * crawler.c - a queue of URLs and the workers that empty and fill it.
 *
 *    start URLs --> queue --> worker: fetch -- redirect --> its target, if unseen --.
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
 *      that meet go on as one, and a circle ends where it meets itself. A page counts the
 *      redirects left on the best way known to it: a better way that is found later is
 *      handed on along the chain, and goes on where the chain had been given up.
 *
 * Where to start reading: crawler_run(), work(), visit().
 *
 * After "A Web Crawler With asyncio Coroutines" by A. Jesse Jiryu Davis and Guido van
 * Rossum, in "500 Lines or Less".
 */
#include "crawler.h"

#include "attempt.h"
#include "report.h"
#include "search.h"
#include "url.h"

#include <coil/group.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PROGRESS_NS COIL_MSEC(100)

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

/* ---- what is visited --------------------------------------------------------------- */

static int enqueue(struct crawler *crawler, struct page *page)
{
    return coil_queue_put_nowait(&crawler->queue, &page);
}

/* 1 if the user does not want it fetched, 0 or -ENOMEM. */
static int is_excluded(const struct crawler *crawler, const char *url)
{
    for (size_t i = 0; i < crawler->options.exclusion_count; i++) {
        int code = regexec(&crawler->options.exclusions[i], url, 0, NULL, 0);
        if (code != REG_NOMATCH)
            return code == 0 ? 1 : -ENOMEM;
    }
    return 0;
}

/* A new page is visited, unless it is of another site or the user does not want it. */
static int place(struct crawler *crawler, struct page *page)
{
    int inside = site_has(&crawler->site, page->url);
    int excluded = inside > 0 ? is_excluded(crawler, page->url) : 0;

    if (inside < 0 || excluded < 0)
        return -ENOMEM;
    page->external = inside == 0;
    page->excluded = excluded > 0;
    crawler->totals.external += page->external;
    crawler->totals.excluded += page->excluded;
    return inside && !excluded ? enqueue(crawler, page) : 0;
}

/* Was it met before the site that it belongs to was known? */
static int place_again(struct crawler *crawler, struct page *page)
{
    crawler->totals.external--;
    return place(crawler, page);
}

/*
 * Note that `from` points at `url`: make its page if it is new, and have it visited if it
 * belongs to the site. Returns 1 if it was new, 0 if not, or -ENOMEM.
 */
static int note_target(struct crawler *crawler, struct page *from, const char *url,
                       struct page **out)
{
    struct page *page = table_get(&crawler->seen, url);
    bool is_new = page == NULL;
    int rc = 0;

    if (is_new) {
        rc = add_page(crawler, url, from->depth + 1, &page);
        if (rc == 0)
            rc = place(crawler, page);
    } else if (page->external) {
        rc = place_again(crawler, page);
    }
    if (rc == 0 && page->counted_for != from) {
        page->counted_for = from;
        rc = page_add_referrer(page, from);
    }
    *out = page;
    return rc < 0 ? rc : is_new;
}

/* ---- redirects --------------------------------------------------------------------- */

/*
 * A start URL decides what the site is, and so does what it redirects to, but not to a
 * stranger's: http://example.org/ often leads to https://www.example.org:8443/.
 */
static int move_site(struct crawler *crawler, const struct page *page)
{
    if (page->origin == NULL || !url_sibling_hosts(page->origin->url, page->next_url))
        return 0;
    return site_add(&crawler->site, page->next_url);
}

/* The target of a redirect is a page that it points at. */
static int note_next(struct crawler *crawler, struct page *page)
{
    struct page *next;
    int rc = move_site(crawler, page);

    if (rc < 0)
        return rc;
    rc = note_target(crawler, page, page->next_url, &next);
    if (rc < 0)
        return rc;
    if (next->origin == NULL)
        next->origin = page->origin;
    page->next = next;
    return 0;
}

/* It is met on a way with so many redirects to go; that is good for what follows, too. */
static int allow_redirects(struct crawler *crawler, struct page *page, unsigned count)
{
    int rc = 0;

    while (rc == 0 && page != NULL && page->redirects_left < count) {
        page->redirects_left = count--;
        if (page->limited) {
            page_forgive(page);
            crawler->totals.broken--;
            rc = note_next(crawler, page);
        }
        page = page->next;
    }
    return rc;
}

static int follow(struct crawler *crawler, struct page *page)
{
    int rc;

    if (page->redirects_left == 0) {
        page_fail(page, -ELOOP, "too many redirects in a row, the next to %s",
                  page->next_url);
        page->limited = true;
        return 0;
    }
    rc = note_next(crawler, page);
    if (rc < 0)
        return rc;
    return allow_redirects(crawler, page->next, page->redirects_left - 1);
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static int follow_redirect(struct crawler *crawler, struct page *page,
                           const char *location)
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
    return follow(crawler, page);
}

/* ---- links ------------------------------------------------------------------------- */

static int note_link(struct crawler *crawler, struct page *from, const char *url)
{
    struct page *page;
    int is_new = note_target(crawler, from, url, &page);
    int rc;

    if (is_new < 0)
        return is_new;
    rc = allow_redirects(crawler, page, crawler->options.max_redirects);
    return rc < 0 ? rc : is_new;
}

/* What is no URL is a page all the same, that cannot be fetched. */
static int note_invalid(struct crawler *crawler, struct page *from, const char *text)
{
    struct page *page = table_get(&crawler->seen, text);
    bool is_new = page == NULL;
    int rc = is_new ? add_page(crawler, text, from->depth + 1, &page) : 0;

    if (rc < 0)
        return rc;
    if (is_new) {
        page_fail(page, -EINVAL, "this is not a URL");
        count(crawler, page);
    }
    page->counted_for = from;
    rc = page_add_referrer(page, from);
    return rc < 0 ? rc : is_new;
}

static int note_reference(struct crawler *crawler, struct page *page, const char *text,
                          bool is_url)
{
    const struct page *target = table_get(&crawler->seen, text);
    int rc;

    if (target != NULL && target->counted_for == page)
        return 0; /* once more on the same page */
    if (is_url)
        rc = note_link(crawler, page, text);
    else
        rc = note_invalid(crawler, page, text);
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
    static const char *const types[] = {"text/html", "application/xhtml+xml",
                                        "application/xml"};

    for (size_t i = 0; content_type != NULL && i < 3; i++) {
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

/* ---- visiting ---------------------------------------------------------------------- */

/* What the answer was, by its headers. */
static void take_over(struct page *page, struct answer *answer)
{
    page->status = answer->status;
    page->size = answer->size;
    page->content_type = answer->content_type;
    answer->content_type = NULL;
}

static int digest(struct crawler *crawler, struct page *page, struct answer *answer,
                  int rc)
{
    if (rc < 0 && rc != -ECANCELED)
        page_fail(page, rc, "%s", answer->error[0] ? answer->error : strerror(-rc));
    if (rc < 0)
        return rc == -ECANCELED ? rc : 0;
    if (is_redirect(page->status))
        return follow_redirect(crawler, page, answer->location);
    page->html = answer->body != NULL || want_body(page->status, page->content_type);
    if (answer->body != NULL)
        return find_links(crawler, page, answer);
    return 0;
}

/* Returns below 0 only for what must end the crawl: cancelled, or out of memory. */
static int visit(struct crawler *crawler, struct page *page)
{
    struct attempt_options options = {.max_tries = crawler->options.max_tries,
                                      .timeout_ns = crawler->options.timeout_ns,
                                      .body_limit = crawler->options.body_limit,
                                      .wanted = want_body};
    struct answer answer;
    int rc = attempt_get(&options, crawler->session, page->url, &answer, &page->tries);

    take_over(page, &answer);
    crawler->totals.bytes += answer.received_bytes;
    rc = digest(crawler, page, &answer, rc);
    answer_finish(&answer);
    if (rc < 0)
        return rc;
    page->done = true;
    count(crawler, page);
    if (crawler->options.verbose)
        report_page(stderr, page);
    return 0;
}

static int work(void *arg)
{
    struct crawler *crawler = arg;
    struct page *page;
    int rc;

    while ((rc = coil_queue_get(&crawler->queue, &page)) == 0) {
        rc = visit(crawler, page);
        if (rc < 0)
            break;
        coil_queue_task_done(&crawler->queue);
    }
    return rc == -ESHUTDOWN ? 0 : rc; /* there may be links that find it shut */
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

static void tell_of_interrupt(struct crawler *crawler)
{
    fail_redirect_circles(crawler);
    if (crawler->options.on_interrupt != NULL)
        crawler->options.on_interrupt(crawler, crawler->options.arg);
}

static int enqueue_start(struct crawler *crawler)
{
    int rc = 0;

    for (size_t i = 0; i < crawler->start_count && rc == 0; i++)
        rc = enqueue(crawler, crawler->pages[i]);
    return rc;
}

static int crawl(struct crawler *crawler)
{
    coil_task *progress = NULL;
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = enqueue_start(crawler);
    if (rc == 0)
        rc = spawn_workers(crawler, &group);
    if (rc == 0 && crawler->options.progress)
        rc = coil_group_spawn(&group, show_progress, crawler, NULL, &progress);
    if (rc == 0)
        rc = coil_queue_join(&crawler->queue);
    coil_queue_shutdown(&crawler->queue, true);
    if (progress != NULL)
        coil_task_cancel(progress, "the crawl is over");
    if (rc == -ECANCELED)
        tell_of_interrupt(crawler);
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

/* The user has named it, so it is visited even if an exclusion matches it. */
static int add_start(struct crawler *crawler, const char *url)
{
    struct page *page;
    int rc;

    if (table_get(&crawler->seen, url) != NULL)
        return 0;
    rc = add_page(crawler, url, 0, &page);
    if (rc < 0)
        return rc;
    page->origin = page;
    page->redirects_left = crawler->options.max_redirects;
    crawler->start_count++;
    return site_add(&crawler->site, url);
}

int crawler_init(struct crawler *crawler, const struct crawler_options *options)
{
    int rc = 0;

    *crawler = (struct crawler){.options = *options, .site.lenient = options->lenient};
    coil_queue_init(&crawler->queue, sizeof(struct page *), 0);
    for (size_t i = 0; i < options->start_count && rc == 0; i++)
        rc = add_start(crawler, options->start_urls[i]);
    return rc;
}

void crawler_finish(struct crawler *crawler)
{
    coil_queue_finish(&crawler->queue);
    site_finish(&crawler->site);
    table_finish(&crawler->seen);
    for (size_t i = 0; i < crawler->page_count; i++)
        page_destroy(crawler->pages[i]);
    free(crawler->pages);
    *crawler = (struct crawler){.page_count = 0};
}
