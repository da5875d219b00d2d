/*
 * search_links.c - resolve and visit the links of a page that was searched.
 */
#include "search_inside.h"

#include "../base/text.h"
#include "charset.h"
#include "html/html_reference.h"
#include "markdown/markdown.h"
#include "page_text.h"
#include "plain_text.h"
#include "feed/sitemap.h"
#include "sniff.h"

#include <coil/executor.h>
#include <coil/task.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- its links --------------------------------------------------------------------- */

static struct ahead *ahead_at(struct search *search, size_t i)
{
    return &search->ahead[(search->first + i) % AHEAD];
}

static void drop_first(struct search *search)
{
    struct ahead *first = ahead_at(search, 0);

    if (first->url.href != first->room.bytes)
        free(first->url.href);
    first->url.href = NULL;
    search->first = (search->first + 1) % AHEAD;
    search->waiting--;
}

static int visit_first(struct search *search)
{
    const struct ahead *first = ahead_at(search, 0);
    const struct ahead *soon = ahead_at(search, SOON);
    const struct search_visitor *visitor = search->visitor;
    struct search_found found = {first->kind, &first->link, &first->url, first->mark};
    int rc;

    if (visitor->expect != NULL && search->waiting > SOON && soon->kind == SEARCH_URL)
        visitor->expect_soon(soon->mark, visitor->arg);
    rc = visitor->visit(&found, visitor->arg);
    drop_first(search);
    return rc;
}

static int visit_rest(struct search *search)
{
    int rc = 0;

    while (search->waiting > 0 && rc == 0)
        rc = visit_first(search);
    return rc;
}

/* Append a copy of the link to the ring. Returns NULL if memory runs out. */
static struct ahead *add_ahead(struct search *search, const struct link *link)
{
    struct ahead *last = ahead_at(search, search->waiting);

    last->link = *link;
    if (!link->stays) {
        html_buffer_clear(&last->text);
        if (html_buffer_add(&last->text, link->reference, strlen(link->reference) + 1,
                            SIZE_MAX) < 0)
            return NULL;
        last->link.reference = last->text.bytes;
    }
    search->waiting++;
    return last;
}

/*
 * True if the page is in Windows-1252, because it does not declare an encoding and is not
 * valid UTF-8.
 */
static bool is_windows_1252(const struct search *search)
{
    return search->encoding == AS_IT_IS && !search->charset.is_declared &&
           search->check.failed;
}

static bool is_ascii(const char *s, size_t n)
{
    while (n > 0 && (unsigned char)s[n - 1] < 0x80)
        n--;
    return n == 0;
}

/*
 * Encode the query of a URL in the encoding of its page. `url` was resolved with its
 * query encoded as UTF-8. So the query of the reference is encoded first, and the result
 * is resolved again. (HTML: encoding-parse a URL)
 */
static int encode_query(const struct search *search, const struct whatwg_url *base,
                        const char *reference, struct url *url)
{
    size_t end = strcspn(reference, "#");
    const char *query = memchr(reference, '?', end);
    struct text text = {0};
    struct url encoded;
    char *whole;
    int rc;

    if (url->kind != URL_WEB || query == NULL ||
        is_ascii(query, (size_t)(reference + end - query)))
        return 0;
    text_add(&text, reference, (size_t)(query - reference));
    charset_add_query(search->encoding == CONVERTED ? &search->converter : NULL, &text,
                      query, (size_t)(reference + end - query));
    text_add(&text, reference + end, strlen(reference + end));
    whole = text_take(&text);
    rc = whole != NULL ? url_parse(base, whole, &encoded) : -ENOMEM;
    free(whole);
    if (rc < 0)
        return rc;
    free(url->href);
    *url = encoded;
    return 0;
}

/* False for a <base> with "data:" or "javascript:", which is ignored. (HTML: set the
   frozen base URL) */
static bool may_be_base(const struct whatwg_url *url)
{
    return !whatwg_url_scheme_is(url, "data") && !whatwg_url_scheme_is(url, "javascript");
}

/*
 * Let the visitor replace the URL. `rc` is 0, or -EINVAL if the reference is not a valid
 * URL. Fails like the visitor's rebase().
 */
static int rebase_url(const struct search *search, const char *reference, struct url *url,
                      int rc)
{
    const struct search_visitor *visitor = search->visitor;

    if (rc < 0)
        url->href = NULL;
    return visitor->rebase(reference, url, visitor->arg);
}

