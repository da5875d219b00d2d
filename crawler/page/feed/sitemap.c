/*
 * sitemap.c - find the URLs in a sitemap or a feed.
 *
 *     bytes --> process_bytes: the first byte that is not blank
 *                  |-- '<' --> expat --> on_start, on_text, on_end
 *                  '-- else --> process_lines
 *
 * URLs are stored one after the other until they are visited, like those of a page.
 *
 * Expat takes time and memory in proportion to the text only if tokens and nesting are
 * limited: with each piece it reads an unfinished token from its beginning again, and it
 * stores each open element. So both have limits here.
 */
#include "sitemap.h"

#include "../../base/array.h"
#include "../../base/ascii.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TOKEN_BYTES ((size_t)256 * 1024) /* of a tag or a comment */
#define DEPTH_MAX 100
#define KEPT_BYTES_MAX ((size_t)1 << 30)
#define PROBLEM_BYTES 128
#define PIECE_BYTES 16384
#define BLANK " \t\r\n"
#define TOO_MANY_URLS "it has more than 50,000 URLs, and only those are read"
#define TOO_MANY_BYTES "it is longer than 50 MiB, and no more than that is read"

enum form { UNKNOWN, LINES, XML };

struct entry {
    uint32_t start, n; /* range in `bytes` */
    uint32_t base;     /* where its base begins in `bases`, NUL-terminated; 0: none */
    struct html_position place;
    uint8_t source; /* index into `sources` */
    bool cut;
};

struct sitemap {
    enum form form;
    enum sitemap_root root;
    size_t total;  /* number of bytes processed */
    size_t listed; /* number of URLs that count for the limit */
    struct html_counter counter;
    size_t mark_n; /* bytes of the byte order mark so far */
    XML_Parser parser;
    size_t token_at; /* value of `total` at the last token */
    unsigned depth;
    int source;    /* index into `sources` of the text being read; -1: none */
    bool has_text; /* the text has begun at `place` */
    struct html_position place; /* where it began */
    struct html_buffer text;    /* of the current element or line */
    struct html_buffer bytes;
    struct html_buffer base; /* the xml:base of all open elements, one per line */
    /* length of `base` outside of the element at each depth */
    uint32_t base_n[DEPTH_MAX + 2];
    struct html_buffer bases; /* the bases of entries */
    uint32_t last_base;       /* index in `bases` of the current `base`, or 0 */
    struct entry *entries;
    size_t count, capacity;
    char problem[PROBLEM_BYTES];
    bool is_over; /* further input is ignored */
    int rc;
};

/* ---- counting ---------------------------------------------------------------------- */

#define ROOT(name) (1U << SITEMAP_##name)

/* Elements that contain URLs, by local name, because the document chooses prefixes. */
static const struct source {
    const char *name, *attribute; /* attribute: NULL means the element's text */
    unsigned roots;
} sources[] = {
    {"loc", NULL, ROOT(URLSET) | ROOT(INDEX)}, /* of images, too */
    {"link", "href", ROOT(URLSET) | ROOT(ATOM) | ROOT(RSS)},
    {"link", NULL, ROOT(RSS)},
    {"thumbnail_loc", NULL, ROOT(URLSET)},
    {"content_loc", NULL, ROOT(URLSET)},
    {"player_loc", NULL, ROOT(URLSET)},
    {"enclosure", "url", ROOT(RSS)},
    {"content", "src", ROOT(ATOM)},
};

#define SOURCE_COUNT (sizeof sources / sizeof sources[0])

static const struct {
    const char *name;
    enum sitemap_root root;
} roots[] = {{"urlset", SITEMAP_URLSET},
             {"sitemapindex", SITEMAP_INDEX},
             {"rss", SITEMAP_RSS},
             {"RDF", SITEMAP_RSS},
             {"feed", SITEMAP_ATOM}};

/* `name` has n bytes, including its prefix. */
static enum sitemap_root root_of_name(const char *name, size_t n)
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

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon != NULL ? colon + 1 : name;
}

/* ---- the first bytes --------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c != '\0' && strchr(BLANK, c) != NULL;
}

/* Return the address after `what`, or `end` if it is not found. */
static const char *skip_past(const char *s, const char *end, const char *what)
{
    const char *found = memmem(s, (size_t)(end - s), what, strlen(what));

    return found != NULL ? found + strlen(what) : end;
}

static bool begins(const char *s, const char *end, const char *what)
{
    size_t n = strlen(what);

    return (size_t)(end - s) >= n && memcmp(s, what, n) == 0;
}

