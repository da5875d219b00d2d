/*
 * link_blob.c - see link_blob.h
 *
 * Input comes from a file and is not trusted: each value is checked, and nothing is read
 * beyond the end.
 */
#include "link_blob.h"

#include "leb128.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first byte of a link contains an enum search_kind in two bits, and flags. */
enum {
    KIND_MASK = 3,
    IS_NOFOLLOW = 4,
    IS_CUT = 8,
    /* the URL itself follows, not its number; only for SEARCH_URL */
    HAS_URL = 16,
    IS_TAIL = 32, /* the reference on the page is a suffix of the URL */
    IS_SITEMAP = 64
};

/* ---- writing ----------------------------------------------------------------------- */

static void put_byte(struct text *to, unsigned value)
{
    char byte = (char)value;

    text_add(to, &byte, 1);
}

/* Append a name. A missing attribute (NULL) is stored as an empty name. */
static void put_name(struct text *to, const char *name)
{
    leb128_put_bytes(to, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
}

/*
 * Append the element and the attribute of a link, encoded as a single number. A new pair
 * gets the next number, and both names follow it. Pairs are compared by address, because
 * their names are string constants.
 */
static void put_place(struct link_blob *blob, const struct link *link)
{
    size_t i = 0;

    while (i < blob->place_count &&
           (blob->elements[i] != link->element || blob->attributes[i] != link->attribute))
        i++;
    leb128_put(&blob->bytes, i);
    if (i < blob->place_count)
        return;
    if (i < LINK_BLOB_PLACES) {
        blob->elements[i] = link->element;
        blob->attributes[i] = link->attribute;
        blob->place_count++;
    }
    put_name(&blob->bytes, link->element);
    put_name(&blob->bytes, link->attribute);
}

void link_blob_begin(struct link_blob *blob)
{
    blob->bytes.n = 0;
    blob->bytes.failed = false;
    blob->place_count = 0;
    blob->line = 0;
}

void link_blob_add(struct link_blob *blob, const struct search_found *found, uint32_t id,
                   const char *url, size_t url_n)
{
    const struct link *link = found->link;
    size_t n = strlen(link->reference);
    bool is_tail =
        url != NULL && n <= url_n && memcmp(url + url_n - n, link->reference, n) == 0;
    uint32_t step = link->place.line - blob->line;

    put_byte(&blob->bytes, (unsigned)found->kind | (link->nofollow ? IS_NOFOLLOW : 0) |
                               (link->cut ? IS_CUT : 0) | (is_tail ? IS_TAIL : 0) |
                               (link->is_sitemap ? IS_SITEMAP : 0) |
                               (url != NULL && id == 0 ? HAS_URL : 0));
    put_place(blob, link);
    /*
     * The difference between lines is unsigned. If it is negative, it wraps around here,
     * and again in the reader.
     */
    leb128_put(&blob->bytes, step);
    leb128_put(&blob->bytes, link->place.column);
    blob->line = link->place.line;
    if (id > 0) {
        leb128_put(&blob->bytes, id);
    } else if (url != NULL) {
        leb128_put(&blob->bytes, (uint64_t)found->url->kind);
        leb128_put(&blob->bytes, found->url->fragment_at);
        leb128_put_bytes(&blob->bytes, url, url_n);
    }
    if (is_tail)
        leb128_put(&blob->bytes, n);
    else
        leb128_put_bytes(&blob->bytes, link->reference, n);
}

void link_blob_finish(struct link_blob *blob)
{
    text_finish(&blob->bytes);
    *blob = (struct link_blob){.place_count = 0};
}

/* ---- reading ----------------------------------------------------------------------- */

/*
 * Read a text. Returns a NUL-terminated copy, which the caller frees, or NULL if the
 * input is invalid or memory runs out.
 */
static char *take_text(struct leb128_bytes *from, size_t *length)
{
    const char *text = leb128_take_bytes(from, length);

    if (text == NULL)
        return NULL;
    if (memchr(text, '\0', *length) != NULL) {
        from->failed = true;
        return NULL;
    }
    return strndup(text, *length);
}

struct reading {
    struct leb128_bytes from;
    const struct link_blob_reader *reader;
    char *elements[LINK_BLOB_PLACES + 1], *attributes[LINK_BLOB_PLACES + 1];
    size_t place_count;
    uint32_t line;
};

/* The current link, and the memory to be freed after its visit. */
struct taken {
    struct link link;
    struct url url;
    char *reference;
};

static int failure_of(const struct reading *reading)
{
    return reading->from.failed ? -EBADMSG : -ENOMEM;
}

static int take_new_place(struct reading *reading, size_t i)
{
    size_t n;

    free(reading->elements[i]);
    free(reading->attributes[i]);
    reading->attributes[i] = NULL;
    reading->elements[i] = take_text(&reading->from, &n);
    if (reading->elements[i] != NULL)
        reading->attributes[i] = take_text(&reading->from, &n);
    return reading->attributes[i] != NULL ? 0 : failure_of(reading);
}

static const char *name_of(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static int take_place(struct reading *reading, struct link *link)
{
    uint64_t i = leb128_take(&reading->from);
    int rc = 0;

    if (reading->from.failed || i > reading->place_count)
        return -EBADMSG;
    if (i == reading->place_count) {
        rc = take_new_place(reading, i);
        reading->place_count += rc == 0 && i < LINK_BLOB_PLACES;
    }
    if (rc < 0)
        return rc;
    link->element = name_of(reading->elements[i]);
    link->attribute = name_of(reading->attributes[i]);
    return 0;
}

/* Read the number of a URL, and copy the URL, because visit() may modify it. */
static int take_numbered_url(struct reading *reading, struct url *url)
{
    uint64_t id = leb128_take(&reading->from);
    const char *text = NULL;

    if (!reading->from.failed && id <= UINT32_MAX)
        text = reading->reader->url_of((uint32_t)id, &url->fragment_at,
                                       reading->reader->arg);
    if (text == NULL)
        return -EBADMSG;
    url->kind = strncmp(text, "file:", 5) == 0 ? URL_FILE : URL_WEB;
    url->n = strlen(text);
    url->href = strdup(text);
    return url->href != NULL ? 0 : -ENOMEM;
}

static int take_full_url(struct reading *reading, struct url *url)
{
    uint64_t kind = leb128_take(&reading->from), at = leb128_take(&reading->from);

    url->href = take_text(&reading->from, &url->n);
    if (url->href == NULL)
        return failure_of(reading);
    if (kind > URL_OTHER || at > url->n || (at > 0 && url->href[at - 1] != '#'))
        return -EBADMSG;
    url->kind = (enum url_kind)kind;
    url->fragment_at = (size_t)at;
    return 0;
}

static int take_reference(struct reading *reading, bool is_tail, struct taken *taken)
{
    const struct url *url = &taken->url;
    uint64_t n;
    size_t length;

    if (!is_tail) {
        taken->reference = take_text(&reading->from, &length);
        return taken->reference != NULL ? 0 : failure_of(reading);
    }
    n = leb128_take(&reading->from);
    if (reading->from.failed || url->href == NULL || n > url->n)
        return -EBADMSG;
    taken->reference = strdup(url->href + (url->n - n));
    return taken->reference != NULL ? 0 : -ENOMEM;
}

static int visit_link(struct reading *reading, enum search_kind kind, struct taken *taken)
{
    struct search_found found = {.kind = kind,
                                 .link = &taken->link,
                                 .url = kind == SEARCH_URL ? &taken->url : NULL};

    taken->link.kind = LINK_OTHER;
    taken->link.reference = taken->reference;
    return reading->reader->visit(&found, reading->reader->arg);
}

static int read_into(struct reading *reading, struct taken *taken)
{
    unsigned head = leb128_take_byte(&reading->from);
    enum search_kind kind = (enum search_kind)(head & KIND_MASK);
    int rc = take_place(reading, &taken->link);

    if (rc < 0)
        return rc;
    reading->line += (uint32_t)leb128_take(&reading->from);
    taken->link.place.line = reading->line;
    taken->link.place.column = (uint32_t)leb128_take(&reading->from);
    taken->link.nofollow = (head & IS_NOFOLLOW) != 0;
    taken->link.cut = (head & IS_CUT) != 0;
    taken->link.is_sitemap = (head & IS_SITEMAP) != 0;
    if (kind == SEARCH_ID)
        return -EBADMSG;
    if (kind == SEARCH_URL)
        rc = (head & HAS_URL) != 0 ? take_full_url(reading, &taken->url)
                                   : take_numbered_url(reading, &taken->url);
    if (rc == 0)
        rc = take_reference(reading, (head & IS_TAIL) != 0, taken);
    return rc == 0 ? visit_link(reading, kind, taken) : rc;
}

static int read_link(struct reading *reading)
{
    struct taken taken = {.reference = NULL};
    int rc = read_into(reading, &taken);

    free(taken.reference);
    free(taken.url.href);
    return rc;
}

int link_blob_read(const void *bytes, size_t n, const struct link_blob_reader *reader)
{
    struct reading reading = {.reader = reader};
    int rc = 0;

    reading.from.at = bytes;
    reading.from.end = reading.from.at + n;
    while (rc == 0 && reading.from.at < reading.from.end)
        rc = read_link(&reading);
    for (size_t i = 0; i <= LINK_BLOB_PLACES; i++) {
        free(reading.elements[i]);
        free(reading.attributes[i]);
    }
    return rc;
}
