/*
 * search.c - see search.h
 *
 * Links are found in the event loop, because this takes only two milliseconds per
 * megabyte, and a page arrives in pieces of a few kilobytes. The first pieces of a page
 * are stored until its encoding is known. If the page needs a converter that is not open
 * yet, the whole page is stored. A Markdown page is also stored, and is parsed on a
 * thread when it is complete.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    for (size_t i = 0; i < AHEAD; i++) {
        html_buffer_finish(&search->ahead[i].text);
        free(search->ahead[i].room.bytes);
    }
    links_finish(&search->links);
    whatwg_url_finish(&search->base);
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

/* True if browsers read a page of this type as XHTML. */
static bool is_xml(const char *content_type)
{
    return is_type(content_type, "application/xhtml+xml") ||
           is_type(content_type, "application/xml") || is_type(content_type, "text/xml");
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

/* True for UTF-16. A sitemap in UTF-16 is read as XML, because expat can convert it. */
static bool is_utf16(const char *head, size_t n)
{
    return n >= 2 &&
           (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0);
}

/* Decide from the bytes received so far whether the page is a sitemap. */
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
    case SITEMAP_ATOM: /* in HTML, CDATA sections would be read as tags */
        return is_named || search->else_html;
    case SITEMAP_NO_XML:
        return is_named && (is_utf16(head, n) ||
                            (!search->else_html && memchr(head, '\0', n) == NULL));
    case SITEMAP_HTML:
    case SITEMAP_OTHER:
        break;
    }
    return false;
}

/*
 * True for XML of a type that servers use for all kinds of documents, unless its root is
 * that of a page. In such a document, <a href> is not a link.
 */
static bool is_other_xml(const struct search *search)
{
    return (is_type(search->content_type, "text/xml") ||
            is_type(search->content_type, "application/rss+xml") ||
            is_type(search->content_type, "application/atom+xml")) &&
           sitemap_root_of(search->head, search->head_n) == SITEMAP_OTHER;
}

/* Decide how to read a possible sitemap. Returns false if the page should be searched as
   HTML. */
static bool choose_sitemap(struct search *search)
{
    bool is_gzip = search->sitemap_mode == NAMED_SITEMAP &&
                   sitemap_is_gzip(search->head, search->head_n);

    search->knows_charset = true;
    search->type = PAGE_SITEMAP;
    search->encoding = is_gzip ? HELD : SITEMAP;
    if (is_gzip || is_sitemap(search))
        return true;
    search->type = search->else_html && !is_other_xml(search) ? PAGE_HTML : PAGE_NONE;
    search->encoding = IGNORED;
    return search->type == PAGE_NONE;
}

static int feed_sitemap(struct search *search, const char *bytes, size_t n)
{
    if (search->sitemap == NULL)
        search->sitemap = sitemap_create();
    return search->sitemap != NULL ? sitemap_feed(search->sitemap, bytes, n) : -ENOMEM;
}

/* Decompress the sitemap. Runs on a thread, because the result may be large. */
static int inflate_sitemap(void *arg)
{
    struct search *search = arg;

    return sitemap_inflate(search->sitemap, search->held.bytes, search->held.n);
}

int search_end_sitemap(struct search *search)
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

int search_process_piece(const char *html, size_t n, void *arg)
{
    struct search *search = arg;

    if (search->type == PAGE_TEXT)
        return html_buffer_add(&search->text, html, n, SIZE_MAX);
    if (search->wants_text && html_buffer_add(&search->text, html, n, SIZE_MAX) < 0)
        return -ENOMEM;
    return links_feed(&search->links, html, n);
}

/*
 * Choose how to decode the page. The converter of an earlier page stays open, because
 * most pages of a site have the same encoding.
 */
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
        return charset_convert(&search->converter, html, n, search_process_piece, search);
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
    return search_process_piece(html, n, search);
}

/* Open a converter. Runs on a thread, because iconv(3) may read files. */
static int open_converter(void *arg)
{
    struct search *search = arg;

    return charset_converter_open(&search->converter, &search->charset);
}

/*
 * Open a converter for the page. If iconv(3) does not support the encoding, ignore the
 * page's declaration.
 */
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

int search_feed_held(struct search *search)
{
    int rc = begin_converting(search);

    return rc == 0 ? feed_bytes(search, search->held.bytes, search->held.n) : rc;
}

/* Decide from the first bytes how to read a page without a Content-Type. */
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

int search_feed_head(struct search *search)
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
    rc = search_feed_head(search);
    return rc < 0 ? rc : feed_bytes(search, html + part, n - part);
}

int search_read_markdown(void *arg)
{
    struct search *search = arg;

    return markdown_read(
        search->held.bytes, search->held.n,
        (struct markdown_options){.wants_ids = true,
                                  .is_mdx = is_type(search->content_type, "text/mdx")},
        &search->markdown);
}