/*
 * Resolve a reference relative to *base, and replace *base with the result if it is a
 * valid base URL. In a local file, "/x" means a path in the root folder. Returns 0 or
 * -ENOMEM.
 */
static int change_base(const struct search *search, const char *reference,
                       struct whatwg_url *base)
{
    const struct search_visitor *visitor = search->visitor;
    struct whatwg_url next = {0};
    struct url url;
    int rc = url_parse(base, reference, &url);

    if (visitor->rebase != NULL && (rc == -EINVAL || (rc == 0 && url.kind == URL_FILE)))
        rc = rebase_url(search, reference, &url, rc);
    if (rc == 0)
        rc = whatwg_url_parse(url.href, url.n, NULL, &next);
    free(url.href);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    if (!may_be_base(&next)) {
        whatwg_url_finish(&next);
        return 0;
    }
    whatwg_url_finish(base);
    *base = next;
    return 0;
}

/*
 * Find the base of a link for which link.base is not NULL: resolve `lines`, the URLs in
 * link.base, one after another, beginning with the base of the page. Returns 0 or
 * -ENOMEM. The caller must finish *base even after an error.
 */
static int find_own_base(const struct search *search, const char *lines,
                         struct whatwg_url *base)
{
    char *copy, *rest, *line;
    int rc = whatwg_url_parse(search->base.href, search->base.length, NULL, base);

    if (rc < 0)
        return rc;
    copy = rest = strdup(lines);
    if (copy == NULL)
        return -ENOMEM;
    while (rc == 0 && (line = strsep(&rest, "\n")) != NULL)
        rc = change_base(search, line, base);
    free(copy);
    return rc;
}

/*
 * Resolve a link's reference relative to `base`, and set found->url and found->kind.
 * Returns 0 or -ENOMEM.
 */
static int resolve_link(struct search *search, const struct whatwg_url *base,
                        struct ahead *found)
{
    const struct search_visitor *visitor = search->visitor;
    const char *reference = found->link.reference;
    struct url_room own = {NULL, 0}; /* for a URL that rebase() may free */
    int rc = url_parse_in(visitor->rebase == NULL ? &found->room : &own, base, reference,
                          &found->url);

    if (rc == 0 && !found->link.has_no_encoding &&
        (search->encoding == CONVERTED || is_windows_1252(search)))
        rc = encode_query(search, base, reference, &found->url);
    if (visitor->rebase != NULL && rc != -ENOMEM)
        rc = rebase_url(search, reference, &found->url, rc);
    if (rc == -ENOMEM)
        return rc;
    if (found->link.cut && (rc < 0 || found->url.kind != URL_OTHER))
        found->kind = SEARCH_TOO_LONG;
    else
        found->kind = rc < 0 ? SEARCH_NO_URL : SEARCH_URL;
    if (found->kind == SEARCH_URL && visitor->expect != NULL)
        found->mark = visitor->expect(&found->url, visitor->arg);
    return 0;
}

/* Resolve a link relative to its own base, which is then forgotten. */
static int resolve_from_own_base(struct search *search, struct ahead *found)
{
    struct whatwg_url own = {0};
    int rc = find_own_base(search, found->link.base, &own);

    found->link.base = NULL; /* the string is valid only during this call */
    if (rc == 0)
        rc = resolve_link(search, &own, found);
    whatwg_url_finish(&own);
    return rc;
}

static int on_link(const struct link *link, void *arg)
{
    struct search *search = arg;
    struct ahead *found;
    int rc = 0;

    if (link->kind == LINK_BASE)
        return change_base(search, link->reference, &search->base);
    found = add_ahead(search, link);
    if (found == NULL)
        return -ENOMEM;
    found->kind = SEARCH_ID;
    if (link->kind != LINK_ID && link->base != NULL)
        rc = resolve_from_own_base(search, found);
    else if (link->kind != LINK_ID)
        rc = resolve_link(search, &search->base, found);
    if (rc == 0 && search->waiting == AHEAD)
        rc = visit_first(search);
    if (rc == 0 && ++search->visited % LINKS_PER_TURN == 0)
        rc = coil_yield();
    return rc;
}

/* Drop the last line, which may end in the middle of a URL. */
static void drop_last_line(struct html_buffer *text)
{
    while (text->n > 0 && text->bytes[text->n - 1] != '\n' &&
           text->bytes[text->n - 1] != '\r')
        text->n--;
}

