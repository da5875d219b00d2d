/*
 * sitemap.c - find the URLs in a sitemap or a feed.
 *
 *     bytes --> process_bytes: the first byte that is not blank
 *                  |-- '<' --> expat --> on_start, on_text, on_end
 *                  '-- else --> process_lines
 *
 * URLs are stored one after another, as in links.c, until they are visited.
 *
 * The size of tokens and the depth of elements are limited, because expat reads an
 * unfinished token again with each piece, and stores all open elements.
 */
#include "sitemap_inside.h"

#include "../../base/array.h"
#include "../../base/ascii.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- counting ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum sitemap_root root;
} roots[] = {
    {"html", SITEMAP_HTML}, {"urlset", SITEMAP_URLSET}, {"sitemapindex", SITEMAP_INDEX},
    {"rss", SITEMAP_RSS},   {"RDF", SITEMAP_RSS},       {"feed", SITEMAP_ATOM}};

enum sitemap_root sitemap_root_of_name(const char *name, size_t n)
{
    const char *colon = memrchr(name, ':', n);

    if (colon != NULL) {
        n -= (size_t)(colon + 1 - name);
        name = colon + 1;
    }
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
        if (strlen(roots[i].name) == n && memcmp(roots[i].name, name, n) == 0)
            return roots[i].root;
    return SITEMAP_OTHER;
}

const char *sitemap_local_name(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon != NULL ? colon + 1 : name;
}

/* ---- the first bytes --------------------------------------------------------------- */

bool sitemap_is_blank(char c)
{
    return c != '\0' && strchr(BLANK, c) != NULL;
}

/* Return the address after the next occurrence of `what`, or `end` if there is none. */
static const char *skip_past(const char *s, const char *end, const char *what)
{
    const char *found = memmem(s, (size_t)(end - s), what, strlen(what));

    return found != NULL ? found + strlen(what) : end;
}

static bool begins_with(const char *s, const char *end, const char *what)
{
    size_t n = strlen(what);

    return (size_t)(end - s) >= n && memcmp(s, what, n) == 0;
}

/*
 * Return the address after the '>' that ends a document type. Skip declarations inside
 * the document type, which also end with '>'.
 */
static const char *skip_doctype(const char *s, const char *end)
{
    const char *close = skip_past(s, end, ">");

    if (memchr(s, '[', (size_t)(close - s)) != NULL)
        return skip_past(skip_past(s, end, "]"), end, ">");
    return close;
}

enum sitemap_root sitemap_root_of(const char *bytes, size_t n)
{
    const char *s = bytes, *end = bytes + n, *name;

    if (begins_with(s, end, "\xef\xbb\xbf"))
        s += 3;
    for (bool is_first = true;; is_first = false) {
        while (s < end && sitemap_is_blank(*s))
            s++;
        if (s == end || *s != '<')
            return is_first && s < end ? SITEMAP_NO_XML : SITEMAP_OTHER;
        if (begins_with(s, end, "<?"))
            s = skip_past(s, end, "?>");
        else if (begins_with(s, end, "<!--"))
            s = skip_past(s + 4, end, "-->");
        else if (begins_with(s, end, "<!"))
            s = skip_doctype(s, end);
        else
            break;
    }
    name = ++s;
    while (s < end && !sitemap_is_blank(*s) && *s != '>' && *s != '/')
        s++;
    return s < end ? sitemap_root_of_name(name, (size_t)(s - name)) : SITEMAP_OTHER;
}