/* Return the address after the '>' of a document type, not of a declaration in it. */
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

    if (begins(s, end, "\xef\xbb\xbf"))
        s += 3;
    for (bool is_first = true;; is_first = false) {
        while (s < end && is_blank(*s))
            s++;
        if (s == end || *s != '<')
            return is_first && s < end ? SITEMAP_NO_XML : SITEMAP_OTHER;
        if (begins(s, end, "<?"))
            s = skip_past(s, end, "?>");
        else if (begins(s, end, "<!--"))
            s = skip_past(s + 4, end, "-->");
        else if (begins(s, end, "<!"))
            s = skip_doctype(s, end);
        else
            break;
    }
    name = ++s;
    while (s < end && !is_blank(*s) && *s != '>' && *s != '/')
        s++;
    return s < end ? root_of_name(name, (size_t)(s - name)) : SITEMAP_OTHER;
}

bool sitemap_is_gzip(const char *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

/* ---- what is wrong ----------------------------------------------------------------- */

/* Ignore further input. */
static void stop(struct sitemap *sitemap, const char *problem)
{
    if (sitemap->is_over)
        return;
    sitemap->is_over = true;
    snprintf(sitemap->problem, sizeof sitemap->problem, "%s", problem);
    if (sitemap->parser != NULL)
        XML_StopParser(sitemap->parser, XML_FALSE);
}

static void fail(struct sitemap *sitemap, int rc)
{
    if (sitemap->rc == 0)
        sitemap->rc = rc;
    stop(sitemap, "");
}

/* ---- xml:base ---------------------------------------------------------------------- */

#define BASE_BYTES_MAX 2048 /* of all bases in force together */

static const char *value_of_name(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/*
 * Begin an element. Its base is relative to that of its parent. (XML Base; RFC 4287, 2)
 */
static void enter_base(struct sitemap *sitemap, const char *const *attributes)
{
    const char *value = value_of_name(attributes, "xml:base");
    struct html_buffer *base = &sitemap->base;

    sitemap->base_n[sitemap->depth] = (uint32_t)base->n;
    if (value == NULL || base->n + strlen(value) + 1 > BASE_BYTES_MAX)
        return;
    sitemap->last_base = 0;
    if ((base->n > 0 && html_buffer_add(base, "\n", 1, SIZE_MAX) < 0) ||
        html_buffer_add(base, value, strlen(value), SIZE_MAX) < 0)
        fail(sitemap, -ENOMEM);
}

static void leave_base(struct sitemap *sitemap)
{
    uint32_t n = sitemap->base_n[sitemap->depth];

    if (sitemap->base.n != n)
        sitemap->last_base = 0;
    sitemap->base.n = n;
}

/* Store the current base, and return its index in `bases`; 0 without one. */
static uint32_t store_base(struct sitemap *sitemap)
{
    bool is_feed = sitemap->root == SITEMAP_ATOM || sitemap->root == SITEMAP_RSS;

    if (sitemap->base.n == 0 || !is_feed || sitemap->last_base != 0)
        return is_feed ? sitemap->last_base : 0;
    if ((sitemap->bases.n == 0 &&
         html_buffer_add(&sitemap->bases, "", 1, SIZE_MAX) < 0) ||
        sitemap->bases.n > SITEMAP_BYTES) {
        fail(sitemap, sitemap->bases.n > 0 ? -EMSGSIZE : -ENOMEM);
        return 0;
    }
    sitemap->last_base = (uint32_t)sitemap->bases.n;
    if (html_buffer_add(&sitemap->bases, sitemap->base.bytes, sitemap->base.n, SIZE_MAX) <
            0 ||
        html_buffer_add(&sitemap->bases, "", 1, SIZE_MAX) < 0)
        fail(sitemap, -ENOMEM);
    return sitemap->last_base;
}

/* ---- URLs -------------------------------------------------------------------------- */

/* Store a URL. It ends at a NUL, which only a list can contain. */
static void store_url(struct sitemap *sitemap, const char *url, size_t n, size_t source,
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
    entry.base = store_base(sitemap);
    if ((sitemap->count == sitemap->capacity &&
         array_grow(&sitemap->entries, &sitemap->capacity, sizeof *sitemap->entries) <
             0) ||
        html_buffer_add(&sitemap->bytes, url, n, KEPT_BYTES_MAX) < 0)
        fail(sitemap, -ENOMEM);
    else if (sitemap->bytes.cut)
        fail(sitemap, -EMSGSIZE);
    else
        sitemap->entries[sitemap->count++] = entry;
}

/* Returns false after the highest number of URLs that a sitemap may have. */
static bool may_list(struct sitemap *sitemap)
{
    if (sitemap->listed++ < SITEMAP_URLS)
        return true;
    stop(sitemap, TOO_MANY_URLS);
    return false;
}

/*
 * Store the text of an element, without white space at its end. White space before it was
 * skipped.
 */
static void store_text(struct sitemap *sitemap, size_t source)
{
    struct html_buffer *text = &sitemap->text;

    while (text->n > 0 && is_blank(text->bytes[text->n - 1]))
        text->n--;
    if (text->n > 0)
        store_url(sitemap, text->bytes, text->n, source, text->cut, sitemap->place);
    html_buffer_clear(text);
    sitemap->has_text = false;
}

/* Append a part of the text, which begins at `place`. */
static void add_text(struct sitemap *sitemap, const char *bytes, size_t n,
                     struct html_position place)
{
    struct html_counter counter = {place, false};
    size_t blank = 0;

    while (!sitemap->has_text && blank < n && is_blank(bytes[blank]))
        blank++;
    if (blank == n)
        return;
    if (!sitemap->has_text) {
        html_count(&counter, bytes, blank);
        sitemap->place = counter.place;
        sitemap->has_text = true;
    }
    if (html_buffer_add(&sitemap->text, bytes + blank, n - blank, HTML_VALUE_BYTES) < 0)
        fail(sitemap, -ENOMEM);
}

/* ---- lines ------------------------------------------------------------------------- */

static void end_line(struct sitemap *sitemap)
{
    if (sitemap->has_text && may_list(sitemap))
        store_text(sitemap, 0);
}

static void process_lines(struct sitemap *sitemap, const char *bytes, size_t n)
{
    const char *s = bytes, *end = bytes + n;

    while (s < end && !sitemap->is_over) {
        const char *line = s;

        while (s < end && *s != '\n' && *s != '\r')
            s++;
        add_text(sitemap, line, (size_t)(s - line), sitemap->counter.place);
        if (s < end) {
            end_line(sitemap);
            s++;
        }
        html_count(&sitemap->counter, line, (size_t)(s - line));
    }
}

/* ---- XML --------------------------------------------------------------------------- */

/*
 * Return the place of the current token of expat. `counter` is the place of the piece's
 * beginning.
 */
static struct html_position place_in_xml(const struct sitemap *sitemap)
{
    struct html_position begin = sitemap->counter.place;
    uint32_t line = (uint32_t)XML_GetCurrentLineNumber(sitemap->parser);
    uint32_t column = (uint32_t)XML_GetCurrentColumnNumber(sitemap->parser) + 1;

    return (struct html_position){begin.line + line - 1,
                                  line == 1 ? begin.column + column - 1 : column};
}

static const char *value_of(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(local_name(attributes[0]), name) == 0)
            return attributes[1];
    return NULL;
}

static void store_attribute(struct sitemap *sitemap, size_t source, const char *value)
{
    size_t n;

    value += strspn(value, BLANK);
    n = strlen(value);
    while (n > 0 && is_blank(value[n - 1]))
        n--;
    store_url(sitemap, value, n < HTML_VALUE_BYTES ? n : HTML_VALUE_BYTES, source,
              n > HTML_VALUE_BYTES, place_in_xml(sitemap));
}

/* True for a hub, which receives notifications, and is not a page. (WebSub) */
static bool is_hub(const char *const *attributes)
{
    const char *rel = value_of(attributes, "rel");

    return rel != NULL && strcmp(rel, "hub") == 0;
}

static void begin_source(struct sitemap *sitemap, const char *name,
                         const char *const *attributes)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        const struct source *source = &sources[i];
        const char *value;

        if ((source->roots >> sitemap->root & 1) == 0 || strcmp(source->name, name) != 0)
            continue;
        value =
            source->attribute != NULL ? value_of(attributes, source->attribute) : NULL;
        if (value != NULL && !is_hub(attributes))
            store_attribute(sitemap, i, value);
        if (source->attribute != NULL)
            continue;
        sitemap->source = (int)i;
        sitemap->has_text = false;
        html_buffer_clear(&sitemap->text);
    }
}

