/* page_search.c - search a page: make targets of its links, and store its ids. */
#include "page_search.h"

#include "../base/array.h"
#include "../base/text.h"
#include "../judge/verdicts.h"
#include "../page/link/header_links.h"
#include "../scope/robots.h"
#include "../url/url.h"
#include "enqueue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct finding {
    struct page_search *pages;
    struct target *page;
    const char *from; /* the page's URL, if the link may be a trap; or NULL */
    size_t links;
    bool tells_links;
    int rc; /* below 0: the failure that ends the crawl */
};

/* ---- links ------------------------------------------------------------------------- */

/* Report the link. *is_known becomes true if the baseline has it. */
static int tell(struct finding *finding, const struct link *link, const char *target,
                const char *fragment, bool *is_known)
{
    struct crawler *crawler = finding->pages->crawler;
    int has =
        crawler->verdicts.baseline == NULL
            ? 0
            : baseline_has_link(crawler->verdicts.baseline, finding->page->url,
                                target != NULL ? target : link->reference, fragment);
    struct record_link record = {.page = finding->page->url,
                                 .text = link->reference,
                                 .element = link->element,
                                 .attribute = link->attribute,
                                 .line = link->place.line,
                                 .column = link->place.column,
                                 .target = target,
                                 .fragment = fragment,
                                 .is_known = has > 0};

    if (has < 0)
        return has;
    *is_known = record.is_known;
    finding->links++;
    crawler->verdicts.summary.links++;
    return records_link(&crawler->verdicts.sinks, &record);
}

/* A link of a header has line 0, which references do not store. */
static uint32_t reference_line(const struct link *link)
{
    return link->place.line == 0 ? 1 : link->place.line;
}

static struct reference_place place_of(const struct finding *finding,
                                       const struct link *link)
{
    return (struct reference_place){.page = finding->page,
                                    .text = link->reference,
                                    .line = reference_line(link),
                                    .column = link->place.column};
}

/* Report the link, and add a reference to its target. */
static int note(struct finding *finding, const struct link *link, struct target *target,
                const char *told_target, const char *fragment)
{
    struct crawler *crawler = finding->pages->crawler;
    struct reference_place place = place_of(finding, link);
    int rc = tell(finding, link, told_target, fragment, &place.is_known), wanted;

    if (rc == 0)
        rc = references_add(&crawler->verdicts.references, &crawler->targets, target,
                            &place);
    wanted = verdicts_want(&crawler->verdicts,
                           /* even after a failure: other reports have the link */
                           target);
    return rc == 0 ? wanted : rc;
}

static bool keeps_links(const struct page_search *pages)
{
    const struct crawler *crawler = pages->crawler;

    return (crawler->saving.state != NULL || crawler->member != NULL) &&
           !pages->is_replay;
}

/* Add the link to the page's links in the crawl's file. `number` is that of its URL
   there, or 0. The URL may be NULL. */
static int keep(struct page_search *pages, const struct search_found *found,
                bool nofollow, const struct url *url, uint32_t number)
{
    struct link link = *found->link;
    struct search_found kept = {found->kind, &link, url, 0};

    if (!keeps_links(pages))
        return 0;
    link.nofollow = nofollow;
    link_blob_add(&pages->links, &kept, number, url != NULL ? url->href : NULL,
                  url != NULL ? url->n : 0);
    return pages->links.bytes.failed ? -ENOMEM : 0;
}

/* Do the same for a link that is followed: its target has a number, or gets one. */
static int keep_followed(struct page_search *pages, const struct search_found *found,
                         bool nofollow, const struct url *url,
                         const struct target *target)
{
    uint32_t number;

    if (!keeps_links(pages))
        return 0;
    if (pages->crawler->member != NULL) /* only a file has numbers */
        return keep(pages, found, nofollow, url, 0);
    number = state_number_of(pages->crawler->saving.state, target);
    return number > 0 ? keep(pages, found, nofollow, url, number) : -ENOMEM;
}

/* Decide about a new page. An old page may have become nearer. */
static int come_nearer(struct finding *finding, struct target *page)
{
    struct crawler *crawler = finding->pages->crawler;
    unsigned depth = finding->page->depth + 1U;
    int rc;

    if (!target_is_decided(page)) {
        if (page->hops == 0 || depth < page->depth)
            page->depth = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
        /* it is more than 0 if a chain of redirects was given up before the page */
        page->hops = 0;
        return enqueue_page(&crawler->enqueuer, page, finding->from);
    }
    rc = enqueue_at_depth(&crawler->enqueuer, page, depth);
    return rc == 0 && page->hops > 0 ? enqueue_nearer(&crawler->enqueuer, page, 0) : rc;
}

