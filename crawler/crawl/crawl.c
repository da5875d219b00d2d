/*
 * crawl.c - workers that empty the frontier and fill it.
 *
 *    starts --> frontier --> worker: ask -- redirect --> its target, if unseen --.
 *                  ^                    \-- HTML ------> its links, if unseen ---|
 *                  '-------------------------------------------------------------'
 *
 * The crawl is over when the frontier has nothing left and no worker is at work.
 *
 * Invariants
 *   1. A target enters the frontier at most once, but for retries and what is asked again (ids,
 *      circles of redirects): targets_get() and what enqueue.c does with a new one happen without
 *      suspending, so there is nothing to lock.
 *   2. What a worker asked for is fetched, is put back, or was interrupted.
 *   3. A page that has been judged has had all its links told before.
 *
 * enqueue.c says what is asked for, verdicts.c what comes of it. Where to start reading:
 * crawler_run(), work(), visit().
 *
 * After "A Web Crawler With asyncio Coroutines" by A. Jesse Jiryu Davis and Guido van
 * Rossum, in "500 Lines or Less".
 */
#include "crawl.h"

#include "../fetch/answer.h"
#include "file_visit.h"
#include "../judge/judge.h"
#include "member.h"
#include "../judge/outcome.h"
#include "page_search.h"
#include "enqueue.h"
#include "../saved/recheck.h"
#include "redirect.h"
#include "replay.h"
#include "../fetch/request.h"
#include "../fetch/retry.h"
#include "../fetch/robots_txt.h"
#include "../judge/verdicts.h"

#include <coil/group.h>
#include <coil/scope.h>
#include <coil/task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* After so many failures in a row, for each try that a page has, the pages of a host are
   tried once. */
#define FAILURES_ENOUGH 10

struct worker {
    struct crawler *crawler;
    enum frontier_class class;
    struct page_search pages;
    const struct target *page; /* that is asked for */
    const struct store_page
        *kept; /* the page is what an earlier crawl was answered; or NULL */
    const struct saved_urls *book; /* of that one */
    /* of the target that is asked for; another page may want it meanwhile */
    bool wants_body;
    int64_t asked_ns,
        duration_ns;  /* when it was asked for last, and how long that took */
    bool reopens;     /* its redirect closes a loop that is fetched once more */
    bool is_rested;   /* its host was not asked for a while before that */
    int problem;      /* of the page that was judged last: page_search_end() */
    const char *flaw; /* the same in words, where it was searched but not to its end */
};

/* ---- records ----------------------------------------------------------------------- */

/* The charset in a content type; "" if there is none. */
static void copy_charset(const char *content_type, char *charset, size_t room)
{
    const char *at = content_type != NULL ? strcasestr(content_type, "charset=") : NULL;
    size_t n;

    charset[0] = '\0';
    if (at == NULL)
        return;
    at += strlen("charset=");
    at += *at == '"';
    n = strcspn(at, "\"; \t");
    snprintf(charset, room, "%.*s", (int)(n < room ? n : room - 1), at);
}

static int tell_page(struct crawler *crawler, const struct target *page,
                     const struct answer *answer, size_t links)
{
    char charset[64];
    struct record_page record = {.url = page->url,
                                 .content_type = answer->content_type,
                                 .status = answer->status,
                                 .size = answer->size,
                                 .depth = page->depth,
                                 .tries = page->tries,
                                 .links = links,
                                 .searched = target_is_searched(page)};

    copy_charset(answer->content_type, charset, sizeof charset);
    record.encoding = charset[0] != '\0' ? charset : NULL;
    crawler->verdicts.summary.pages += target_is_searched(page);
    return records_page(&crawler->verdicts.sinks, &record);
}

static int tell_answer(const struct worker *worker, const struct target *page,
                       const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    struct record_answer record = {.url = page->url,
                                   .status = answer->status,
                                   .at_ns = worker->asked_ns - crawler->result.begin_ns,
                                   .duration_ns = worker->duration_ns,
                                   .bytes = answer->received_bytes,
                                   .tries = page->tries};

    return records_answer(&crawler->verdicts.sinks, &record);
}

/* ---- answers ----------------------------------------------------------------------- */

static bool is_of_type(const char *content_type, const char *type)
{
    size_t n = strlen(type);

    return content_type != NULL && strncasecmp(content_type, type, n) == 0 &&
           strchr("; \t", content_type[n]) != NULL;
}

static bool is_html(const char *content_type)
{
    return is_of_type(content_type, "text/html") ||
           is_of_type(content_type, "application/xhtml+xml") ||
           is_of_type(content_type, "application/xml");
}

static bool is_xml(const char *content_type)
{
    return is_of_type(content_type, "application/xml") ||
           is_of_type(content_type, "text/xml");
}

/* A start of these types is read as if somebody had named it as a sitemap. */
static bool is_named_as_sitemap(const struct target *page, const char *content_type)
{
    return page->is_sitemap ||
           (page->is_start &&
            (is_xml(content_type) || is_of_type(content_type, "application/rss+xml") ||
             is_of_type(content_type, "application/atom+xml")));
}

/* Text that was named is searched for URLs, or as Markdown. */
static bool is_text_of_start(const struct target *page, const char *content_type)
{
    return page->is_start && (is_of_type(content_type, "text/plain") ||
                              is_of_type(content_type, "text/markdown"));
}

/* Of other sites only ids are wanted, which neither style sheets nor sitemaps have. */
static bool is_searched(const struct worker *worker, const char *content_type,
                        bool is_named)
{
    const struct options *options = worker->crawler->options;

    if (is_html(content_type))
        return true;
    if (worker->page->kind != TARGET_SITE)
        return false;
    return is_named || is_text_of_start(worker->page, content_type) ||
           (!options->no_css && is_of_type(content_type, "text/css")) ||
           (!options->no_sitemaps && is_xml(content_type));
}

