/*
 * page_links.c - create the target, the reference and the record of a link on a page.
 */
#include "page_links.h"

#include "../base/array.h"
#include "../base/text.h"
#include "../judge/verdicts.h"
#include "../page/link/header_links.h"
#include "../scope/robots.h"
#include "../url/url.h"
#include "enqueue.h"
#include "save_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- links ------------------------------------------------------------------------- */

/* Report the link, and store in *is_known whether the baseline contains it. */
static int report_link(struct finding *finding, const struct link *link,
                       const char *target, const char *fragment, bool *is_known)
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

/*
 * Return the line number for the reference to a link: its line in the page, or 1 for a
 * link in a header. Headers have line 0, which a reference cannot store.
 */
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
static int add_link_reference(struct finding *finding, const struct link *link,
                              struct target *target, const char *reported_target,
                              const char *fragment)
{
    struct crawler *crawler = finding->pages->crawler;
    struct reference_place place = place_of(finding, link);
    int rc = report_link(finding, link, reported_target, fragment, &place.is_known),
        wanted;

    if (rc == 0)
        rc = references_add(&crawler->verdicts.references, &crawler->targets, target,
                            &place);
    wanted = verdicts_want(&crawler->verdicts,
                           /*
                            * even after an error, because some sinks may have got the
                            * link
                            */
                           target);
    return rc == 0 ? wanted : rc;
}

static bool saves_links(const struct page_search *pages)
{
    return saves_pages(pages->crawler) && !pages->is_replay;
}

/*
 * Add the link to the saved record of its page, if pages are saved. `number` is the
 * number of the URL in the crawl's file, or 0. `url` may be NULL.
 */
static int save_link(struct page_search *pages, const struct search_found *found,
                     bool nofollow, const struct url *url, uint32_t number)
{
    struct link link = *found->link;
    struct search_found kept = {found->kind, &link, url, 0};

    if (!saves_links(pages))
        return 0;
    link.nofollow = nofollow;
    link_blob_add(&pages->links, &kept, number, url != NULL ? url->href : NULL,
                  url != NULL ? url->n : 0);
    return pages->links.bytes.failed ? -ENOMEM : 0;
}

/*
 * Save a link that is followed. A crawl's file stores the number of the link's target. If
 * the target has no number yet, assign one.
 */
static int save_followed_link(struct page_search *pages, const struct search_found *found,
                              bool nofollow, const struct url *url,
                              const struct target *target)
{
    uint32_t number;

    if (pages->crawler->member != NULL) /* a shared crawl stores URLs */
        return save_link(pages, found, nofollow, url, 0);
    number = state_number_of(pages->crawler->saving.state, target);
    return number > 0 ? save_link(pages, found, nofollow, url, number) : -ENOMEM;
}

/*
 * Decide whether to fetch the target of a link. If this was decided before, only lower
 * the target's depth and number of redirects, if the path through this link is shorter.
 */
static int enqueue_linked_page(struct finding *finding, struct target *page)
{
    struct crawler *crawler = finding->pages->crawler;
    unsigned depth = finding->page->depth + 1U;
    int rc;

    if (!target_is_decided(page)) {
        if (page->hops == 0 || depth < page->depth)
            page->depth = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
        /* hops > 0: until now, the page was only reached through too many redirects */
        page->hops = 0;
        return enqueue_page(&crawler->enqueuer, page, finding->from);
    }
    rc = enqueue_at_depth(&crawler->enqueuer, page, depth);
    return rc == 0 && page->hops > 0 ? enqueue_nearer(&crawler->enqueuer, page, 0) : rc;
}

/* Decode the fragment in place. `url` must not be used afterwards. */
static char *decode_fragment(const struct url *url)
{
    char *fragment = url->href + url->fragment_at;

    fragment[url_decode(fragment, url->n - url->fragment_at)] = '\0';
    return fragment;
}

/*
 * Remove the fragment of a URL, and return the hash of the result. Called if fragments
 * are not checked.
 */
static uint64_t leave_out_fragment(const struct targets *targets, struct url *url)
{
    url->n = url->fragment_at - 1;
    url->href[url->n] = '\0';
    url->fragment_at = 0;
    return targets_expect(targets, url->href, url->n);
}

/* True if a path of at most `depth` links to the page is already known. */
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

/*
 * True if the link only adds a reference, because its target is known and no decision
 * about the target can change. This is the most frequent case.
 */
static bool is_repeated_link(const struct finding *finding, const struct link *link,
                             const struct url *url, bool is_followed,
                             const struct unseen *target)
{
    const struct crawler *crawler = finding->pages->crawler;
    const struct known *known = target->known;
    bool has_references = known->references > 0 || known->is_unreported ||
                          crawler->verdicts.references.takes_none;

    if (!known->is_wanted || !has_references || link->is_sitemap ||
        (crawler->saving.state != NULL && !finding->pages->is_replay &&
         known->number == 0))
        return false;
    return !is_followed ||
           is_near_enough(&crawler->targets, target, url, finding->page->depth + 1U);
}

/*
 * Add a reference without accessing the struct target, which may be on disk. So the URL
 * to report is taken from the link.
 */
static int note_repeated_link(struct finding *finding, const struct search_found *found,
                              struct url *url, bool is_followed,
                              const struct unseen *target)
{
    struct crawler *crawler = finding->pages->crawler;
    const struct link *link = found->link;
    struct reference_place place = place_of(finding, link);
    const char *fragment = NULL;
    int rc = save_link(finding->pages, found, !is_followed, url, target->known->number);

    if (rc < 0)
        return rc;
    if (url->fragment_at > 0) {
        fragment = decode_fragment(url);
        url->href[url->fragment_at - 1] = '\0';
    }
    rc = report_link(finding, link, url->href, fragment, &place.is_known);
    return rc == 0 ? references_add_unseen(&crawler->verdicts.references,
                                           &crawler->targets, target, &place)
                   : rc;
}