/* Decode the fragment in `url` itself, which is not needed any more. */
static char *decode_fragment(const struct url *url)
{
    char *fragment = url->href + url->fragment_at;

    fragment[url_decode(fragment, url->n - url->fragment_at)] = '\0';
    return fragment;
}

/* Fragments are not checked, so the link leads to the page. Return the hash of its
   URL. */
static uint64_t leave_out_fragment(const struct targets *targets, struct url *url)
{
    url->n = url->fragment_at - 1;
    url->href[url->n] = '\0';
    url->fragment_at = 0;
    return targets_expect(targets, url->href, url->n);
}

/* True if a way of that depth does not make the page nearer. */
static bool is_near_enough(const struct targets *targets, const struct unseen *target,
                           const struct url *url, unsigned depth)
{
    struct unseen page = *target;
    size_t n = url->fragment_at - 1;

    if (url->fragment_at > 0 &&
        !targets_find_unseen(targets, url->href, n, targets_expect(targets, url->href, n),
                             &page))
        return false;
    return page.known->is_near && page.known->depth <= depth;
}

/* True if the link only adds to counts, as most links do. */
static bool is_one_more(const struct finding *finding, const struct link *link,
                        const struct url *url, bool is_followed,
                        const struct unseen *target)
{
    const struct crawler *crawler = finding->pages->crawler;
    const struct known *known = target->known;
    bool has_references = known->references > 0 || known->is_well ||
                          crawler->verdicts.references.takes_none;

    if (!known->is_wanted || !has_references || link->is_sitemap ||
        (crawler->saving.state != NULL && !finding->pages->is_replay &&
         known->number == 0))
        return false;
    return !is_followed ||
           is_near_enough(&crawler->targets, target, url, finding->page->depth + 1U);
}

/* Add a reference without a look at the target: the link has the same URL. */
static int note_one_more(struct finding *finding, const struct search_found *found,
                         struct url *url, const struct unseen *target)
{
    struct crawler *crawler = finding->pages->crawler;
    const struct link *link = found->link;
    struct reference_place place = place_of(finding, link);
    const char *fragment = NULL;
    int rc;

    if (url->fragment_at > 0) {
        fragment = decode_fragment(url);
        url->href[url->fragment_at - 1] = '\0';
    }
    rc = tell(finding, link, url->href, fragment, &place.is_known);
    return rc == 0 ? references_add_unseen(&crawler->verdicts.references,
                                           &crawler->targets, target, &place)
                   : rc;
}

static int note_target(struct finding *finding, const struct search_found *found,
                       const struct url *url, struct target *target, bool is_followed)
{
    struct target *page = target->page;
    int rc;

    page->is_sitemap |= found->link->is_sitemap;
    rc = note(finding, found->link, target, page->url,
              url->fragment_at > 0 ? decode_fragment(url) : NULL);
    return rc == 0 && is_followed ? come_nearer(finding, page) : rc;
}

static int note_web(struct finding *finding, const struct search_found *found)
{
    struct crawler *crawler = finding->pages->crawler;
    struct url url = *found->url;
    bool is_followed = !(found->link->nofollow || finding->pages->nofollow), is_new;
    const char *directive = text_checks_directive(found->link->reference);
    uint64_t hash = found->mark;
    struct unseen unseen;
    struct target *target;
    int rc;

    if (crawler->options->fragments == FRAGMENTS_NONE && url.fragment_at > 0)
        hash = leave_out_fragment(&crawler->targets, &url);
    is_new = !targets_find_unseen(&crawler->targets, url.href, url.n, hash, &unseen);
    if (!is_new && directive == NULL &&
        is_one_more(finding, found->link, &url, is_followed, &unseen)) {
        rc = keep(finding->pages, found, !is_followed, &url, unseen.known->number);
        return rc == 0 ? note_one_more(finding, found, &url, &unseen) : rc;
    }
    target = is_new ? targets_get_hashed(&crawler->targets, url.href, url.n, hash,
                                         url.fragment_at, &is_new)
                    : unseen.target;
    if (target == NULL)
        return -ENOMEM;
    rc = keep_followed(finding->pages, found, !is_followed, &url, target);
    if (rc == 0)
        rc = note_target(finding, found, &url, target, is_followed);
    if (rc == 0 && is_new && target != target->page)
        rc = enqueue_fragment(&crawler->enqueuer, target);
    if (rc == 0 && directive != NULL && is_followed)
        rc = text_checks_add(&crawler->texts, finding->page, found->link, target->page,
                             directive);
    targets_remember(&crawler->targets, target);
    return rc;
}