/* End a page that was cut off. */
static int end_cut_page(struct search *search)
{
    if (search->type == PAGE_MARKDOWN) {
        drop_last_line(&search->held);
        return coil_blocking(COIL_LANE_CPU, search_read_markdown, search);
    }
    if (search->type == PAGE_TEXT)
        drop_last_line(&search->text);
    else if (search->type != PAGE_SITEMAP)
        links_break_off(&search->links);
    else if (search->encoding == HELD || search->sitemap == NULL)
        return search_end_sitemap(search);
    return 0;
}

static int end_page(struct search *search)
{
    int rc = search->knows_charset ? 0 : search_feed_head(search);

    if (rc == 0 && search->encoding == TO_BE_OPENED)
        rc = search_feed_held(search);
    if (rc == 0 && search->is_cut)
        return end_cut_page(search);
    if (rc == 0 && search->type == PAGE_SITEMAP)
        return search_end_sitemap(search);
    if (rc == 0 && search->type == PAGE_MARKDOWN)
        rc = coil_blocking(COIL_LANE_CPU, search_read_markdown, search);
    if (rc == 0 && search->encoding == CONVERTED)
        rc = charset_convert_end(&search->converter, search_process_piece, search);
    return rc == 0 ? links_end(&search->links) : rc;
}

/* Prepare to visit links that are relative to `url`. */
static int begin_visits(struct search *search, const char *url,
                        const struct search_visitor *visitor)
{
    search->visited = 0;
    search->visitor = visitor;
    return url_parse_next(&search->base, url);
}

static int end_visits(struct search *search, int rc)
{
    if (rc == 0)
        rc = visit_rest(search);
    while (search->waiting > 0)
        drop_first(search);
    return rc;
}

/* True for HTML and style sheets, which have their links in search->links. */
static bool is_markup(const struct search *search)
{
    return search->type == PAGE_HTML || search->type == PAGE_SHEET ||
           search->type == PAGE_NONE;
}

/* Visit the links of a page that is neither HTML nor a style sheet. */
static int visit_other_page(struct search *search)
{
    if (search->type == PAGE_MARKDOWN)
        return markdown_visit(search->markdown, on_link, search);
    if (search->type == PAGE_TEXT)
        return plain_text_visit(search->text.bytes, search->text.n, on_link, search);
    return sitemap_visit(search->sitemap, on_link, search);
}

/* Convert *text from Windows-1252 to UTF-8. Returns 0 or -ENOMEM. */
static int convert_windows_1252(struct html_buffer *text)
{
    struct html_buffer converted = {NULL};
    size_t n = 0;

    if (html_buffer_reserve(&converted, 3 * text->n + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < text->n; i++)
        n += html_put_utf8(html_windows_1252((unsigned char)text->bytes[i]),
                           converted.bytes + n);
    converted.n = n;
    html_buffer_finish(text);
    *text = converted;
    return 0;
}

/* Extract the text of the page. Runs on a thread, because a page may be long. */
static int read_text(void *arg)
{
    struct search *search = arg;
    int rc = is_windows_1252(search) ? convert_windows_1252(&search->text) : 0;

    if (rc < 0)
        return rc;
    return page_text(search->text.n > 0 ? search->text.bytes : "", search->text.n,
                     &search->page_text);
}

static int find_text(struct search *search)
{
    if (search->is_cut || search->type != PAGE_HTML)
        return 0;
    return coil_blocking(COIL_LANE_CPU, read_text, search);
}

int search_end(struct search *search, const char *url,
               const struct search_visitor *visitor)
{
    int rc = end_page(search);

    if (rc == 0 && search->wants_text)
        rc = find_text(search);
    if (rc == 0)
        rc = begin_visits(search, url, visitor);
    if (rc == 0) {
        rc = is_markup(search)
                 ? links_visit(&search->links, is_windows_1252(search), on_link, search)
                 : visit_other_page(search);
        rc = end_visits(search, rc);
    }
    search_cancel(search);
    return rc;
}

int search_links(struct search *search,
                 int (*find)(links_visit_function visit, void *visit_arg, void *arg),
                 void *arg, const char *url, const struct search_visitor *visitor)
{
    int rc = begin_visits(search, url, visitor);

    return rc == 0 ? end_visits(search, find(on_link, search, arg)) : rc;
}

/* Drop the page and free its memory, which an idle worker must not hold. */
void search_cancel(struct search *search)
{
    html_buffer_finish(&search->held);
    html_buffer_finish(&search->text);
    markdown_destroy(search->markdown);
    search->markdown = NULL;
    sitemap_destroy(search->sitemap);
    search->sitemap = NULL;
    links_reset(&search->links);
}