int page_note_link(struct finding *finding, const struct search_found *found)
{
    struct crawler *crawler = finding->pages->crawler;
    struct url url = *found->url;
    bool is_followed = !(found->link->nofollow || finding->pages->nofollow), is_new;
    const char *directive =
        url.is_plain ? NULL : text_checks_directive(found->link->reference);
    uint64_t hash = found->mark;
    struct unseen unseen;
    struct target *target;
    int rc = 0;

    if (crawler->options->fragments == FRAGMENTS_NONE && url.fragment_at > 0)
        hash = leave_out_fragment(&crawler->targets, &url);
    is_new = !targets_find_unseen(&crawler->targets, url.href, url.n, hash, &unseen);
    if (!is_new && directive == NULL &&
        is_repeated_link(finding, found->link, &url, is_followed, &unseen))
        return note_repeated_link(finding, found, &url, is_followed, &unseen);
    target = is_new ? targets_get_hashed(&crawler->targets, url.href, url.n, hash,
                                         url.fragment_at, &is_new)
                    : unseen.target;
    if (target == NULL)
        return -ENOMEM;
    if (saves_links(finding->pages))
        rc = save_followed_link(finding->pages, found, !is_followed, &url, target);
    target->page->is_sitemap |= found->link->is_sitemap;
    if (rc == 0)
        rc = add_link_reference(finding, found->link, target, target->page->url,
                                url.fragment_at > 0 ? decode_fragment(&url) : NULL);
    if (rc == 0 && is_followed)
        rc = enqueue_linked_page(finding, target->page);
    if (rc == 0 && is_new && target != target->page)
        rc = enqueue_fragment(&crawler->enqueuer, target);
    if (rc == 0 && is_followed && directive != NULL)
        rc = text_checks_add(&crawler->texts, finding->page, found->link, target->page,
                             directive);
    targets_remember(&crawler->targets, target);
    return rc;
}

/*
 * Return the target for a link that is not followed, with the link's text as its URL. If
 * the text is longer than --max-url-bytes, truncate it, and append a hash of the whole
 * text to keep different texts distinct.
 */
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

/* Create a target for a link that is not followed, and settle its verdict immediately. */
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
    rc = add_link_reference(finding, link, target, url != NULL ? text : NULL, fragment);
    if (rc < 0 || target->verdict != VERDICT_OPEN)
        return rc;
    return verdicts_settle_text(&crawler->verdicts, target, judgement, text, fragment);
}

/*
 * True for an absolute link "file:///..." to a file outside the root, which would not
 * work on a server or on another machine. Relative links such as "../README.md" may leave
 * the root, because the user may have named a subfolder of a repository.
 */
static bool leads_outside(const struct finding *finding, const struct search_found *found)
{
    const char *reference = found->link->reference;

    reference += strspn(reference, " \t\r\n\f");
    return strncasecmp(reference, "file:", 5) == 0 &&
           local_is_outside(&finding->pages->crawler->local, found->url->href);
}

/*
 * Record a link to a file outside the root as broken. Its target is written "file:/path",
 * with one slash, to distinguish it from the target "file:///path" of the file itself, to
 * which relative links may lead legitimately.
 */
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

/* Report a link that is not a valid URL, or whose URL is too long. */
static int note_no_url(struct finding *finding, const struct search_found *found)
{
    bool is_long = found->kind != SEARCH_NO_URL;
    int rc = save_link(finding->pages, found, found->link->nofollow, NULL, 0);

    if (rc < 0)
        return rc;
    return note_text(finding, found->link, NULL,
                     is_long ? (struct judgement){VERDICT_SKIPPED, REASON_LENGTH}
                             : (struct judgement){VERDICT_BROKEN, REASON_NOT_A_URL});
}

bool page_link_is_followed(const struct finding *finding,
                           const struct search_found *found)
{
    const struct url *url = found->url;

    if (found->kind != SEARCH_URL)
        return false;
    if (url->kind == URL_FILE)
        return finding->page->kind == TARGET_FILE && !leads_outside(finding, found);
    return url->kind == URL_WEB &&
           url->n <= finding->pages->crawler->options->max_url_bytes;
}

int page_note_text(struct finding *finding, const struct search_found *found)
{
    const struct url *url = found->url;
    int rc;

    if (found->kind != SEARCH_URL)
        return note_no_url(finding, found);
    if (url->kind == URL_FILE && finding->page->kind == TARGET_FILE)
        return note_outside(finding, found);
    rc = save_link(finding->pages, found, found->link->nofollow, url, 0);
    if (rc < 0)
        return rc;
    if (url_is_mistyped(url->href))
        return note_text(finding, found->link, NULL,
                         (struct judgement){VERDICT_BROKEN, REASON_NOT_A_URL});
    return note_text(finding, found->link, url,
                     (struct judgement){VERDICT_SKIPPED, url->kind == URL_WEB
                                                             ? REASON_LENGTH
                                                             : REASON_SCHEME});
}

/* ---- local files ------------------------------------------------------------------- */

int page_rebase(const char *reference, struct url *url, void *arg)
{
    struct finding *finding = arg;

    return local_rebase(&finding->pages->crawler->local, reference, url);
}
