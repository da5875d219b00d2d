/*
 * search.c - from the bytes of a page to URLs: decode the page, find its links, resolve
 * them.
 *
 * This runs in the event loop: finding links takes two milliseconds for a megabyte, and a
 * page arrives in pieces of some kilobytes. The first pieces are held until the encoding
 * is known. The first page in an encoding needs a converter that is not open yet, and is
 * held to its end. Markdown is held as well, and then read on a thread.
 */
#include "search.h"

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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* After this many links other tasks run. */
#define LINKS_PER_TURN 1000

enum encoding {
    AS_IT_IS,     /* UTF-8, or Windows-1252 if it is not valid UTF-8 */
    CONVERTED,    /* by the open converter */
    TO_BE_OPENED, /* a converter must be opened first */
    HELD,         /* until the end of the page */
    SITEMAP,      /* the sitemap declares its own encoding */
    IGNORED,
};

/* The type of the page. */
enum page_type {
    PAGE_HTML,
    PAGE_MARKDOWN,
    PAGE_SHEET,
    PAGE_TEXT,
    PAGE_SITEMAP,
    PAGE_NONE
};

/* Which other types are possible. */
enum sitemap_mode { NO_SITEMAP, MAY_BE_FEED, MAY_BE_SITEMAP, NAMED_SITEMAP };

#define PROBLEM_BYTES 128

/*
 * The number of links between finding a link and visiting it. Meanwhile the memory that
 * the visit needs is loaded into the CPU cache.
 */
#define AHEAD 8
#define SOON (AHEAD / 2)

struct ahead {
    enum search_kind kind;
    struct link link;
    struct html_buffer text; /* link.reference */
    struct url url;          /* for SEARCH_URL */
    uint64_t mark;
};

struct search {
    struct links links;
    char content_type[256]; /* the beginning, which includes the charset */
    enum page_type type;
    enum sitemap_mode sitemap_mode;
    bool else_html;
    bool is_unknown, takes_text; /* see search_expect_unknown() */
    bool is_cut;                 /* see search_break_off() */
    bool wants_text;             /* see search_want_text() */
    char *page_text;             /* of the last page */
    struct sitemap *sitemap;
    char problem[PROBLEM_BYTES];
    struct charset charset;
    bool knows_charset;
    enum encoding encoding;
    /* open if `opened` is not ""; `opened` is its encoding */
    struct charset_converter converter;
    char opened[CHARSET_BYTES];
    struct html_buffer held; /* bytes that wait for a converter */
    struct html_buffer text; /* plain text, or a page whose text is wanted, in UTF-8 */
    struct markdown *markdown;
    struct charset_check check;
    char head[CHARSET_HEAD_BYTES];
    size_t head_n;
    /* While links are visited: */
    struct whatwg_url base;
    size_t visited;
    const struct search_visitor *visitor;
    struct ahead ahead[AHEAD]; /* a ring: [first, first + waiting) */
    size_t first, waiting;
};

struct search *search_create(void)
{
    struct search *search = calloc(1, sizeof *search);

    if (search == NULL)
        return NULL;
    links_init(&search->links);
    search->links.wants_ids = search->links.wants_css = true;
    return search;
}

static void close_converter(struct search *search)
{
    if (search->opened[0] != '\0')
        charset_converter_close(&search->converter);
    search->opened[0] = '\0';
}

void search_destroy(struct search *search)
{
    if (search == NULL)
        return;
    close_converter(search);
    html_buffer_finish(&search->held);
    html_buffer_finish(&search->text);
    free(search->page_text);
    markdown_destroy(search->markdown);
    sitemap_destroy(search->sitemap);
    for (size_t i = 0; i < AHEAD; i++)
        html_buffer_finish(&search->ahead[i].text);
    links_finish(&search->links);
    free(search);
}

void search_want_rel(struct search *search)
{
    search->links.wants_rel = true;
}

void search_leave_out_css(struct search *search)
{
    search->links.wants_css = false;
}

bool search_has_ids(const struct search *search)
{
    return search->type == PAGE_HTML || search->type == PAGE_MARKDOWN;
}