static void expect_sitemap(struct worker *worker, const char *content_type, bool is_named)
{
    struct search *search = worker->pages.search;

    if (is_named || !worker->crawler->options->no_sitemaps)
        search_expect_sitemap(search, is_named,
                              is_html(content_type) ||
                                  (content_type == NULL && !is_named));
    else
        search_expect_feed(search);
}

static bool wants_body(const struct answer *answer, void *arg)
{
    struct worker *worker = arg;
    const char *content_type = answer->content_type;
    bool is_named = is_named_as_sitemap(worker->page, content_type);

    if (answer->status < 200 || answer->status >= 300 ||
        (!answer->may_be_sniffed && !is_searched(worker, content_type, is_named)))
        return false;
    search_begin(worker->pages.search, content_type);
    if (worker->page->kind == TARGET_SITE &&
        (is_named || is_xml(content_type) || content_type == NULL))
        expect_sitemap(worker, content_type, is_named);
    if (content_type == NULL)
        search_expect_unknown(worker->pages.search, worker->page->is_start);
    if (text_checks_want(&worker->crawler->texts, worker->page))
        search_want_text(worker->pages.search);
    return true;
}

static int take_body(const char *bytes, size_t n, void *arg)
{
    struct search *search = ((struct worker *)arg)->pages.search;
    int rc = search_feed(search, bytes, n);

    return rc == 0 && search_is_ignored(search) ? 1 : rc;
}

/* "none" is noindex and nofollow. */
static bool is_nofollow(const char *rule, size_t n)
{
    return (n == strlen("nofollow") && strncasecmp(rule, "nofollow", n) == 0) ||
           (n == strlen("none") && strncasecmp(rule, "none", n) == 0);
}

static bool begins_with(const char *s, size_t n, const char *word)
{
    return n >= strlen(word) && strncasecmp(s, word, strlen(word)) == 0;
}

/* "googlebot:", and not a rule that has a value, "max-snippet:9". */
static bool names_a_crawler(const char *s, size_t n)
{
    return memchr(s, ':', n) != NULL && !begins_with(s, n, "max-") &&
           !begins_with(s, n, "unavailable_after:");
}

/* "noindex, nofollow"; it may be for one crawler, "coil-crawl: nofollow". */
static bool says_nofollow(const char *robots_tag)
{
    static const char separators[] = ", \t";
    const char *at = robots_tag + strspn(robots_tag, separators);

    if (begins_with(at, strlen(at), "coil-crawl:"))
        at += strlen("coil-crawl:");
    else if (names_a_crawler(at, strcspn(at, separators)))
        return false;
    for (at += strspn(at, separators); *at != '\0'; at += strspn(at, separators)) {
        size_t n = strcspn(at, separators);
        if (is_nofollow(at, n))
            return true;
        at += n;
    }
    return false;
}

/* There may be several: one for each crawler. */
static bool has_nofollow(const struct options *options, const struct answer *answer)
{
    const char *tag;

    if (!options->obey_x_robots_tag || answer->response == NULL)
        return false;
    for (size_t i = 0;
         (tag = coil_http_header_at(answer->response, "X-Robots-Tag", i)) != NULL; i++)
        if (says_nofollow(tag))
            return true;
    return false;
}

/* Of the site, and of what was well: the page of an error is not searched either. */
static bool has_header_links(const struct options *options, const struct target *page,
                             const struct answer *answer)
{
    return !options->no_header_links && page->kind == TARGET_SITE && answer->rc == 0 &&
           answer->status >= 200 && answer->status < 300;
}

static const char *flaw_of(const struct worker *worker, const struct answer *answer)
{
    if (worker->kept != NULL)
        return answer->rc == 0 ? worker->kept->error : NULL;
    return answer->has_body ? search_problem(worker->pages.search) : NULL;
}

/* Of what an earlier run has asked for, the cache knows. */
static bool keeps_cache(const struct worker *worker, const struct target *page)
{
    return worker->crawler->enqueuer.cache != NULL && page->kind == TARGET_EXTERNAL &&
           !worker->pages.is_replay;
}

static int judge(struct worker *worker, struct target *page, struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    bool on_site = page->kind == TARGET_SITE;
    struct page_source source;
    struct judgement judgement;
    size_t links = 0;
    int problem = 0;
    char message[ANSWER_ERROR_BYTES] = "";
    int rc = 0;

    source = (struct page_source){
        page->url, answer->has_body, answer->is_too_long,
        has_header_links(crawler->options, page, answer) ? answer->response : NULL};
    worker->pages.nofollow = has_nofollow(crawler->options, answer);
    if (worker->kept != NULL)
        rc = page_search_replay(&worker->pages, page, worker->kept, worker->book, &links,
                                &problem);
    else if (page_search_is_due(&source))
        rc = page_search_end(&worker->pages, page, &source, &links, &problem);
    if (rc == 0 && on_site && page->refetch != REFETCH_IDS)
        rc = tell_page(crawler, page, answer, links);
    if (rc < 0)
        return rc;
    worker->problem = problem;
    worker->flaw = flaw_of(worker, answer);
    judgement = judge_answer(crawler->options, page->url, on_site, answer);
    crawler->result.fetched_count +=
        on_site && judgement.verdict == VERDICT_OK && page->refetch != REFETCH_IDS;
    if (answer->rc < 0)
        snprintf(message, sizeof message, "%s", answer->error);
    else if (judgement.verdict == VERDICT_OK)
        judgement = outcome_judge(
            page,
            &(struct outcome){
                .content_type = answer->content_type,
                .problem = problem,
                .flaw = worker->flaw,
                .limit =
                    answer->is_too_long ? request_body_limit(crawler->options, page) : 0,
                .is_named_as_sitemap = is_named_as_sitemap(page, answer->content_type)},
            message, sizeof message);
    if (keeps_cache(worker, page) && judgement.verdict == VERDICT_OK)
        rc = cache_add(crawler->enqueuer.cache, page->url, time(NULL));
    if (rc < 0)
        return rc;
    if (page->refetch == REFETCH_IDS) {
        page->refetch = REFETCH_NONE;
        return verdicts_recheck(&crawler->verdicts, page);
    }
    if (!on_site && page->wants_body && !worker->wants_body &&
        judgement.verdict == VERDICT_OK) {
        page->refetch = REFETCH_IDS; /* a link has asked for its ids meanwhile */
        frontier_add_again(&crawler->frontier, page);
    }
    if (judgement.verdict == VERDICT_OK)
        text_checks_ask_again(&crawler->texts, page);
    return verdicts_settle(&crawler->verdicts, page, judgement, message);
}

