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

/* Copy the charset parameter of a content type, or "" if there is none. */
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

static int report_page(const struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    const struct target *page = visit->page;
    char charset[64];
    struct record_page record = {.url = page->url,
                                 .content_type = answer->content_type,
                                 .status = answer->status,
                                 .size = answer->size,
                                 .depth = page->depth,
                                 .tries = page->tries,
                                 .links = visit->found.links,
                                 .searched = target_is_searched(page)};

    copy_charset(answer->content_type, charset, sizeof charset);
    record.encoding = charset[0] != '\0' ? charset : NULL;
    crawler->verdicts.summary.pages += target_is_searched(page);
    return records_page(&crawler->verdicts.sinks, &record);
}

/*
 * True if an X-Robots-Tag header contains nofollow for this crawler. A response may have
 * several of these headers.
 */
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

/*
 * True if the headers are searched for links: the page is on the site, its status is 2xx,
 * and --no-header-links is not set.
 */
static bool has_header_links(const struct options *options, const struct target *page,
                             const struct answer *answer)
{
    return !options->no_header_links && page->kind == TARGET_SITE && answer->rc == 0 &&
           answer->status >= 200 && answer->status < 300;
}

static const char *flaw_of(const struct visit *visit, const struct answer *answer)
{
    if (visit->saved.page != NULL)
        return answer->rc == 0 ? visit->saved.page->error : NULL;
    return answer->has_body ? search_problem(visit->pages->search) : NULL;
}

/*
 * True if this answer must be recorded in the cache of external targets. A replayed
 * answer was already recorded by an earlier run.
 */
static bool updates_cache(const struct visit *visit)
{
    return visit->crawler->enqueuer.cache != NULL &&
           visit->page->kind == TARGET_EXTERNAL && !visit->pages->is_replay;
}

/*
 * Find the links and ids of the page in the fetched body and headers, or in the saved
 * page.
 */
static int search_page(struct visit *visit, const struct answer *answer)
{
    const struct options *options = visit->crawler->options;
    struct target *page = visit->page;
    struct page_source source = {
        page->url, answer->has_body, answer->is_too_long,
        has_header_links(options, page, answer) ? answer->response : NULL};
    int rc;

    visit->pages->nofollow = has_nofollow(options, answer);
    if (visit->saved.page != NULL)
        rc = page_search_replay(visit->pages, page, &visit->saved, &visit->found);
    else
        rc = page_search_end(visit->pages, page, &source, &visit->found);
    if (rc == 0)
        visit->flaw = flaw_of(visit, answer);
    return rc;
}

static struct outcome outcome_of(const struct visit *visit, const struct answer *answer)
{
    const struct target *page = visit->page;
    size_t limit = request_body_limit(visit->crawler->options, page);

    return (struct outcome){.content_type = answer->content_type,
                            .problem = visit->found.problem,
                            .flaw = visit->flaw,
                            .limit = answer->is_too_long ? limit : 0,
                            .is_named_as_sitemap =
                                page_is_named_as_sitemap(page, answer->content_type)};
}

/*
 * Enqueue the page again if, during the request, a link was found that needs the page's
 * ids or text, which were not stored.
 */
static void refetch_if_wanted(struct visit *visit)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = visit->page;

    if (page->kind != TARGET_SITE && page->wants_body && !visit->request.wants_body) {
        page->refetch = REFETCH_IDS;
        frontier_add_again(&crawler->frontier, page);
    }
    text_checks_refetch(&crawler->texts, page);
}

/*
 * End a fetch that only collected the ids of the page. Check the links to these ids, but
 * do not change the verdict of the page.
 */
static int end_refetch(struct crawler *crawler, struct target *page)
{
    page->refetch = REFETCH_NONE;
    return verdicts_recheck(&crawler->verdicts, page);
}