bool search_was_markdown(const struct search *search)
{
    return search->type == PAGE_MARKDOWN;
}

bool search_was_page(const struct search *search)
{
    return search->type != PAGE_NONE;
}

const char *search_problem(const struct search *search)
{
    return search->problem[0] != '\0' ? search->problem : NULL;
}

static bool is_type(const char *content_type, const char *type)
{
    return content_type != NULL && strncasecmp(content_type, type, strlen(type)) == 0;
}

static enum page_type type_of(const char *content_type)
{
    if (is_type(content_type, "text/markdown") || is_type(content_type, "text/mdx"))
        return PAGE_MARKDOWN;
    if (is_type(content_type, "text/plain"))
        return PAGE_TEXT;
    return is_type(content_type, "text/css") ? PAGE_SHEET : PAGE_HTML;
}

/* True for XHTML, as in browsers. */
static bool is_xml(const char *content_type)
{
    return is_type(content_type, "application/xhtml+xml") ||
           is_type(content_type, "application/xml");
}

void search_begin(struct search *search, const char *content_type)
{
    search_cancel(search);
    snprintf(search->content_type, sizeof search->content_type, "%s",
             content_type != NULL ? content_type : "");
    search->type = type_of(content_type);
    if (search->type == PAGE_SHEET)
        links_expect_sheet(&search->links);
    if (is_xml(content_type))
        links_expect_xml(&search->links);
    search->knows_charset = search->type == PAGE_MARKDOWN;
    search->encoding = search->knows_charset ? HELD : AS_IT_IS;
    search->sitemap_mode = NO_SITEMAP;
    search->is_unknown = search->is_cut = search->wants_text = false;
    free(search->page_text);
    search->page_text = NULL;
    search->problem[0] = '\0';
    search->check = (struct charset_check){0, false};
    search->head_n = 0;
}

void search_expect_sitemap(struct search *search, bool is_named, bool else_html)
{
    search->sitemap_mode = is_named ? NAMED_SITEMAP : MAY_BE_SITEMAP;
    search->else_html = else_html;
}

void search_expect_feed(struct search *search)
{
    search->sitemap_mode = MAY_BE_FEED;
    search->else_html = true;
}

void search_expect_unknown(struct search *search, bool takes_text)
{
    search->is_unknown = true;
    search->takes_text = takes_text;
}

void search_want_text(struct search *search)
{
    search->wants_text = true;
}

char *search_take_text(struct search *search)
{
    char *text = search->page_text;

    search->page_text = NULL;
    return text;
}

void search_break_off(struct search *search)
{
    search->is_cut = true;
}

bool search_is_ignored(const struct search *search)
{
    return search->type == PAGE_NONE;
}

/* ---- sitemaps ---------------------------------------------------------------------- */

/* Sitemaps in UTF-16 must be XML, which expat reads. */
static bool is_utf16(const char *head, size_t n)
{
    return n >= 2 &&
           (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0);
}

/* Decide by the bytes that have arrived. */
static bool is_sitemap(const struct search *search)
{
    bool is_named = search->sitemap_mode == NAMED_SITEMAP;
    const char *head = search->head;
    size_t n = search->head_n;

    switch (sitemap_root_of(head, n)) {
    case SITEMAP_URLSET:
    case SITEMAP_INDEX:
        return search->sitemap_mode != MAY_BE_FEED;
    case SITEMAP_RSS:
    case SITEMAP_ATOM: /* HTML would treat its CDATA sections as tags */
        return is_named || search->else_html;
    case SITEMAP_NO_XML:
        return is_named && (is_utf16(head, n) ||
                            (!search->else_html && memchr(head, '\0', n) == NULL));
    case SITEMAP_OTHER:
        break;
    }
    return false;
}

/* Returns false if the page is to be searched as HTML. */
static bool choose_sitemap(struct search *search)
{
    bool is_gzip = search->sitemap_mode == NAMED_SITEMAP &&
                   sitemap_is_gzip(search->head, search->head_n);

    search->knows_charset = true;
    search->type = PAGE_SITEMAP;
    search->encoding = is_gzip ? HELD : SITEMAP;
    if (is_gzip || is_sitemap(search))
        return true;
    search->type = search->else_html ? PAGE_HTML : PAGE_NONE;
    search->encoding = IGNORED;
    return !search->else_html;
}