/* It is through. In a shared crawl all know of each other's starts: member_open(). */
static int end_start(struct crawler *crawler, const struct target *page)
{
    if (!page->is_start || crawler->member != NULL)
        return 0;
    return --crawler->enqueuer.undecided.starts_open == 0
               ? enqueue_held(&crawler->enqueuer)
               : 0;
}

static int digest(struct worker *worker, struct target *page, struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    bool was_asked_before = page->refetch == REFETCH_IDS;
    int rc;

    target_set_state(page, TARGET_DONE);
    page->status = (int16_t)answer->status;
    page->sets_cookie = answer->sets_cookie;
    worker->reopens = worker->kept != NULL && (worker->kept->flags & STORE_REOPENS) != 0;
    if (keeps_cache(worker, page))
        cache_drop(crawler->enqueuer.cache, page->url); /* until it is judged */
    if (answer->rc == 0 && answer_is_redirect(answer->status) &&
        page->refetch != REFETCH_IDS) {
        rc = page->kind == TARGET_SITE ? tell_page(crawler, page, answer, 0) : 0;
        if (rc == 0)
            rc = redirect_follow(&crawler->enqueuer, page, answer->location,
                                 &worker->reopens);
        if (rc == 0)
            rc = text_checks_redirect(&crawler->texts, page);
    } else {
        rc = judge(worker, page, answer);
    }
    return rc == 0 && !was_asked_before ? end_start(crawler, page) : rc;
}

/* Those that were not refused. */
static unsigned tries_of(const struct target *page)
{
    return page->tries > page->refusals ? page->tries - page->refusals : 1;
}

static bool is_accepted(const struct crawler *crawler, const struct target *page,
                        const struct answer *answer)
{
    return answer->rc == 0 &&
           judge_answer(crawler->options, page->url, page->kind == TARGET_SITE, answer)
                   .verdict == VERDICT_OK;
}

static int retry_at(struct crawler *crawler, const struct frontier_job *job,
                    int64_t at_ns)
{
    int rc = frontier_retry(&crawler->frontier, job, at_ns);

    return rc < 0 ? rc : 1;
}

/* What failed is tried again, for as long as the page has tries. */
static int put_back_failed(struct crawler *crawler, const struct frontier_job *job,
                           const struct retry *retry)
{
    struct host *host = job->host;
    unsigned max_tries = crawler->options->max_tries;

    host->failures = retry->again ? host->failures + (host->failures < UINT32_MAX) : 0;
    if (!retry->again || tries_of(job->target) >= max_tries ||
        host->failures >= FAILURES_ENOUGH * max_tries)
        return 0;
    return retry_at(crawler, job, coil_now() + retry->pause_ns);
}

/* The server asks to slow down. That uses up no try of the page. */
static int put_back_refused(struct worker *worker, const struct frontier_job *job,
                            const struct answer *answer, const struct retry *retry)
{
    struct crawler *crawler = worker->crawler;
    struct target *page = job->target;
    struct throttle_refusal refusal = {.sent_ns = worker->asked_ns,
                                       .now_ns = coil_now(),
                                       .retry_after_ns = retry->host_ns,
                                       .is_too_many = answer->status == 429,
                                       .is_external = page->kind == TARGET_EXTERNAL,
                                       .is_rested = worker->is_rested,
                                       .page_refusals = page->refusals,
                                       .max_tries = crawler->options->max_tries};
    int rc;

    switch (frontier_refuse(job->host, page, &refusal)) {
    case THROTTLE_AGAIN:
        return retry_at(crawler, job, refusal.now_ns + throttle_pause_ns(&refusal));
    case THROTTLE_TEST:
        rc = frontier_test(&crawler->frontier, job);
        return rc < 0 ? rc : 1;
    case THROTTLE_FAILURE:
        return put_back_failed(crawler, job, retry);
    default:
        return 0;
    }
}

/* True if it is put back. */
static int put_back(struct worker *worker, const struct frontier_job *job,
                    const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    struct retry retry = retry_after(answer, tries_of(job->target), time(NULL));

    if (is_accepted(crawler, job->target, answer))
        retry = (struct retry){.again = false};
    if (retry.is_refusal && retry.again)
        return put_back_refused(worker, job, answer, &retry);
    if (retry.is_refusal)
        job->host->is_troubled = true; /* it asks for a longer pause than is made */
    else if (answer->rc == 0)
        frontier_accept(job->host, job->target, worker->is_rested);
    return put_back_failed(crawler, job, &retry);
}