bool sitemap_is_gzip(const char *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

/* ---- what is wrong ----------------------------------------------------------------- */

void sitemap_stop(struct sitemap *sitemap, const char *problem)
{
    if (sitemap->is_over)
        return;
    sitemap->is_over = true;
    snprintf(sitemap->problem, sizeof sitemap->problem, "%s", problem);
    if (sitemap->parser != NULL)
        XML_StopParser(sitemap->parser, XML_FALSE);
}

void sitemap_fail(struct sitemap *sitemap, int rc)
{
    if (sitemap->rc == 0)
        sitemap->rc = rc;
    sitemap_stop(sitemap, "");
}

/* ---- URLs -------------------------------------------------------------------------- */

void sitemap_store_url(struct sitemap *sitemap, const char *url, size_t n, size_t source,
                       bool cut, struct html_position place)
{
    struct entry entry = {.start = (uint32_t)sitemap->bytes.n,
                          .place = place,
                          .source = (uint8_t)source,
                          .cut = cut};

    n = strnlen(url, n);
    entry.n = (uint32_t)n;
    if (n == 0)
        return;
    entry.base = sitemap_store_base(sitemap);
    if ((sitemap->count == sitemap->capacity &&
         array_grow(&sitemap->entries, &sitemap->capacity, sizeof *sitemap->entries) <
             0) ||
        html_buffer_add(&sitemap->bytes, url, n, KEPT_BYTES_MAX) < 0)
        sitemap_fail(sitemap, -ENOMEM);
    else if (sitemap->bytes.cut)
        sitemap_fail(sitemap, -EMSGSIZE);
    else
        sitemap->entries[sitemap->count++] = entry;
}

bool sitemap_may_list(struct sitemap *sitemap)
{
    if (sitemap->listed++ < SITEMAP_URLS)
        return true;
    sitemap_stop(sitemap, TOO_MANY_URLS);
    return false;
}

void sitemap_store_text(struct sitemap *sitemap, size_t source)
{
    struct html_buffer *text = &sitemap->text;

    while (text->n > 0 && sitemap_is_blank(text->bytes[text->n - 1]))
        text->n--;
    if (text->n > 0)
        sitemap_store_url(sitemap, text->bytes, text->n, source, text->cut,
                          sitemap->place);
    html_buffer_clear(text);
    sitemap->has_text = false;
}

void sitemap_add_text(struct sitemap *sitemap, const char *bytes, size_t n,
                      struct html_position place)
{
    struct html_counter counter = {place, false};
    size_t blank = 0;

    while (!sitemap->has_text && blank < n && sitemap_is_blank(bytes[blank]))
        blank++;
    if (blank == n)
        return;
    if (!sitemap->has_text) {
        html_count(&counter, bytes, blank);
        sitemap->place = counter.place;
        sitemap->has_text = true;
    }
    if (html_buffer_add(&sitemap->text, bytes + blank, n - blank, HTML_VALUE_BYTES) < 0)
        sitemap_fail(sitemap, -ENOMEM);
}

/* ---- lines ------------------------------------------------------------------------- */

static void end_line(struct sitemap *sitemap)
{
    if (sitemap->has_text && sitemap_may_list(sitemap))
        sitemap_store_text(sitemap, 0);
}

static void process_lines(struct sitemap *sitemap, const char *bytes, size_t n)
{
    const char *s = bytes, *end = bytes + n;

    while (s < end && !sitemap->is_over) {
        const char *line = s;

        while (s < end && *s != '\n' && *s != '\r')
            s++;
        sitemap_add_text(sitemap, line, (size_t)(s - line), sitemap->counter.place);
        if (s < end) {
            end_line(sitemap);
            s++;
        }
        html_count(&sitemap->counter, line, (size_t)(s - line));
    }
}

/* ---- any --------------------------------------------------------------------------- */

static bool is_mark(const struct sitemap *sitemap, char c)
{
    static const char mark[] = "\xef\xbb\xbf";

    return sitemap->mark_n < 3 && c == mark[sitemap->mark_n];
}

/* True if XML may begin with this byte: '<', or the first byte of a UTF-16 byte order
   mark. */
static bool begins_xml(char c)
{
    return c == '<' || c == '\xff' || c == '\xfe';
}

/*
 * Skip white space and a byte order mark, and return the address after them. If a byte
 * follows, use it to decide whether the document is XML or a list of URLs.
 */
static const char *skip_beginning(struct sitemap *sitemap, const char *s, const char *end)
{
    while (s < end) {
        if (is_mark(sitemap, *s))
            sitemap->mark_n++;
        else if (sitemap_is_blank(*s))
            html_count(&sitemap->counter, s, 1);
        else
            break;
        s++;
    }
    if (s == end)
        return s;
    if (begins_xml(*s))
        sitemap_begin_xml(sitemap);
    else
        sitemap->form = LINES;
    return s;
}

static void process_bytes(struct sitemap *sitemap, const char *bytes, size_t n)
{
    const char *s = bytes, *end = bytes + n;

    if (sitemap->form == UNKNOWN)
        s = skip_beginning(sitemap, s, end);
    if (s == end || sitemap->is_over)
        return;
    if (sitemap->form == XML)
        sitemap_process_xml(sitemap, s, (size_t)(end - s), false);
    else
        process_lines(sitemap, s, (size_t)(end - s));
}

int sitemap_feed(struct sitemap *sitemap, const char *bytes, size_t n)
{
    while (n > 0 && !sitemap->is_over) {
        size_t part = n < PIECE_BYTES ? n : PIECE_BYTES;

        if (sitemap->total + part > SITEMAP_BYTES) {
            sitemap_stop(sitemap, TOO_MANY_BYTES);
            break;
        }
        sitemap->total += part;
        process_bytes(sitemap, bytes, part);
        bytes += part;
        n -= part;
    }
    return sitemap->rc;
}

int sitemap_end(struct sitemap *sitemap)
{
    if (sitemap->form == LINES && !sitemap->is_over)
        end_line(sitemap);
    else if (sitemap->form == XML && !sitemap->is_over)
        sitemap_process_xml(sitemap, "", 0, true);
    return sitemap->rc;
}

/* ---- gzip -------------------------------------------------------------------------- */

static void *allocate_items(void *arg, unsigned count, unsigned n)
{
    (void)arg;
    return calloc(count, n);
}

static void release_items(void *arg, void *old)
{
    (void)arg;
    free(old);
}

/*
 * Decompress one piece. Returns Z_OK if more data may follow, otherwise another status of
 * zlib.
 */
static int inflate_piece(struct sitemap *sitemap, z_stream *stream)
{
    unsigned char piece[PIECE_BYTES];
    int code;

    stream->next_out = piece;
    stream->avail_out = sizeof piece;
    code = inflate(stream, Z_NO_FLUSH);
    sitemap_feed(sitemap, (char *)piece, sizeof piece - stream->avail_out);
    if (code == Z_STREAM_END &&
        sitemap_is_gzip((char *)stream->next_in, stream->avail_in))
        return inflateReset(stream); /* another member follows */
    return code;                     /* ignore trailing garbage, like gzip(1) */
}

int sitemap_inflate(struct sitemap *sitemap, const char *bytes, size_t n)
{
    z_stream stream = {.next_in = (unsigned char *)bytes,
                       .avail_in = (unsigned)n,
                       .zalloc = allocate_items,
                       .zfree = release_items};
    int code = inflateInit2(&stream, 16 + MAX_WBITS);

    while (code == Z_OK && !sitemap->is_over)
        code = inflate_piece(sitemap, &stream);
    inflateEnd(&stream);
    if (code == Z_MEM_ERROR)
        sitemap_fail(sitemap, -ENOMEM);
    else if (code == Z_BUF_ERROR)
        sitemap_stop(sitemap, "its gzip data is cut off");
    else if (code != Z_OK && code != Z_STREAM_END)
        sitemap_stop(sitemap, "its gzip data is damaged");
    return sitemap_end(sitemap);
}

/* ---- life cycle -------------------------------------------------------------------- */

struct sitemap *sitemap_create(void)
{
    struct sitemap *sitemap = calloc(1, sizeof *sitemap);

    if (sitemap != NULL) {
        sitemap->source = -1;
        sitemap->counter.place = (struct html_position){1, 1};
    }
    return sitemap;
}

void sitemap_destroy(struct sitemap *sitemap)
{
    if (sitemap == NULL)
        return;
    if (sitemap->parser != NULL)
        XML_ParserFree(sitemap->parser);
    html_buffer_finish(&sitemap->text);
    html_buffer_finish(&sitemap->bytes);
    html_buffer_finish(&sitemap->base);
    html_buffer_finish(&sitemap->bases);
    free(sitemap->entries);
    free(sitemap);
}

const char *sitemap_problem(const struct sitemap *sitemap)
{
    return sitemap->problem[0] != '\0' ? sitemap->problem : NULL;
}

bool sitemap_is_beyond_limit(const char *problem)
{
    return strcmp(problem, TOO_MANY_URLS) == 0 || strcmp(problem, TOO_MANY_BYTES) == 0;
}

int sitemap_visit(struct sitemap *sitemap, links_visit_function visit, void *arg)
{
    int rc = 0;

    for (size_t i = 0; i < sitemap->count && rc == 0; i++) {
        const struct entry *entry = &sitemap->entries[i];
        const struct source *source = &sources[entry->source];
        struct link link = {.kind = LINK_OTHER,
                            .cut = entry->cut,
                            .has_no_encoding = true,
                            .is_sitemap = sitemap->root == SITEMAP_INDEX,
                            .element = sitemap->form == XML ? source->name : NULL,
                            .attribute = source->attribute,
                            .place = entry->place};

        html_buffer_clear(&sitemap->text);
        if (html_buffer_add(&sitemap->text, sitemap->bytes.bytes + entry->start, entry->n,
                            SIZE_MAX) < 0 ||
            html_buffer_add(&sitemap->text, "", 1, SIZE_MAX) < 0)
            return -ENOMEM;
        link.reference = sitemap->text.bytes;
        link.base = entry->base > 0 ? sitemap->bases.bytes + entry->base : NULL;
        rc = visit(&link, arg);
    }
    return rc;
}