static int feed_sitemap(struct search *search, const char *bytes, size_t n)
{
    if (search->sitemap == NULL)
        search->sitemap = sitemap_create();
    return search->sitemap != NULL ? sitemap_feed(search->sitemap, bytes, n) : -ENOMEM;
}

/* Runs on a thread, because the result may be large. */
static int inflate_sitemap(void *arg)
{
    struct search *search = arg;

    return sitemap_inflate(search->sitemap, search->held.bytes, search->held.n);
}

static int end_sitemap(struct search *search)
{
    int rc;

    if (search->sitemap == NULL)
        search->sitemap = sitemap_create();
    if (search->sitemap == NULL)
        return -ENOMEM;
    rc = search->encoding == HELD ? coil_blocking(COIL_LANE_CPU, inflate_sitemap, search)
                                  : sitemap_end(search->sitemap);
    if (sitemap_problem(search->sitemap) != NULL)
        snprintf(search->problem, sizeof search->problem, "%s",
                 sitemap_problem(search->sitemap));
    return rc;
}

/* ---- a page ------------------------------------------------------------------------ */

static int process_piece(const char *html, size_t n, void *arg)
{
    struct search *search = arg;

    if (search->type == PAGE_TEXT)
        return html_buffer_add(&search->text, html, n, SIZE_MAX);
    if (search->wants_text && html_buffer_add(&search->text, html, n, SIZE_MAX) < 0)
        return -ENOMEM;
    return links_feed(&search->links, html, n);
}

/* Most pages of a site have the same encoding, so that one converter remains open. */
static enum encoding choose_encoding(struct search *search)
{
    if (charset_is_utf8(&search->charset))
        return AS_IT_IS;
    if (strcmp(search->charset.label, search->opened) != 0)
        return TO_BE_OPENED;
    charset_converter_reset(&search->converter);
    return CONVERTED;
}

static int feed_bytes(struct search *search, const char *html, size_t n)
{
    switch (search->encoding) {
    case CONVERTED:
        return charset_convert(&search->converter, html, n, process_piece, search);
    case TO_BE_OPENED:
    case HELD:
        return html_buffer_add(&search->held, html, n, SIZE_MAX);
    case SITEMAP:
        return feed_sitemap(search, html, n);
    case IGNORED:
        return 0;
    case AS_IT_IS:
        break;
    }
    if (!search->charset.is_declared)
        charset_check_utf8(&search->check, html, n);
    return process_piece(html, n, search);
}

/* Runs on a thread, because it may read files. */
static int open_converter(void *arg)
{
    struct search *search = arg;

    return charset_converter_open(&search->converter, &search->charset);
}

/* If iconv(3) does not know the encoding, ignore the declaration. */
static int begin_converting(struct search *search)
{
    int rc;

    close_converter(search);
    rc = coil_blocking(COIL_LANE_FILE, open_converter, search);
    if (rc == -EAGAIN)
        rc = open_converter(search);
    if (rc < 0 && rc != -EINVAL)
        return rc;
    search->charset.is_declared = rc == 0;
    search->encoding = rc == 0 ? CONVERTED : AS_IT_IS;
    if (rc == 0)
        memcpy(search->opened, search->charset.label, sizeof search->opened);
    return 0;
}

static int feed_held(struct search *search)
{
    int rc = begin_converting(search);

    return rc == 0 ? feed_bytes(search, search->held.bytes, search->held.n) : rc;
}

/* Decide by the first bytes how to read a page without a type. */
static void choose_type(struct search *search)
{
    enum sniffed sniffed = sniff(search->head, search->head_n);

    if (sniffed != SNIFFED_XML && search->sitemap_mode != NAMED_SITEMAP)
        search->sitemap_mode = NO_SITEMAP;
    if (sniffed == SNIFFED_XML)
        links_expect_xml(&search->links);
    else if (sniffed == SNIFFED_TEXT && search->takes_text)
        search->type = PAGE_TEXT;
    else if (sniffed != SNIFFED_HTML)
        search->type = PAGE_NONE;
}