/* Somebody is there after all. Returns 1: it is put back. */
static int ask_rules_first(struct crawler *crawler, const struct frontier_job *job)
{
    struct host *host = job->host;
    int rc;

    if (host->robots == ROBOTS_KNOWN)
        host->robots = ROBOTS_WANTED;
    rc = frontier_retry(&crawler->frontier, job, coil_now());
    return rc < 0 ? rc : 1;
}

/* ---- what is kept of it ------------------------------------------------------------ */

static unsigned flags_of(const struct worker *worker, const struct target *page,
                         const struct answer *answer)
{
    return (answer->is_late ? STORE_LATE : 0) | (answer->is_tls ? STORE_TLS : 0) |
           (answer->is_too_long ? STORE_TOO_LONG : 0) |
           (answer->is_challenge ? STORE_CHALLENGE : 0) |
           (answer->sets_cookie ? STORE_SETS_COOKIE : 0) |
           (worker->reopens ? STORE_REOPENS : 0) | (answer->has_body ? STORE_BODY : 0) |
           (worker->wants_body ? STORE_WANTED_IDS : 0) |
           (target_is_searched(page) ? STORE_SEARCHED : 0) |
           (target_has_ids(page) ? STORE_HAS_IDS : 0);
}

/* Of an answer that has taken the place of one that was kept: that one's. */
static const char *validator_of(const struct worker *worker, const struct answer *answer,
                                const char *name, const char *kept)
{
    if (worker->kept != NULL)
        return kept;
    return answer->response != NULL ? coil_http_header(answer->response, name) : NULL;
}

/* Why there is no answer, or what was wrong with the page. */
static const char *error_of(const struct worker *worker, const struct answer *answer)
{
    return answer->rc < 0 ? answer->error : worker->flaw;
}

static void keep_links(const struct worker *worker, struct store_page *record)
{
    const struct text *links = &worker->pages.links.bytes;

    record->links = links->n > 0 ? links->at : "";
    record->links_n = links->n;
}

/* What came of a target goes to the crawl's file, or to those who share it. */
static int keep_record(struct crawler *crawler, const struct target *page,
                       const struct store_page *record)
{
    if (crawler->member != NULL)
        return member_bring(crawler->member, page, record);
    return crawler->saving.state != NULL ? state_add(crawler->saving.state, page, record)
                                         : 0;
}

/* The page is digested: from now on a crawl that is gone on with need not ask for it. */
static int keep(struct worker *worker, const struct target *page,
                const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    const struct store_page *kept = worker->kept;
    struct store_page record = {.flags = flags_of(worker, page, answer),
                                .rc = answer->rc,
                                .status = answer->status,
                                .problem = worker->problem,
                                .tries = page->tries,
                                .size = answer->size,
                                .bytes = crawler->verdicts.summary.bytes -
                                         crawler->saving.bytes,
                                .at_ns = worker->asked_ns - crawler->result.begin_ns,
                                .duration_ns = worker->duration_ns,
                                .content_type = answer->content_type,
                                .location = answer->location,
                                .error = error_of(worker, answer)};

    if (crawler->saving.state == NULL && crawler->member == NULL)
        return 0;
    record.etag = validator_of(worker, answer, "ETag", kept != NULL ? kept->etag : NULL);
    record.modified = validator_of(worker, answer, "Last-Modified",
                                   kept != NULL ? kept->modified : NULL);
    if (answer->has_body || worker->pages.links.bytes.n > 0)
        keep_links(worker, &record);
    if (target_is_searched(page) && worker->problem == 0) {
        record.ids = page->ids;
        record.id_count = page->id_count;
    }
    crawler->saving.bytes = crawler->verdicts.summary.bytes;
    return keep_record(crawler, page, &record);
}

/* It was digested, or left out, as robots.txt wants it. */
static int keep_left_out(struct crawler *crawler, const struct target *page,
                         unsigned line)
{
    struct store_page record = {.flags = STORE_ROBOTS, .line = line};

    return keep_record(crawler, page, &record);
}

/* The sitemaps that a robots.txt names. */
static int keep_sitemaps(struct worker *worker, struct host *host,
                         const struct target *rules)
{
    struct crawler *crawler = worker->crawler;
    struct store_page record = {.flags = STORE_SITEMAPS};

    keep_links(worker, &record);
    if (crawler->member != NULL)
        return member_bring_sitemaps(crawler->member, host, rules, &record);
    if (crawler->saving.state == NULL)
        return 0;
    return state_add(crawler->saving.state, rules, &record);
}

/* ---- asking ------------------------------------------------------------------------ */

/* An answer that is kept will do if the server says so, and if it has all that is wanted. */
static int find_kept(struct worker *worker, const struct frontier_job *job,
                     struct recheck_kept *kept, struct request_reader *reader)
{
    int rc = recheck_find(worker->crawler->saving.recheck, job->target->url, kept);

    if (rc <= 0)
        return rc;
    if (job->target->wants_body && (kept->page.flags & STORE_BODY) == 0)
        return 0;
    rc = recheck_headers(kept, job->host->headers);
    reader->headers = kept->headers;
    return rc;
}

/* 304 Not Modified: what was kept is the answer. */
static void take_kept(struct worker *worker, const struct recheck_kept *kept,
                      struct answer *answer)
{
    int64_t received_bytes = answer->received_bytes;

    if (kept->headers == NULL || answer->rc < 0 || answer->status != 304)
        return;
    answer_finish(answer);
    replay_answer(&kept->page, answer);
    answer->received_bytes = received_bytes;
    worker->kept = &kept->page;
    worker->book = recheck_book(worker->crawler->saving.recheck);
}

static int digest_and_keep(struct worker *worker, struct target *page,
                           struct answer *answer)
{
    int rc;

    worker->problem = 0;
    worker->flaw = NULL;
    link_blob_begin(&worker->pages.links);
    rc = digest(worker, page, answer);
    return rc == 0 ? keep(worker, page, answer) : rc;
}