static int process_page(struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = visit->page;
    struct judgement judgement = visit->judgement;
    char message[ANSWER_ERROR_BYTES] = "";
    struct outcome outcome;
    int rc = search_page(visit, answer);

    if (rc == 0 && page->kind == TARGET_SITE && page->refetch != REFETCH_IDS)
        rc = report_page(visit, answer);
    if (rc < 0)
        return rc;
    outcome = outcome_of(visit, answer);
    if (answer->rc < 0)
        snprintf(message, sizeof message, "%s", answer->error);
    if (judgement.verdict == VERDICT_OK) {
        crawler->result.fetched_count +=
            page->kind == TARGET_SITE && page->refetch != REFETCH_IDS;
        judgement = outcome_judge(page, &outcome, message, sizeof message);
    }
    if (judgement.verdict == VERDICT_OK && updates_cache(visit))
        rc = cache_add(crawler->enqueuer.cache, page->url, time(NULL));
    if (rc == 0 && page->refetch == REFETCH_IDS)
        return end_refetch(crawler, page);
    if (rc == 0 && judgement.verdict == VERDICT_OK)
        refetch_if_wanted(visit);
    return rc == 0 ? verdicts_settle(&crawler->verdicts, page, judgement, message) : rc;
}

static int process_redirect(struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = visit->page;
    int rc = page->kind == TARGET_SITE ? report_page(visit, answer) : 0;

    if (rc == 0)
        rc = redirect_follow(&crawler->enqueuer, page, answer->location, &visit->reopens);
    return rc == 0 ? text_checks_redirect(&crawler->texts, page) : rc;
}

/*
 * Record that a start URL is done. If it was the last one, enqueue or leave out the held
 * targets. Do nothing in a shared crawl, where Redis counts the start URLs.
 */
static int end_start(struct crawler *crawler)
{
    if (crawler->member != NULL)
        return 0;
    return --crawler->enqueuer.undecided.starts_open == 0
               ? enqueue_held(&crawler->enqueuer)
               : 0;
}

int report_answer(struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    const struct target *page = visit->page;
    struct record_answer record = {.url = page->url,
                                   .status = answer->status,
                                   .at_ns =
                                       visit->request.begin_ns - crawler->result.begin_ns,
                                   .duration_ns = visit->request.duration_ns,
                                   .bytes = answer->received_bytes,
                                   .tries = page->tries};

    visit->judgement =
        judge_answer(crawler->options, page->url, page->kind == TARGET_SITE, answer);
    return records_answer(&crawler->verdicts.sinks, &record);
}

int process_answer(struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = visit->page;
    const struct store_page *saved = visit->saved.page;
    bool is_refetch = page->refetch == REFETCH_IDS;
    int rc;

    target_set_state(page, TARGET_DONE);
    page->status = (int16_t)answer->status;
    page->sets_cookie = answer->sets_cookie;
    link_blob_begin(&visit->pages->links);
    visit->reopens = saved != NULL && (saved->flags & STORE_REOPENS) != 0;
    if (updates_cache(visit))
        cache_drop(crawler->enqueuer.cache, page->url); /* added again if still OK */
    if (answer->rc == 0 && answer_is_redirect(answer->status) && !is_refetch)
        rc = process_redirect(visit, answer);
    else
        rc = process_page(visit, answer);
    return rc == 0 && page->is_start && !is_refetch ? end_start(crawler) : rc;
}

int forbid_page(struct crawler *crawler, struct target *page, unsigned line)
{
    char message[64];
    int rc;

    target_set_state(page, TARGET_DONE);
    snprintf(message, sizeof message, "line %u of its robots.txt forbids it", line);
    rc = verdicts_settle(&crawler->verdicts, page,
                         (struct judgement){VERDICT_SKIPPED, REASON_ROBOTS}, message);
    return rc == 0 && page->is_start ? end_start(crawler) : rc;
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
    return rc == 0 && page->is_start ? end_start(crawler) : rc;
}
