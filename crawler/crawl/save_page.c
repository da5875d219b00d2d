/* save_page.c - see save_page.h */
#include "save_page.h"

#include "member.h"

#include <errno.h>

bool saves_pages(const struct crawler *crawler)
{
    return crawler->saving.state != NULL || crawler->member != NULL;
}

static unsigned flags_of(const struct visit *visit, const struct answer *answer)
{
    const struct target *page = visit->page;

    return (answer->is_late ? STORE_LATE : 0) | (answer->is_tls ? STORE_TLS : 0) |
           (answer->is_too_long ? STORE_TOO_LONG : 0) |
           (answer->is_challenge ? STORE_CHALLENGE : 0) |
           (answer->sets_cookie ? STORE_SETS_COOKIE : 0) |
           (visit->reopens ? STORE_REOPENS : 0) | (answer->has_body ? STORE_BODY : 0) |
           (visit->request.wants_body ? STORE_WANTED_IDS : 0) |
           (target_is_searched(page) ? STORE_SEARCHED : 0) |
           (target_has_ids(page) ? STORE_HAS_IDS : 0);
}

/*
 * Return the value of the answer's header `name` (ETag or Last-Modified). After 304 Not
 * Modified, return `saved`, the value in the saved answer.
 */
static const char *validator_of(const struct visit *visit, const struct answer *answer,
                                const char *name, const char *saved)
{
    if (visit->saved.page != NULL)
        return saved;
    return answer->response != NULL ? coil_http_header(answer->response, name) : NULL;
}

/*
 * Return the message to save with the page: the error of the request, or the reason why
 * the search ended early, or NULL.
 */
static const char *error_of(const struct visit *visit, const struct answer *answer)
{
    return answer->rc < 0 ? answer->error : visit->flaw;
}

static void add_links(const struct page_search *pages, struct store_page *record)
{
    const struct text *links = &pages->links.bytes;

    record->links = links->n > 0 ? links->at : "";
    record->links_n = links->n;
}

/* Write a record to the crawl's file, or pass it to the shared crawl. */
static int save_record(struct crawler *crawler, const struct target *page,
                       const struct store_page *record)
{
    if (crawler->member != NULL)
        return member_bring(crawler->member, page, record);
    return crawler->saving.state != NULL ? state_add(crawler->saving.state, page, record)
                                         : 0;
}

int save_answer(const struct visit *visit, const struct answer *answer)
{
    struct crawler *crawler = visit->crawler;
    const struct target *page = visit->page;
    const struct store_page *saved = visit->saved.page;
    struct store_page record = {
        .flags = flags_of(visit, answer),
        .rc = answer->rc,
        .status = answer->status,
        .problem = visit->found.problem,
        .tries = page->tries,
        .size = answer->size,
        .bytes = crawler->verdicts.summary.bytes - crawler->saving.bytes,
        .at_ns = visit->request.begin_ns - crawler->result.begin_ns,
        .duration_ns = visit->request.duration_ns,
        .content_type = answer->content_type,
        .location = answer->location,
        .error = error_of(visit, answer)};

    record.etag = validator_of(visit, answer, "ETag", saved != NULL ? saved->etag : NULL);
    record.modified = validator_of(visit, answer, "Last-Modified",
                                   saved != NULL ? saved->modified : NULL);
    if (answer->has_body || visit->pages->links.bytes.n > 0)
        add_links(visit->pages, &record);
    if (target_is_searched(page) && visit->found.problem == 0) {
        record.ids = page->ids;
        record.id_count = page->id_count;
    }
    crawler->saving.bytes = crawler->verdicts.summary.bytes;
    return save_record(crawler, page, &record);
}

int save_forbidden(struct crawler *crawler, const struct target *page, unsigned line)
{
    struct store_page record = {.flags = STORE_ROBOTS, .line = line};

    return save_record(crawler, page, &record);
}

int save_sitemaps(const struct page_search *pages, struct host *host,
                  const struct target *rules)
{
    struct crawler *crawler = pages->crawler;
    struct store_page record = {.flags = STORE_SITEMAPS};

    add_links(pages, &record);
    if (crawler->member != NULL)
        return member_bring_sitemaps(crawler->member, host, rules, &record);
    if (crawler->saving.state == NULL)
        return 0;
    return state_add(crawler->saving.state, rules, &record);
}

int save_failed_rules(struct crawler *crawler, const struct target *page,
                      const struct answer *failure)
{
    struct store_page record = {.flags = STORE_ROBOTS |
                                         (failure->is_late ? STORE_LATE : 0) |
                                         (failure->is_tls ? STORE_TLS : 0),
                                .rc = failure->rc,
                                .status = failure->rc == 0 ? failure->status : 0,
                                .error = failure->rc < 0 ? failure->error : NULL};

    return save_record(crawler, page, &record);
}

int save_given_up(struct crawler *crawler, const struct target *page)
{
    struct store_page record = {
        .rc = -ECONNABORTED,
        .tries = page->tries,
        .error = "every process that requested it ended before it had an answer"};

    return save_record(crawler, page, &record);
}