/* Below 0 only for what must end the crawl: cancelled, out of memory, a report that fails. */
static int fetch(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    struct recheck_kept kept = {.headers = NULL};
    struct answer answer;
    struct request_reader reader = {wants_body, take_body, worker, NULL};
    int rc = request_find_headers(&crawler->requester, job->host);

    if (rc == 0 && crawler->saving.recheck != NULL)
        rc = find_kept(worker, job, &kept, &reader);
    if (rc < 0) {
        recheck_kept_finish(&kept);
        return rc;
    }
    worker->is_rested = frontier_ask(job->host);
    worker->asked_ns = coil_now();
    job->target->tries += job->target->tries < UINT8_MAX;
    worker->page = job->target;
    worker->wants_body = job->target->wants_body;
    rc = request_answer(&crawler->requester, job->target, &reader, &answer);
    worker->duration_ns = coil_now() - worker->asked_ns - answer.paused_ns;
    crawler->verdicts.summary.bytes += answer.received_bytes;
    if (rc == 0)
        take_kept(worker, &kept, &answer);
    if (rc == 0)
        rc = tell_answer(worker, job->target, &answer);
    if (rc == 0)
        rc = job->host->deserted > 0 && answer.rc == 0 ? ask_rules_first(crawler, job)
                                                       : put_back(worker, job, &answer);
    if (rc == 0) {
        rc = digest_and_keep(worker, job->target, &answer);
        if (rc == 0)
            frontier_done(&crawler->frontier, job);
    }
    search_cancel(worker->pages.search);
    answer_finish(&answer);
    recheck_kept_finish(&kept);
    worker->kept = NULL;
    return rc < 0 ? rc : 0;
}

/* ---- robots.txt -------------------------------------------------------------------- */

/* Once, though the rules may be asked for again. */
static int tell_sitemaps(struct worker *worker, struct host *host)
{
    const struct target *rules;
    int rc;

    if (worker->crawler->options->no_sitemaps || host->rules == NULL ||
        host->has_told_sitemaps)
        return 0;
    host->has_told_sitemaps = true;
    rc = page_search_robots(&worker->pages, host, &rules);
    return rc == 0 && rules != NULL ? keep_sitemaps(worker, host, rules) : rc;
}

