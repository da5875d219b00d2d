/*
 * page_search.c - see page_search.h
 */
#include "page_links.h"

#include "../base/array.h"
#include "../base/text.h"
#include "../judge/verdicts.h"
#include "../page/link/header_links.h"
#include "../scope/robots.h"
#include "../url/url.h"
#include "enqueue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ids --------------------------------------------------------------------------- */

/*
 * Hash an id, after replacing ill-formed UTF-8, because fragments are always well-formed.
 * Returns 0 or -ENOMEM.
 */
static int hash_of_id(const struct targets *targets, const char *id, uint64_t *out)
{
    struct text valid = {0};
    int rc;

    text_add_utf8(&valid, id, strlen(id), "");
    if (!valid.failed)
        *out = targets_hash_id(targets, valid.at, valid.n);
    rc = valid.failed ? -ENOMEM : 0;
    text_finish(&valid);
    return rc;
}

static bool is_ascii(const char *s)
{
    while (*s != '\0' && (*s & 0x80) == 0)
        s++;
    return *s == '\0';
}

static int note_one_id(struct page_search *pages, const char *id)
{
    const struct targets *targets = &pages->crawler->targets;
    uint64_t *hash;

    if (pages->id_count == pages->id_capacity &&
        array_grow(&pages->ids, &pages->id_capacity, sizeof *pages->ids) < 0)
        return -ENOMEM;
    hash = &pages->ids[pages->id_count++];
    if (!is_ascii(id))
        return hash_of_id(targets, id, hash);
    *hash = targets_hash_id(targets, id, strlen(id));
    return 0;
}

/*
 * Store an id. A browser first looks for an id that equals the fragment as written, and
 * then for an id that equals the decoded fragment. The fragment's escapes are normalized,
 * so an id with percent escapes is stored a second time with normalized escapes.
 */
static int note_id(struct page_search *pages, const char *id)
{
    int rc = note_one_id(pages, id);
    char *unified;

    if (rc < 0 || strchr(id, '%') == NULL)
        return rc;
    unified = strdup(id);
    if (unified == NULL)
        return -ENOMEM;
    unified[url_unify_escapes(unified, strlen(unified))] = '\0';
    rc = strcmp(unified, id) == 0 ? 0 : note_one_id(pages, unified);
    free(unified);
    return rc;
}

/* ---- prefetching targets ----------------------------------------------------------- */

static uint64_t expect(const struct url *url, void *arg)
{
    struct finding *finding = arg;

    return targets_expect(&finding->pages->crawler->targets, url->href, url->n);
}

static void expect_soon(uint64_t hash, void *arg)
{
    struct finding *finding = arg;

    targets_expect_soon(&finding->pages->crawler->targets, hash);
}

/* ---- a page ------------------------------------------------------------------------ */

static bool reports_links(const struct crawler *crawler, const struct target *page)
{
    return !crawler->takes_no_links && page->refetch != REFETCH_IDS &&
           (page->kind == TARGET_SITE || (page->kind == TARGET_FILE && page->is_start));
}

/*
 * True for a <loc> in a sitemap. The crawler does not check such links for endless
 * calendars.
 */
static bool is_of_sitemap(const struct link *link)
{
    return link->element != NULL && strcmp(link->element, "loc") == 0;
}

static int on_found(const struct search_found *found, void *arg)
{
    struct finding *finding = arg;

    finding->from = is_of_sitemap(found->link) ? NULL : finding->page->url;
    if (found->kind == SEARCH_ID)
        finding->rc = note_id(finding->pages, found->link->reference);
    else if (!finding->reports_links)
        return 0;
    else if (page_link_is_followed(finding, found))
        finding->rc = page_note_link(finding, found);
    else
        finding->rc = page_note_text(finding, found);
    return finding->rc;
}

static const struct {
    enum header_kind kind;
    const char *name;
} searched_headers[] = {{HEADER_LINK, "Link"}, {HEADER_REFRESH, "Refresh"}};

#define HEADER_COUNT (sizeof searched_headers / sizeof searched_headers[0])

static bool has_headers(const struct page_source *source)
{
    for (size_t i = 0; source->response != NULL && i < HEADER_COUNT; i++)
        if (coil_http_header(source->response, searched_headers[i].name) != NULL)
            return true;
    return false;
}

/* Call visit() for the links in all headers that can contain links. */
static int find_in_headers(links_visit_function visit, void *visit_arg, void *arg)
{
    const coil_http_response *response = arg;
    const char *value;
    int rc = 0;

    for (size_t which = 0; which < HEADER_COUNT; which++)
        for (size_t i = 0;
             rc == 0 && (value = coil_http_header_at(
                             response, searched_headers[which].name, i)) != NULL;
             i++)
            rc =
                header_links_visit(searched_headers[which].kind, value, visit, visit_arg);
    return rc;
}

static enum target_content content_of(const struct search *search,
                                      const struct page_source *source)
{
    if (!search_was_page(search))
        return CONTENT_NONE;
    if (source->is_cut || !search_has_ids(search))
        return CONTENT_LINKS;
    return search_was_markdown(search) ? CONTENT_MARKDOWN : CONTENT_IDS;
}

/* Store the ids and the text of a page that was searched. */
static int store_content(struct page_search *pages, struct target *page)
{
    struct crawler *crawler = pages->crawler;
    int rc = text_checks_take(&crawler->texts, page, search_take_text(pages->search));

    return rc == 0
               ? targets_keep_ids(&crawler->targets, page, pages->ids, pages->id_count)
               : rc;
}