/* A long text is cut, and a hash distinguishes it from other texts. */
static struct target *target_of_text(struct crawler *crawler, const char *text, size_t n,
                                     size_t fragment_at)
{
    size_t limit = crawler->options->max_url_bytes;
    struct target *target;
    bool is_new;
    char *cut;

    if (n <= limit)
        return targets_get(&crawler->targets, text, fragment_at, &is_new);
    if (asprintf(&cut, "%.*s...%016" PRIx64, (int)limit, text,
                 targets_hash_id(&crawler->targets, text, n)) < 0)
        return NULL;
    target = targets_get(&crawler->targets, cut, 0, &is_new);
    free(cut);
    return target;
}

/* A link that is not followed has a target of its own, which is settled at once. */
static int note_text(struct finding *finding, const struct link *link,
                     const struct url *url, struct judgement judgement)
{
    struct crawler *crawler = finding->pages->crawler;
    const char *text = url != NULL ? url->href : link->reference, *fragment = NULL;
    size_t n = url != NULL ? url->n : strlen(text);
    size_t fragment_at = url != NULL ? url->fragment_at : 0;
    struct target *target = target_of_text(crawler, text, n, fragment_at);
    int rc;

    if (target == NULL)
        return -ENOMEM;
    if (fragment_at > 0) {
        fragment = decode_fragment(url);
        url->href[fragment_at - 1] = '\0';
    }
    rc = note(finding, link, target, url != NULL ? text : NULL, fragment);
    if (rc < 0 || target->verdict != VERDICT_OPEN)
        return rc;
    return verdicts_settle_text(&crawler->verdicts, target, judgement, text, fragment);
}

/* True for a "file:///..." link that leaves the root. Servers and other machines do not
   have that file. A relative link, "../README.md", may lead out of a folder of a
   repository. */
static bool leads_outside(const struct finding *finding, const struct search_found *found)
{
    const char *reference = found->link->reference;

    reference += strspn(reference, " \t\r\n\f");
    return strncasecmp(reference, "file:", 5) == 0 &&
           local_is_outside(&finding->pages->crawler->local, found->url->href);
}

/* Make a target of the text "file:/path": other links may lead to the same file by
   another way. */
static int note_outside(struct finding *finding, const struct search_found *found)
{
    const char *href = found->url->href;
    bool has_host = strncmp(href, "file:///", strlen("file:///")) != 0;
    struct url text = {.kind = URL_OTHER};
    int n, rc;

    n = asprintf(&text.href, "file:%.*s", (int)strcspn(href, "?#") - (has_host ? 5 : 7),
                 href + (has_host ? 5 : 7));
    if (n < 0)
        return -ENOMEM;
    text.n = (size_t)n;
    rc = note_text(finding, found->link, &text,
                   (struct judgement){VERDICT_BROKEN, REASON_OUTSIDE});
    free(text.href);
    return rc;
}

static int note_url(struct finding *finding, const struct search_found *found)
{
    const struct url *url = found->url;
    const struct options *options = finding->pages->crawler->options;
    bool is_web = url->kind == URL_WEB;
    bool is_file = url->kind == URL_FILE && finding->page->kind == TARGET_FILE;
    int rc;

    if (is_file && leads_outside(finding, found))
        return note_outside(finding, found);
    if (is_file || (is_web && url->n <= options->max_url_bytes))
        return note_web(finding, found);
    rc = keep(finding->pages, found, found->link->nofollow, url, 0);
    if (rc < 0)
        return rc;
    if (url_is_mistyped(url->href))
        return note_text(finding, found->link, NULL,
                         (struct judgement){VERDICT_BROKEN, REASON_NOT_A_URL});
    return note_text(
        finding, found->link, url,
        (struct judgement){VERDICT_SKIPPED, is_web ? REASON_LENGTH : REASON_SCHEME});
}

/* ---- ids --------------------------------------------------------------------------- */

/* Hash an id as well-formed UTF-8, because fragments are well-formed. 0 or -ENOMEM. */
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

/* Browsers first compare a fragment as it is written, then decoded. So an id with
   escapes is also stored in the spelling of url_unify_escapes(). */
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

/* ---- ahead of need ----------------------------------------------------------------- */

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

/* ---- local files ------------------------------------------------------------------- */

static int rebase(const char *reference, struct url *url, void *arg)
{
    struct finding *finding = arg;

    return local_rebase(&finding->pages->crawler->local, reference, url);
}