static int ask_rules(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    int rc = robots_txt_get(&crawler->requester, job->host);

    frontier_ask(job->host); /* that was a request, and may have told a longer delay */
    if (rc == 0)
        rc = tell_sitemaps(worker, job->host);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int leave_out(struct crawler *crawler, struct target *page, unsigned line)
{
    char message[64];
    int rc;

    target_set_state(page, TARGET_DONE);
    snprintf(message, sizeof message, "line %u of its robots.txt forbids it", line);
    rc = verdicts_settle(&crawler->verdicts, page,
                         (struct judgement){VERDICT_SKIPPED, REASON_ROBOTS}, message);
    return rc == 0 ? end_start(crawler, page) : rc;
}

static int leave_out_and_keep(struct crawler *crawler, const struct frontier_job *job,
                              unsigned line)
{
    int rc = leave_out(crawler, job->target, line);

    if (rc == 0)
        rc = keep_left_out(crawler, job->target, line);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

/* The page is not fetched, since its robots.txt could not be. */
static int fail_by_rules(struct crawler *crawler, struct target *page,
                         const struct answer *failure)
{
    char message[ANSWER_ERROR_BYTES + 16];
    int rc;

    target_set_state(page, TARGET_DONE);
    if (failure->rc == 0)
        page->status = (int16_t)failure->status;
    if (failure->rc < 0)
        snprintf(message, sizeof message, "robots.txt: %s", failure->error);
    else
        snprintf(message, sizeof message, "robots.txt: %d %s", failure->status,
                 status_name(failure->status));
    rc = verdicts_settle(&crawler->verdicts, page, judge_rules(failure), message);
    return rc == 0 ? end_start(crawler, page) : rc;
}

static int fail_by_rules_and_keep(struct crawler *crawler, const struct frontier_job *job)
{
    const struct answer *failure = job->host->rules_failure;
    struct store_page record = {.flags = STORE_ROBOTS |
                                         (failure->is_late ? STORE_LATE : 0) |
                                         (failure->is_tls ? STORE_TLS : 0),
                                .rc = failure->rc,
                                .status = failure->rc == 0 ? failure->status : 0,
                                .error = failure->rc < 0 ? failure->error : NULL};
    int rc = fail_by_rules(crawler, job->target, failure);

    if (rc == 0)
        rc = keep_record(crawler, job->target, &record);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

/* ---- what an earlier run has done -------------------------------------------------- */

/* The host need not tell them once more. */
static int digest_sitemaps(struct worker *worker, struct target *rules)
{
    struct host *host =
        frontier_host(&worker->crawler->frontier, rules->url, FRONTIER_SITE);
    size_t links;
    int problem;

    if (host == NULL)
        return -ENOMEM;
    host->has_told_sitemaps = true;
    return page_search_replay(&worker->pages, rules, worker->kept, worker->book, &links,
                              &problem);
}

/* What there was time for is told as if it were now; the tries before it are not kept. */
static int digest_answer(struct worker *worker, struct target *page)
{
    struct crawler *crawler = worker->crawler;
    const struct store_page *kept = worker->kept;
    struct answer answer;
    int rc;

    replay_answer(kept, &answer);
    answer.received_bytes = kept->bytes;
    page->tries = (uint8_t)(kept->tries < UINT8_MAX ? kept->tries : UINT8_MAX);
    crawler->verdicts.summary.bytes += kept->bytes;
    worker->wants_body = (kept->flags & STORE_WANTED_IDS) != 0;
    worker->asked_ns = crawler->result.begin_ns + kept->at_ns;
    worker->duration_ns = kept->duration_ns;
    if (crawler->saving.earlier_ns < kept->at_ns + kept->duration_ns)
        crawler->saving.earlier_ns = kept->at_ns + kept->duration_ns;
    rc = tell_answer(worker, page, &answer);
    return rc == 0 ? digest(worker, page, &answer) : rc;
}

static int digest_left_out(struct crawler *crawler, struct target *page,
                           const struct store_page *kept)
{
    struct answer failure;

    if (kept->rc == 0 && kept->status == 0)
        return leave_out(crawler, page, kept->line);
    replay_answer(kept, &failure);
    return fail_by_rules(crawler, page, &failure);
}

static int digest_kept(void *arg, struct target *page, const struct store_page *kept,
                       const struct saved_urls *book)
{
    struct worker *worker = arg;
    int rc;

    if ((kept->flags & STORE_ROBOTS) != 0)
        return digest_left_out(worker->crawler, page, kept);
    worker->kept = kept;
    worker->book = book;
    rc = (kept->flags & STORE_SITEMAPS) != 0 ? digest_sitemaps(worker, page)
                                             : digest_answer(worker, page);
    worker->kept = NULL;
    return rc;
}

/* What is digested is not to be kept once more. */
static int replay_kept(struct crawler *crawler)
{
    struct worker worker = {.crawler = crawler, .class = FRONTIER_SITE};
    int rc = page_search_init(&worker.pages, crawler);

    worker.pages.is_replay = true;
    if (rc == 0)
        rc = replay(crawler, crawler->saving.earlier, digest_kept, &worker);
    page_search_finish(&worker.pages);
    crawler->saving.bytes = crawler->verdicts.summary.bytes;
    crawler->result.begin_ns -= crawler->saving.earlier_ns;
    return rc;
}

int crawler_save(struct crawler *crawler)
{
    return crawler->saving.state != NULL ? state_save_if_due(crawler->saving.state) : 0;
}

/* ---- workers ----------------------------------------------------------------------- */

static int look_at(struct worker *worker, const struct frontier_job *job)
{
    struct frontier *frontier = &worker->crawler->frontier;
    int64_t pause_ns;
    int rc = file_visit(&worker->pages, job->target, &pause_ns);

    if (rc > 0) {
        job->host->is_troubled = true; /* too many at a time: one by one, then */
        return frontier_retry(frontier, job, coil_now() + pause_ns);
    }
    if (rc == 0)
        frontier_done(frontier, job);
    return rc;
}

/* Others have asked for it, and were gone then: it is told as an error. */
static int give_up(struct crawler *crawler, const struct frontier_job *job)
{
    struct store_page record = {
        .rc = -ECONNABORTED,
        .tries = job->target->tries,
        .error = "each process that has asked for it has ended before it had an answer"};
    int rc = keep_record(crawler, job->target, &record);

    target_set_state(job->target, TARGET_DONE);
    if (rc == 0)
        frontier_done(&crawler->frontier, job);
    return rc;
}

static int visit(struct worker *worker, const struct frontier_job *job)
{
    struct crawler *crawler = worker->crawler;
    unsigned line;
    int forbids;

    if (job->target == NULL)
        return ask_rules(worker, job);
    if (crawler->member != NULL) {
        if (!shared_may_ask(&crawler->member->shared, job->target)) {
            frontier_done(&crawler->frontier, job); /* others do */
            return 0;
        }
        if (shared_has_given_up(&crawler->member->shared, job->target))
            return give_up(crawler, job);
    }
    if (job->target->kind == TARGET_FILE)
        return look_at(worker, job);
    if (job->host->robots == ROBOTS_KNOWN && coil_now() > job->host->rules_until_ns) {
        job->host->robots = ROBOTS_WANTED;
        return frontier_retry(&crawler->frontier, job, coil_now());
    }
    if (job->host->rules_failure != NULL)
        return fail_by_rules_and_keep(crawler, job);
    forbids = robots_txt_forbids(job->host, job->target->url, &line);
    if (forbids != 0)
        return forbids < 0 ? forbids : leave_out_and_keep(crawler, job, line);
    return fetch(worker, job);
}

static int visit_all(struct worker *worker)
{
    struct frontier *frontier = &worker->crawler->frontier;
    struct frontier_job job;
    int rc;

    while ((rc = frontier_take(frontier, worker->class, &job)) == 0) {
        rc = visit(worker, &job);
        cold_tend(worker->crawler->targets.all.cold);
        if (rc == 0)
            rc = crawler_save(worker->crawler);
        if (rc < 0)
            break;
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int work(struct crawler *crawler, enum frontier_class class)
{
    struct worker worker = {.crawler = crawler, .class = class};
    int rc = page_search_init(&worker.pages, crawler);

    if (rc == 0)
        rc = visit_all(&worker);
    page_search_finish(&worker.pages);
    return rc;
}

static int work_on_site(void *arg)
{
    return work(arg, FRONTIER_SITE);
}

static int work_outside(void *arg)
{
    return work(arg, FRONTIER_EXTERNAL);
}

/* ---- the crawl --------------------------------------------------------------------- */

/* As many workers as were asked for, or as there is memory for, but one at least. */
static int spawn_workers(struct crawler *crawler, coil_group *group, coil_task_fn body)
{
    int rc = 0;

    for (unsigned i = 0; i < crawler->options->max_tasks && rc == 0; i++) {
        coil_spawn_opts opts = {.name = "worker"};
        rc = coil_group_spawn(group, body, crawler, &opts, NULL);
        if (rc == -ENOMEM && i > 0)
            return 0;
    }
    return rc;
}

static int place_starts(struct crawler *crawler)
{
    size_t count = crawler->targets.count;
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = enqueue_start(&crawler->enqueuer, targets_at(&crawler->targets, i));
    return rc == 0 ? file_enqueue_starts(crawler) : rc;
}

/* The starts, and what has come of them so far. */
static int begin(struct crawler *crawler)
{
    int rc;

    if (crawler->saving.earlier != NULL)
        frontier_note_only(&crawler->frontier);
    if (crawler->member != NULL)
        crawler->enqueuer.undecided.starts_open = 1; /* until Redis says that none is */
    rc = place_starts(crawler);
    if (rc == 0 && crawler->saving.earlier != NULL)
        rc = replay_kept(crawler);
    if (rc == 0 && crawler->saving.earlier != NULL && !crawler->saving.is_only_reported)
        frontier_take_noted(&crawler->frontier, &crawler->targets);
    return rc;
}

/* Until the frontier is empty. */
static int crawl(struct crawler *crawler)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = spawn_workers(crawler, &group, work_on_site);
    if (rc == 0 && crawler->options->external != EXTERNAL_SKIP)
        rc = spawn_workers(crawler, &group, work_outside);
    if (rc == 0 && crawler->member != NULL)
        rc = coil_group_spawn(&group, member_lease, crawler->member, NULL, NULL);
    return coil_group_exit(&group, rc);
}

/* Until it is through, or out of time. */
static int crawl_in_time(struct crawler *crawler)
{
    int64_t limit = crawler->options->max_duration_ns;
    coil_scope scope;
    int rc = coil_scope_enter(&scope, limit > 0 ? coil_in(limit) : COIL_NEVER);

    if (rc < 0)
        return rc;
    rc = begin(crawler);
    if (rc == 0 && !crawler->saving.is_only_reported)
        rc = crawl(crawler);
    rc = coil_scope_exit(&scope, rc);
    crawler->result.out_of_time = rc == -ETIMEDOUT && coil_scope_expired(&scope);
    return crawler->result.out_of_time ? 0 : rc;
}

/* Of what may be asked of a host at a time, if so many ask it. */
static unsigned share_of(unsigned limit, unsigned split)
{
    return limit / split > 0 ? limit / split : 1;
}

static unsigned split_of(const struct crawler *crawler)
{
    return crawler->member != NULL ? crawler->options->split_host : 1;
}

static void open_frontier(struct crawler *crawler)
{
    const struct options *options = crawler->options;
    unsigned tasks = options->max_tasks;
    unsigned per_host = options->per_host > 0 ? options->per_host : tasks;
    unsigned split = crawler->requester.split;

    frontier_init(
        &crawler->frontier,
        &(struct frontier_options){
            .limits = {tasks, tasks},
            .per_host = {share_of(per_host, split),
                         share_of(options->external_per_host, split)},
            .delay_ns = options->delay_ns * split,
            .asks_robots = !options->no_robots,
            .by_depth = options->max_depth < UINT16_MAX,
            .cold = crawler->targets.all.cold,
            .above = crawler->member != NULL ? &crawler->member->shared.above : NULL});
}

/* The bit of a verdict in `counted`. Verdicts of fragments have a bit each. The others are
   verdicts of the page, which has one of them. */
static uint8_t counted_bit(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FRAGMENT:
        return 1;
    case VERDICT_TEXT:
        return 2;
    case VERDICT_SKIPPED:
        return 4;
    case VERDICT_UNCHECKED:
        return 8;
    default:
        return 16;
    }
}

/* Return true for the first target of its URL that has this verdict. */
static bool is_first_of_url(const struct crawler *crawler, const struct target *target)
{
    struct known *page = targets_known(&crawler->targets, target->page);
    uint8_t bit = counted_bit(target->verdict);
    bool is_first = (page->counted & bit) == 0;

    page->counted |= bit;
    return is_first;
}

/* Links to a finding of the baseline that it lacks: as far as they are kept. */
static size_t count_new_links(const struct crawler *crawler, const struct target *target)
{
    const struct reference *reference =
        references_of(&crawler->verdicts.references, &crawler->targets, target);
    size_t n = 0;

    for (; reference != NULL;
         reference = references_at(&crawler->verdicts.references, reference->before))
        n += reference_is_told(reference, target);
    return n;
}

static void count_target(struct crawler *crawler, const struct target *target)
{
    struct record_summary *summary = &crawler->verdicts.summary;
    size_t links = targets_known(&crawler->targets, target)->reference_count;

    summary->urls += target->fragment_at == 0;
    if (!target->is_wanted)
        return;
    summary->targets++;
    summary->verdict_urls[target->verdict] += is_first_of_url(crawler, target);
    summary->verdict_links[target->verdict] += links;
    if (!judge_fails(crawler->options, target->verdict) ||
        (target->is_known && !targets_known(&crawler->targets, target)->has_new))
        return;
    crawler->verdicts.summary.findings++;
    summary->finding_links += target->is_known ? count_new_links(crawler, target) : links;
}

/* Every target gets its verdict, though the crawl may have been cut short. */
static int settle_rest(struct crawler *crawler)
{
    struct judgement judgement = {VERDICT_UNCHECKED, REASON_INTERRUPTED};
    int rc;

    if (crawler->result.out_of_time)
        judgement = (struct judgement){VERDICT_SKIPPED, REASON_TIME};
    crawler->enqueuer.undecided.starts_open = 0;
    rc = verdicts_end(&crawler->verdicts, judgement);
    for (size_t i = 0; i < crawler->targets.count; i++)
        count_target(crawler, targets_at(&crawler->targets, i));
    return rc;
}

int crawler_open(struct crawler *crawler)
{
    crawler->requester.split = split_of(crawler);
    crawler->texts.is_off = crawler->saving.state != NULL || crawler->member != NULL ||
                            crawler->saving.earlier != NULL;
    open_frontier(crawler);
    return requester_open(&crawler->requester);
}

void crawler_close(struct crawler *crawler)
{
    frontier_close(&crawler->frontier);
    requester_close(&crawler->requester);
}

/* What failed, in words: the errno does not name the file. */
static void complain_of_state(struct crawler *crawler)
{
    const char *message;

    if (state_failure(crawler->saving.state, &message) < 0 &&
        crawler->result.complaint == NULL)
        crawler->result.complaint = strdup(message);
}

/* All that was kept goes to the disk, and whether anything is left, even where the crawl was
   cancelled. A save of crawler_save() may still be on its way. */
static int finish_state(struct crawler *crawler, int rc)
{
    bool is_over = rc == 0 && !crawler->result.out_of_time;
    int written;

    if (crawler->saving.state == NULL)
        return rc;
    written = state_finish(crawler->saving.state, is_over);
    crawler->result.is_finished = is_over && written == 0;
    complain_of_state(crawler);
    return written < 0 && rc == 0 ? written : rc;
}

int crawler_run(void *arg)
{
    struct crawler *crawler = arg;
    int rc = crawler_open(crawler), ended;

    crawler->result.begin_ns = coil_now();
    if (rc == 0)
        rc = crawl_in_time(crawler);
    rc = finish_state(crawler, rc);
    frontier_close(&crawler->frontier);
    ended = settle_rest(crawler);
    crawler_close(crawler);
    crawler->verdicts.summary.duration_ns = coil_now() - crawler->result.begin_ns;
    return rc < 0 ? rc : ended;
}

int crawler_ask(struct crawler *crawler)
{
    int rc, ended;

    crawler->takes_no_links = true;
    rc = crawl(crawler);
    frontier_close(&crawler->frontier);
    ended = settle_rest(crawler);
    return rc < 0 ? rc : ended;
}

struct crawler_progress crawler_progress(const struct crawler *crawler)
{
    const size_t *verdicts = crawler->verdicts.summary.verdicts;
    size_t done = frontier_through(&crawler->frontier);
    size_t left =
        frontier_left(&crawler->frontier) + frontier_at_work(&crawler->frontier);

    return (struct crawler_progress){
        .known = done + left,
        .done = done,
        .bad = verdicts[VERDICT_BROKEN] + verdicts[VERDICT_FRAGMENT] +
               verdicts[VERDICT_ERROR] + verdicts[VERDICT_TIMEOUT]};
}

/* ---- its life ---------------------------------------------------------------------- */

/* The user has named it, so it is visited even if a rule is against it. */
static int add_start(struct crawler *crawler, const char *url)
{
    bool is_new;
    struct target *target;

    if (strstr(url, "://") == NULL)
        return 0; /* a path: file_enqueue_starts() */
    target = targets_get(&crawler->targets, url, 0, &is_new);
    if (target == NULL)
        return -ENOMEM;
    target->is_wanted = true;
    return site_add(&crawler->enqueuer.site, url);
}

/* It is among the starts. */
static int mark_sitemap(struct crawler *crawler, const char *url)
{
    bool is_new;
    struct target *target = strstr(url, "://") != NULL
                                ? targets_get(&crawler->targets, url, 0, &is_new)
                                : NULL;

    if (target == NULL)
        return strstr(url, "://") != NULL ? -ENOMEM : 0;
    target->is_sitemap = true;
    return 0;
}

int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count)
{
    int rc = 0;

    *crawler =
        (struct crawler){.options = options,
                         .requester.options = options,
                         .verdicts = {.options = options,
                                      .targets = &crawler->targets,
                                      .sinks = {sinks, sink_count},
                                      .references.fail_on = options->fail_on},
                         .enqueuer = {.options = options,
                                      .targets = &crawler->targets,
                                      .frontier = &crawler->frontier,
                                      .verdicts = &crawler->verdicts,
                                      .site.lenient = options->lenient,
                                      .undecided.end = &crawler->enqueuer.undecided.first,
                                      .begin_s = time(NULL),
                                      .is_offline = options->offline},
                         .texts.enqueuer = &crawler->enqueuer};
    targets_init(&crawler->targets, cold);
    for (size_t i = 0; i < options->starts.count && rc == 0; i++)
        rc = add_start(crawler, options->starts.at[i]);
    for (size_t i = 0; i < options->sitemaps.count && rc == 0; i++)
        rc = mark_sitemap(crawler, options->sitemaps.at[i]);
    return rc;
}

void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved)
{
    if (saved->store == NULL)
        return;
    crawler->saving.earlier = saved->command == COMMAND_CRAWL ? NULL : saved->store;
    crawler->saving.state = saved->state;
    crawler->saving.recheck = saved->recheck;
    crawler->saving.is_only_reported =
        saved->command == COMMAND_REPORT || saved->command == COMMAND_DIFF;
    if (crawler->saving.is_only_reported)
        crawler->enqueuer.is_offline = false;
    if (saved->state != NULL)
        state_take_targets(saved->state, &crawler->targets);
    targets_set_id_seed(&crawler->targets, store_setup(saved->store)->seed);
    crawler->enqueuer.begin_s = store_setup(saved->store)->time_s;
}

void crawler_finish(struct crawler *crawler)
{
    frontier_finish(&crawler->frontier);
    enqueuer_finish(&crawler->enqueuer);
    local_finish(&crawler->local);
    verdicts_finish(&crawler->verdicts);
    text_checks_finish(&crawler->texts);
    targets_finish(&crawler->targets);
    free(crawler->result.complaint);
    *crawler = (struct crawler){.options = NULL};
}
