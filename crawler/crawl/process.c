/* process.c - see process.h */
#include "process.h"

#include "../judge/judge.h"
#include "../judge/outcome.h"
#include "../scope/robots_tag.h"
#include "page_reader.h"
#include "redirect.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Copy the charset of a content type, or "". */
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

static int report_page(struct crawler *crawler, const struct target *page,
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

/* True if X-Robots-Tag has nofollow. It may have several values, for different
   crawlers. */
static bool has_nofollow(const struct options *options, const struct answer *answer)
{
    const char *tag;

    if (!options->obey_x_robots_tag || answer->response == NULL)
        return false;
    for (size_t i = 0;
         (tag = coil_http_header_at(answer->response, "X-Robots-Tag", i)) != NULL; i++)
        if (robots_tag_has_nofollow(tag))
            return true;
    return false;
}

/* True if the headers are searched for links. Error pages are not searched. */
static bool has_header_links(const struct options *options, const struct target *page,
                             const struct answer *answer)
{
    return !options->no_header_links && page->kind == TARGET_SITE && answer->rc == 0 &&
           answer->status >= 200 && answer->status < 300;
}

static const char *flaw_of(const struct worker *worker, const struct answer *answer)
{
    if (worker->saved != NULL)
        return answer->rc == 0 ? worker->saved->error : NULL;
    return answer->has_body ? search_problem(worker->pages.search) : NULL;
}

/* True if the answer goes to the cache. Replayed answers are in the cache already. */
static bool keeps_cache(const struct worker *worker, const struct target *page)
{
    return worker->crawler->enqueuer.cache != NULL && page->kind == TARGET_EXTERNAL &&
           !worker->pages.is_replay;
}

/* Find links and ids: search the body, or read the links and ids of a saved page. */
static int search_page(struct worker *worker, struct target *page,
                       const struct answer *answer, size_t *links, int *problem)
{
    const struct options *options = worker->crawler->options;
    struct page_source source = {
        page->url, answer->has_body, answer->is_too_long,
        has_header_links(options, page, answer) ? answer->response : NULL};

    worker->pages.nofollow = has_nofollow(options, answer);
    if (worker->saved != NULL)
        return page_search_replay(&worker->pages, page, worker->saved, worker->saved_urls,
                                  links, problem);
    if (page_search_is_due(&source))
        return page_search_end(&worker->pages, page, &source, links, problem);
    return 0;
}

/* Return the verdict of an answer that is not a redirect. `message` becomes its message,
   or "". */
static struct judgement judge_page(struct worker *worker, const struct target *page,
                                   const struct answer *answer, char *message,
                                   size_t room)
{
    const struct options *options = worker->crawler->options;
    struct outcome outcome = {
        .content_type = answer->content_type,
        .problem = worker->problem,
        .flaw = worker->flaw,
        .limit = answer->is_too_long ? request_body_limit(options, page) : 0,
        .is_named_as_sitemap = page_is_named_as_sitemap(page, answer->content_type)};
    struct judgement judgement =
        judge_answer(options, page->url, page->kind == TARGET_SITE, answer);

    worker->crawler->result.fetched_count += page->kind == TARGET_SITE &&
                                             judgement.verdict == VERDICT_OK &&
                                             page->refetch != REFETCH_IDS;
    if (answer->rc < 0)
        snprintf(message, room, "%s", answer->error);
    else if (judgement.verdict == VERDICT_OK)
        judgement = outcome_judge(page, &outcome, message, room);
    return judgement;
}

/* Settle the verdict. If the page was fetched again for its ids, the verdict stays. If a
   link needs ids or a text that this answer does not have, enqueue the page again. */
static int settle_page(struct worker *worker, struct target *page,
                       struct judgement judgement, const char *message)
{
    struct crawler *crawler = worker->crawler;

    if (page->refetch == REFETCH_IDS) {
        page->refetch = REFETCH_NONE;
        return verdicts_recheck(&crawler->verdicts, page);
    }
    if (page->kind != TARGET_SITE && page->wants_body && !worker->wants_body &&
        judgement.verdict == VERDICT_OK) {
        page->refetch = REFETCH_IDS; /* a link needs its ids by now */
        frontier_add_again(&crawler->frontier, page);
    }
    if (judgement.verdict == VERDICT_OK)
        text_checks_ask_again(&crawler->texts, page);
    return verdicts_settle(&crawler->verdicts, page, judgement, message);
}

static int process_page(struct worker *worker, struct target *page,
                        const struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    struct judgement judgement;
    char message[ANSWER_ERROR_BYTES] = "";
    size_t links = 0;
    int problem = 0;
    int rc = search_page(worker, page, answer, &links, &problem);

    if (rc == 0 && page->kind == TARGET_SITE && page->refetch != REFETCH_IDS)
        rc = report_page(crawler, page, answer, links);
    if (rc < 0)
        return rc;
    worker->problem = problem;
    worker->flaw = flaw_of(worker, answer);
    judgement = judge_page(worker, page, answer, message, sizeof message);
    if (keeps_cache(worker, page) && judgement.verdict == VERDICT_OK)
        rc = cache_add(crawler->enqueuer.cache, page->url, time(NULL));
    return rc == 0 ? settle_page(worker, page, judgement, message) : rc;
}

/* A start is fetched. In a shared crawl, Redis counts the starts of all:
   member_open(). */
static int end_start(struct crawler *crawler, const struct target *page)
{
    if (!page->is_start || crawler->member != NULL)
        return 0;
    return --crawler->enqueuer.undecided.starts_open == 0
               ? enqueue_held(&crawler->enqueuer)
               : 0;
}

int process_answer(struct worker *worker, struct target *page, struct answer *answer)
{
    struct crawler *crawler = worker->crawler;
    bool is_refetch = page->refetch == REFETCH_IDS;
    int rc;

    target_set_state(page, TARGET_DONE);
    page->status = (int16_t)answer->status;
    page->sets_cookie = answer->sets_cookie;
    worker->reopens =
        worker->saved != NULL && (worker->saved->flags & STORE_REOPENS) != 0;
    if (keeps_cache(worker, page))
        cache_drop(crawler->enqueuer.cache, page->url); /* until it has a verdict */
    if (answer->rc == 0 && answer_is_redirect(answer->status) &&
        page->refetch != REFETCH_IDS) {
        rc = page->kind == TARGET_SITE ? report_page(crawler, page, answer, 0) : 0;
        if (rc == 0)
            rc = redirect_follow(&crawler->enqueuer, page, answer->location,
                                 &worker->reopens);
        if (rc == 0)
            rc = text_checks_redirect(&crawler->texts, page);
    } else {
        rc = process_page(worker, page, answer);
    }
    return rc == 0 && !is_refetch ? end_start(crawler, page) : rc;
}

int forbid_page(struct crawler *crawler, struct target *page, unsigned line)
{
    char message[64];
    int rc;

    target_set_state(page, TARGET_DONE);
    snprintf(message, sizeof message, "line %u of its robots.txt forbids it", line);
    rc = verdicts_settle(&crawler->verdicts, page,
                         (struct judgement){VERDICT_SKIPPED, REASON_ROBOTS}, message);
    return rc == 0 ? end_start(crawler, page) : rc;
}

int fail_page(struct crawler *crawler, struct target *page, const struct answer *failure)
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