int page_search_end(struct page_search *pages, struct target *page,
                    const struct page_source *source, struct page_findings *found)
{
    struct finding finding = {.pages = pages,
                              .page = page,
                              .reports_links = reports_links(pages->crawler, page)};
    struct search_visitor visitor = {on_found, expect, expect_soon,
                                     page->kind == TARGET_FILE ? page_rebase : NULL,
                                     &finding};
    bool in_headers = has_headers(source);
    int rc = 0;

    *found = (struct page_findings){.links = 0};
    if (!source->has_body && !in_headers)
        return 0;
    pages->id_count = 0;
    if (in_headers)
        rc = search_links(pages->search, find_in_headers, (void *)source->response,
                          source->base, &visitor);
    if (rc == 0 && source->has_body) {
        if (source->is_cut)
            search_break_off(pages->search);
        rc = search_end(pages->search, source->base, &visitor);
        page->content = rc == 0 ? content_of(pages->search, source) : CONTENT_NONE;
    }
    found->links = finding.links;
    if (rc == 0)
        return store_content(pages, page);
    if (rc == -ECANCELED || rc == -ENOMEM || finding.rc < 0)
        return rc;
    found->problem = rc;
    return 0;
}

/* ---- a saved page ------------------------------------------------------------------ */

struct replaying {
    struct finding finding;
    const struct saved_urls *urls;
};

static const char *saved_url(uint32_t number, size_t *fragment_at, void *arg)
{
    struct replaying *replaying = arg;

    return saved_urls_text(number, fragment_at, (void *)replaying->urls);
}

static int on_saved(const struct search_found *found, void *arg)
{
    struct replaying *replaying = arg;
    struct search_found marked = *found;

    if (found->url != NULL)
        marked.mark = expect(found->url, &replaying->finding);
    return on_found(&marked, &replaying->finding);
}

static int store_saved_ids(struct page_search *pages, struct target *page,
                           const struct store_page *kept)
{
    while (pages->id_capacity < kept->id_count)
        if (array_grow(&pages->ids, &pages->id_capacity, sizeof *pages->ids) < 0)
            return -ENOMEM;
    pages->id_count = kept->id_count;
    if (kept->id_count > 0)
        memcpy(pages->ids, kept->ids, kept->id_count * sizeof *pages->ids);
    page->content = (kept->flags & STORE_HAS_IDS) != 0    ? CONTENT_IDS
                    : (kept->flags & STORE_SEARCHED) != 0 ? CONTENT_LINKS
                                                          : CONTENT_NONE;
    return targets_keep_ids(&pages->crawler->targets, page, pages->ids, pages->id_count);
}

int page_search_replay(struct page_search *pages, struct target *page,
                       const struct saved_page *saved, struct page_findings *found)
{
    const struct store_page *kept = saved->page;
    struct replaying replaying = {
        {.pages = pages, .page = page, .reports_links = !pages->crawler->takes_no_links},
        saved->urls};
    struct link_blob_reader reader = {saved_url, on_saved, &replaying};
    int rc;

    *found = (struct page_findings){.problem = kept->problem};
    if (kept->links == NULL)
        return 0;
    rc = link_blob_read(kept->links, kept->links_n, &reader);
    found->links = replaying.finding.links;
    if (rc < 0 || kept->problem < 0 || (kept->flags & STORE_BODY) == 0)
        return rc;
    return store_saved_ids(pages, page, kept);
}

/* ---- robots.txt -------------------------------------------------------------------- */

static int find_in_robots(links_visit_function visit, void *visit_arg, void *arg)
{
    const struct robots *robots = arg;
    struct link link = {.kind = LINK_OTHER,
                        .attribute = "Sitemap",
                        .is_sitemap = true,
                        .has_no_encoding = true};
    int rc = 0;

    for (size_t i = 0; rc == 0; i++) {
        link.reference = robots_sitemap(robots, i);
        if (link.reference == NULL)
            break;
        robots_sitemap_place(robots, i, &link.place.line, &link.place.column);
        rc = visit(&link, visit_arg);
    }
    return rc;
}

int page_search_robots(struct page_search *pages, const struct host *host,
                       const struct target **rules)
{
    struct finding finding = {.pages = pages,
                              .reports_links = !pages->crawler->takes_no_links};
    struct search_visitor visitor = {on_found, expect, expect_soon, NULL, &finding};
    char *url;
    bool is_new;

    *rules = NULL;
    if (robots_sitemap(host->robots.rules, 0) == NULL)
        return 0;
    if (asprintf(&url, "%s/robots.txt", host->origin) < 0)
        return -ENOMEM;
    finding.page = targets_get(&pages->crawler->targets, url, 0, &is_new);
    free(url);
    if (finding.page == NULL)
        return -ENOMEM;
    *rules = finding.page;
    link_blob_begin(&pages->links);
    pages->nofollow = false;
    return search_links(pages->search, find_in_robots, host->robots.rules,
                        finding.page->url, &visitor);
}

/* ---- life cycle -------------------------------------------------------------------- */

int page_search_init(struct page_search *pages, struct crawler *crawler)
{
    *pages = (struct page_search){.crawler = crawler, .search = search_create()};
    if (pages->search == NULL)
        return -ENOMEM;
    if (crawler->options->obey_nofollow)
        search_want_rel(pages->search);
    if (crawler->options->no_css)
        search_leave_out_css(pages->search);
    return 0;
}

void page_search_finish(struct page_search *pages)
{
    search_destroy(pages->search);
    link_blob_finish(&pages->links);
    free(pages->ids);
}