/* ---- what is no URL ---------------------------------------------------------------- */

static int note_no_url(struct finding *finding, const struct search_found *found)
{
    bool is_long = found->kind != SEARCH_NO_URL;
    int rc = keep(finding->pages, found, found->link->nofollow, NULL, 0);

    if (rc < 0)
        return rc;
    return note_text(finding, found->link, NULL,
                     is_long ? (struct judgement){VERDICT_SKIPPED, REASON_LENGTH}
                             : (struct judgement){VERDICT_BROKEN, REASON_NOT_A_URL});
}

/* ---- a page ------------------------------------------------------------------------ */

static bool tells_links(const struct crawler *crawler, const struct target *page)
{
    return !crawler->takes_no_links && page->refetch != REFETCH_IDS &&
           (page->kind == TARGET_SITE || (page->kind == TARGET_FILE && page->is_start));
}

/* A <loc> of a sitemap is not a step of a calendar. */
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
    else if (!finding->tells_links)
        return 0;
    else if (found->kind == SEARCH_URL)
        finding->rc = note_url(finding, found);
    else
        finding->rc = note_no_url(finding, found);
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

bool page_search_is_due(const struct page_source *source)
{
    return source->has_body || has_headers(source);
}

/* Visit the links in all headers that may have some. */
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

static int search_source(struct page_search *pages, struct target *page,
                         const struct page_source *source,
                         const struct search_visitor *visitor)
{
    int rc = 0;

    if (has_headers(source))
        rc = search_links(pages->search, find_in_headers, (void *)source->response,
                          source->base, visitor);
    if (rc == 0 && source->has_body) {
        if (source->is_cut)
            search_break_off(pages->search);
        rc = search_end(pages->search, source->base, visitor);
        page->content = rc == 0 ? content_of(pages->search, source) : CONTENT_NONE;
    }
    return rc;
}

int page_search_end(struct page_search *pages, struct target *page,
                    const struct page_source *source, size_t *links, int *problem)
{
    struct finding finding = {
        .pages = pages, .page = page, .tells_links = tells_links(pages->crawler, page)};
    struct search_visitor visitor = {on_found, expect, expect_soon,
                                     page->kind == TARGET_FILE ? rebase : NULL, &finding};
    int rc;

    pages->id_count = 0;
    *problem = 0;
    rc = search_source(pages, page, source, &visitor);
    *links = finding.links;
    if (rc == 0)
        rc = text_checks_take(&pages->crawler->texts, page,
                              search_take_text(pages->search));
    if (rc == 0)
        return targets_keep_ids(&pages->crawler->targets, page, pages->ids,
                                pages->id_count);
    if (rc == -ECANCELED || rc == -ENOMEM || finding.rc < 0)
        return rc;
    *problem = rc;
    return 0;
}

/* ---- a page that was kept ---------------------------------------------------------- */

struct replaying {
    struct finding finding;
    const struct saved_urls *book;
};

static const char *kept_url(uint32_t number, size_t *fragment_at, void *arg)
{
    struct replaying *replaying = arg;

    return saved_urls_text(number, fragment_at, (void *)replaying->book);
}

static int on_kept(const struct search_found *found, void *arg)
{
    struct replaying *replaying = arg;
    struct search_found marked = *found;

    if (found->url != NULL)
        marked.mark = expect(found->url, &replaying->finding);
    return on_found(&marked, &replaying->finding);
}

static int keep_kept_ids(struct page_search *pages, struct target *page,
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
                       const struct store_page *kept, const struct saved_urls *book,
                       size_t *links, int *problem)
{
    struct replaying replaying = {
        {.pages = pages, .page = page, .tells_links = !pages->crawler->takes_no_links},
        book};
    struct link_blob_reader reader = {kept_url, on_kept, &replaying};
    int rc;

    *links = 0;
    *problem = kept->problem;
    if (kept->links == NULL)
        return 0;
    rc = link_blob_read(kept->links, kept->links_n, &reader);
    *links = replaying.finding.links;
    if (rc < 0 || kept->problem < 0 || (kept->flags & STORE_BODY) == 0)
        return rc;
    return keep_kept_ids(pages, page, kept);
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
                              .tells_links = !pages->crawler->takes_no_links};
    struct search_visitor visitor = {on_found, expect, expect_soon, NULL, &finding};
    char *url;
    bool is_new;

    *rules = NULL;
    if (robots_sitemap(host->rules, 0) == NULL)
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
    return search_links(pages->search, find_in_robots, host->rules, finding.page->url,
                        &visitor);
}

/* ---- its life ---------------------------------------------------------------------- */

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