/*
 * True for the locations that the protocol counts: those in <url> and <sitemap>, at depth
 * two.
 */
static bool is_listed(const struct sitemap *sitemap, const char *name)
{
    return sitemap->depth == 3 && strcmp(name, "loc") == 0;
}

static void on_start(void *arg, const char *qualified, const char **attributes)
{
    struct sitemap *sitemap = arg;
    const char *name = local_name(qualified);

    sitemap->token_at = sitemap->total;
    sitemap->source = -1;
    if (sitemap->is_over)
        return;
    if (++sitemap->depth == 1)
        sitemap->root = root_of_name(qualified, strlen(qualified));
    if (sitemap->depth <= DEPTH_MAX)
        enter_base(sitemap, attributes);
    if (sitemap->root == SITEMAP_OTHER)
        stop(sitemap, "it is no sitemap and no feed");
    else if (sitemap->depth > DEPTH_MAX)
        stop(sitemap, "its elements are nested too deep");
    else if (!is_listed(sitemap, name) || may_list(sitemap))
        begin_source(sitemap, name, attributes);
}

static void on_end(void *arg, const char *name)
{
    struct sitemap *sitemap = arg;

    (void)name;
    sitemap->token_at = sitemap->total;
    if (sitemap->source >= 0 && !sitemap->is_over)
        store_text(sitemap, (size_t)sitemap->source);
    if (sitemap->depth <= DEPTH_MAX)
        leave_base(sitemap);
    sitemap->depth--;
    sitemap->source = -1;
}