static int feed_head(struct search *search)
{
    size_t mark_bytes;
    int rc = 0;

    if (search->is_unknown)
        choose_type(search);
    if (search->type == PAGE_NONE && search->sitemap_mode == NO_SITEMAP) {
        search->knows_charset = true;
        search->encoding = IGNORED;
        return 0;
    }
    if (search->sitemap_mode != NO_SITEMAP && choose_sitemap(search))
        return feed_bytes(search, search->head, search->head_n);
    if (search->type == PAGE_SHEET || search->type == PAGE_TEXT)
        charset_of_sheet(&search->charset, search->content_type, search->head,
                         search->head_n);
    else
        rc = charset_of(&search->charset, search->content_type, search->head,
                        search->head_n);
    if (rc < 0)
        return rc;
    search->knows_charset = true;
    search->encoding = choose_encoding(search);
    mark_bytes = search->charset.mark_bytes;
    return feed_bytes(search, search->head + mark_bytes, search->head_n - mark_bytes);
}

int search_feed(struct search *search, const char *html, size_t n)
{
    size_t room = sizeof search->head - search->head_n, part = n < room ? n : room;
    int rc;

    if (search->knows_charset)
        return feed_bytes(search, html, n);
    memcpy(search->head + search->head_n, html, part);
    search->head_n += part;
    if (search->head_n < sizeof search->head)
        return 0;
    rc = feed_head(search);
    return rc < 0 ? rc : feed_bytes(search, html + part, n - part);
}

/* Runs on a thread: a long text takes a while, and needs more stack than a task has. */
static int read_markdown(void *arg)
{
    struct search *search = arg;

    return markdown_read(
        search->held.bytes, search->held.n,
        (struct markdown_options){.wants_ids = true,
                                  .is_mdx = is_type(search->content_type, "text/mdx")},
        &search->markdown);
}

/* ---- its links --------------------------------------------------------------------- */

static struct ahead *ahead_at(struct search *search, size_t i)
{
    return &search->ahead[(search->first + i) % AHEAD];
}