static void on_text(void *arg, const char *text, int n)
{
    struct sitemap *sitemap = arg;

    sitemap->token_at = sitemap->total;
    if (sitemap->source < 0 || sitemap->is_over)
        return;
    add_text(sitemap, text, (size_t)n,
             sitemap->has_text ? sitemap->place : place_in_xml(sitemap));
}

/* Everything else: comments, and unknown references. */
static void on_other(void *arg, const char *text, int n)
{
    struct sitemap *sitemap = arg;

    (void)text;
    (void)n;
    sitemap->token_at = sitemap->total;
}

static void on_doctype(void *arg, const char *name, const char *system_id,
                       const char *public_id, int has_internal_subset)
{
    struct sitemap *sitemap = arg;

    (void)name;
    (void)system_id;
    (void)public_id;
    sitemap->token_at = sitemap->total;
    if (has_internal_subset)
        stop(sitemap, "its document type has declarations, which are refused");
}

/* Functions of this file, so that tests can let them fail. */
static void *allocate(size_t n)
{
    return malloc(n);
}

static void *reallocate(void *old, size_t n)
{
    return realloc(old, n);
}

static void release_memory(void *old)
{
    free(old);
}

static void begin_xml(struct sitemap *sitemap)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate,
                                                     release_memory};

    sitemap->form = XML;
    sitemap->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (sitemap->parser == NULL) {
        fail(sitemap, -ENOMEM);
        return;
    }
    XML_SetUserData(sitemap->parser, sitemap);
    XML_SetElementHandler(sitemap->parser, on_start, on_end);
    XML_SetCharacterDataHandler(sitemap->parser, on_text);
    XML_SetDefaultHandler(sitemap->parser, on_other);
    XML_SetStartDoctypeDeclHandler(sitemap->parser, on_doctype);
}

static void process_xml(struct sitemap *sitemap, const char *bytes, size_t n,
                        bool is_final)
{
    char problem[PROBLEM_BYTES];
    enum XML_Error error;

    if (XML_Parse(sitemap->parser, bytes, (int)n, is_final) != XML_STATUS_ERROR) {
        if (sitemap->total - sitemap->token_at > TOKEN_BYTES)
            stop(sitemap, "a tag or comment of it is too long");
        return;
    }
    error = XML_GetErrorCode(sitemap->parser);
    if (sitemap->is_over)
        return;
    if (error == XML_ERROR_NO_MEMORY) {
        fail(sitemap, -ENOMEM);
        return;
    }
    snprintf(problem, sizeof problem, "line %u: %s", place_in_xml(sitemap).line,
             XML_ErrorString(error));
    stop(sitemap, problem);
}

/* ---- any --------------------------------------------------------------------------- */

static bool is_mark(const struct sitemap *sitemap, char c)
{
    static const char mark[] = "\xef\xbb\xbf";

    return sitemap->mark_n < 3 && c == mark[sitemap->mark_n];
}

/* Besides '<', the byte order mark of UTF-16, which expat needs. */
static bool begins_xml(char c)
{
    return c == '<' || c == '\xff' || c == '\xfe';
}

/* Skip white space and a byte order mark. Returns the address of the rest. */
static const char *skip_beginning(struct sitemap *sitemap, const char *s, const char *end)
{
    while (s < end) {
        if (is_mark(sitemap, *s))
            sitemap->mark_n++;
        else if (is_blank(*s))
            html_count(&sitemap->counter, s, 1);
        else
            break;
        s++;
    }
    if (s == end)
        return s;
    if (begins_xml(*s))
        begin_xml(sitemap);
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
        process_xml(sitemap, s, (size_t)(end - s), false);
    else
        process_lines(sitemap, s, (size_t)(end - s));
}

int sitemap_feed(struct sitemap *sitemap, const char *bytes, size_t n)
{
    while (n > 0 && !sitemap->is_over) {
        size_t part = n < PIECE_BYTES ? n : PIECE_BYTES;

        if (sitemap->total + part > SITEMAP_BYTES) {
            stop(sitemap, TOO_MANY_BYTES);
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
        process_xml(sitemap, "", 0, true);
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

/* Decompress one piece. Returns Z_OK, or the reason to stop. */
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
    return code;                     /* other data after it are ignored, as by gzip(1) */
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
        fail(sitemap, -ENOMEM);
    else if (code == Z_BUF_ERROR)
        stop(sitemap, "its gzip breaks off");
    else if (code != Z_OK && code != Z_STREAM_END)
        stop(sitemap, "its gzip is damaged");
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