static void drop_first(struct search *search)
{
    struct ahead *first = ahead_at(search, 0);

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

/* Append a copy of the link to the ring. NULL without memory. */
static struct ahead *add_ahead(struct search *search, const struct link *link)
{
    struct ahead *last = ahead_at(search, search->waiting);

    html_buffer_clear(&last->text);
    if (html_buffer_add(&last->text, link->reference, strlen(link->reference) + 1,
                        SIZE_MAX) < 0)
        return NULL;
    last->link = *link;
    last->link.reference = last->text.bytes;
    search->waiting++;
    return last;
}

/* True if the encoding is not declared and the page is not valid UTF-8. */
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
 * A query must be in the encoding of its page, except in style sheets. Resolve `url`,
 * whose query is in UTF-8, again. (HTML: encoding-parse a URL)
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

/* A base that no URL can be relative to is ignored. (HTML: set the frozen base URL) */
static bool may_be_base(const struct whatwg_url *url)
{
    return !whatwg_url_scheme_is(url, "data") && !whatwg_url_scheme_is(url, "javascript");
}

/* `rc` is the result of resolving: 0 or -EINVAL. Fails as the visitor's function. */
static int rebase_url(const struct search *search, const char *reference, struct url *url,
                      int rc)
{
    const struct search_visitor *visitor = search->visitor;

    if (rc < 0)
        url->href = NULL;
    return visitor->rebase(reference, url, visitor->arg);
}

/*
 * Resolve a reference against *base, and replace *base by the result if it is valid. For
 * a local file, "/x" is in the root folder. Returns 0 or -ENOMEM.
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

/* Find the base of a single link. Returns 0 or -ENOMEM. Finish *base in any case. */
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

static int resolve_link(struct search *search, struct ahead *found,
                        const struct whatwg_url *base)
{
    const struct search_visitor *visitor = search->visitor;
    int rc = url_parse(base, found->link.reference, &found->url);

    if (rc == 0 && !found->link.has_no_encoding &&
        (search->encoding == CONVERTED || is_windows_1252(search)))
        rc = encode_query(search, base, found->link.reference, &found->url);
    if (visitor->rebase != NULL && rc != -ENOMEM)
        rc = rebase_url(search, found->link.reference, &found->url, rc);
    return rc;
}

static int find_url(struct search *search, struct ahead *found)
{
    const struct search_visitor *visitor = search->visitor;
    struct whatwg_url own = {0};
    const struct whatwg_url *base = &search->base;
    int rc = 0;

    if (found->link.base != NULL) {
        rc = find_own_base(search, found->link.base, &own);
        base = &own;
    }
    if (rc == 0)
        rc = resolve_link(search, found, base);
    found->link.base = NULL; /* valid only during the call */
    whatwg_url_finish(&own);
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
    if (link->kind != LINK_ID)
        rc = find_url(search, found);
    if (rc == 0 && search->waiting == AHEAD)
        rc = visit_first(search);
    if (rc == 0 && ++search->visited % LINKS_PER_TURN == 0)
        rc = coil_yield();
    return rc;
}

/* Drop the last line, which is incomplete and may end within a URL. */
static void drop_last_line(struct html_buffer *text)
{
    while (text->n > 0 && text->bytes[text->n - 1] != '\n' &&
           text->bytes[text->n - 1] != '\r')
        text->n--;
}

/* End a page whose rest is missing. */
static int end_cut_page(struct search *search)
{
    if (search->type == PAGE_MARKDOWN) {
        drop_last_line(&search->held);
        return coil_blocking(COIL_LANE_CPU, read_markdown, search);
    }
    if (search->type == PAGE_TEXT)
        drop_last_line(&search->text);
    else if (search->type != PAGE_SITEMAP)
        links_break_off(&search->links);
    else if (search->encoding == HELD || search->sitemap == NULL)
        return end_sitemap(search);
    return 0;
}

static int end_page(struct search *search)
{
    int rc = search->knows_charset ? 0 : feed_head(search);

    if (rc == 0 && search->encoding == TO_BE_OPENED)
        rc = feed_held(search);
    if (rc == 0 && search->is_cut)
        return end_cut_page(search);
    if (rc == 0 && search->type == PAGE_SITEMAP)
        return end_sitemap(search);
    if (rc == 0 && search->type == PAGE_MARKDOWN)
        rc = coil_blocking(COIL_LANE_CPU, read_markdown, search);
    if (rc == 0 && search->encoding == CONVERTED)
        rc = charset_convert_end(&search->converter, process_piece, search);
    return rc == 0 ? links_end(&search->links) : rc;
}

/* Begin visits relative to `url`. */
static int begin_visits(struct search *search, const char *url,
                        const struct search_visitor *visitor)
{
    search->visited = 0;
    search->visitor = visitor;
    return whatwg_url_parse(url, strlen(url), NULL, &search->base);
}

static int end_visits(struct search *search, int rc)
{
    if (rc == 0)
        rc = visit_rest(search);
    while (search->waiting > 0)
        drop_first(search);
    whatwg_url_finish(&search->base);
    return rc;
}

static int visit_page(struct search *search)
{
    if (search->type == PAGE_MARKDOWN)
        return markdown_visit(search->markdown, on_link, search);
    if (search->type == PAGE_TEXT)
        return plain_text_visit(search->text.bytes, search->text.n, on_link, search);
    if (search->type == PAGE_SITEMAP)
        return sitemap_visit(search->sitemap, on_link, search);
    return links_visit(&search->links, is_windows_1252(search), on_link, search);
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

/* Runs on a thread, because a page may be long. */
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
    if (!search->wants_text || search->is_cut || search->type != PAGE_HTML)
        return 0;
    return coil_blocking(COIL_LANE_CPU, read_text, search);
}

int search_end(struct search *search, const char *url,
               const struct search_visitor *visitor)
{
    int rc = end_page(search);

    if (rc == 0)
        rc = find_text(search);
    if (rc == 0)
        rc = begin_visits(search, url, visitor);
    if (rc == 0)
        rc = end_visits(search, visit_page(search));
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

/* Free the memory of the page, which is not needed while waiting for the next one. */
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
