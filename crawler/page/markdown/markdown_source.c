/*
 * markdown_source.c - see markdown_source.h
 *
 * cmark reports correct lines and columns for blocks, but not for inlines, for example
 * after a link that spans two lines. The position of a link's URL is not reported at all.
 * So the source of a block is searched for the URLs of its links while the walk over the
 * tree visits the links. Because a URL is near the end of its link, links must be looked
 * up in the order in which they end.
 */
#include "markdown_source.h"

#include "../../base/array.h"
#include "../html/html_reference.h"
#include "../../base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each search reads at most AHEAD bytes, and all searches together at most PATIENCE times
 * the size of the text. Without these limits, links whose URLs are not found would take
 * quadratic time.
 */
#define AHEAD 65536
#define PATIENCE 16
#define PATIENCE_BYTES ((size_t)1 << 20) /* added to the total limit, for short texts */

struct span {
    size_t at, n;
};

/* ---- lines ------------------------------------------------------------------------- */

static size_t behind_line_end(const struct markdown_source *source, size_t at)
{
    const char *text = source->text;

    while (at < source->n && text[at] != '\n' && text[at] != '\r')
        at++;
    if (at + 1 < source->n && text[at] == '\r' && text[at + 1] == '\n')
        return at + 2;
    return at < source->n ? at + 1 : at;
}

static int find_lines(struct markdown_source *source)
{
    size_t capacity = 0;

    for (size_t at = 0;; at = behind_line_end(source, at)) {
        if (source->line_count == capacity &&
            array_grow(&source->lines, &capacity, sizeof *source->lines) < 0)
            return -ENOMEM;
        source->lines[source->line_count] = at;
        if (at >= source->n)
            return 0;
        source->line_count++;
    }
}

size_t markdown_source_line(const struct markdown_source *source, int line)
{
    if (line < 1)
        return 0;
    return (size_t)line > source->line_count ? source->n
                                             : source->lines[(size_t)line - 1];
}

void markdown_source_enter(struct markdown_source *source, int line, int column,
                           int end_line)
{
    size_t end = markdown_source_line(source, (end_line < line ? line : end_line) + 1);

    source->at =
        markdown_source_line(source, line) + (column > 1 ? (size_t)column - 1 : 0);
    source->at = source->at < source->n ? source->at : source->n;
    source->end = end > source->at ? end : source->at;
}

/* ---- URLs -------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7f && !is_letter(c) && !is_digit(c);
}

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

/*
 * Find a URL that is enclosed in "<>", or ends at white space or at an unmatched ")". The
 * caller sets *end to the limit of the search. The function changes *end to the end of
 * the part that was read.
 */
static struct span destination_at(const struct markdown_source *source, size_t at,
                                  size_t *end)
{
    const char *text = source->text;
    struct span found;
    int open = 0;

    while (at < *end && is_space(text[at]))
        at++;
    found = (struct span){at, 0};
    if (at < *end && text[at] == '<') {
        while (at < *end && text[at] != '>' && !ends_line(text[at]))
            at++;
        if (at < *end && text[at] == '>')
            found = (struct span){found.at + 1, at - found.at - 1};
        *end = at;
        return found;
    }
    for (; at < *end && !is_space(text[at]); at++) {
        if (text[at] == '\\' && at + 1 < *end && !ends_line(text[at + 1]))
            at++;
        else if (text[at] == '(')
            open++;
        else if (text[at] == ')' && open-- == 0)
            break;
    }
    *end = at < *end ? at : *end;
    found.n = *end - found.at;
    return found;
}

/*
 * Decode character references and backslashes in a URL. The result is valid until the
 * next call. Returns NULL if memory runs out.
 */
static const char *unescape(struct markdown_source *source, struct span raw)
{
    char *s, *to;
    size_t n;

    if (html_buffer_reserve(&source->scratch, 3 * raw.n + 1) < 0)
        return NULL;
    s = to = source->scratch.bytes;
    n = html_decode(source->text + raw.at, raw.n, s);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n && is_punctuation(s[i + 1]))
            i++;
        *to++ = s[i];
    }
    *to = '\0';
    return s;
}

/* ---- definitions ------------------------------------------------------------------- */

/*
 * True if a "[label" ends at `at`, preceded only by indentation and list marks in its
 * line.
 */
static bool label_begins_line(const struct markdown_source *source, size_t line,
                              size_t at)
{
    while (line < at && source->text[line] != '\0' &&
           strchr(" \t>*+-0123456789.", source->text[line]) != NULL)
        line++;
    return line + 1 < at && source->text[line] == '[' && source->text[line + 1] != '^' &&
           memchr(source->text + line, ']', at - line) == NULL;
}

static int add_definition(struct markdown_source *source, size_t at)
{
    size_t end = source->n;
    struct span raw = destination_at(source, at, &end);
    const char *url = unescape(source, raw), *key;

    if (url == NULL)
        return -ENOMEM;
    if (table_get(&source->definitions, url) != NULL)
        return 0;
    key = arena_text(&source->arena, url, strlen(url));
    return key != NULL ? table_add(&source->definitions, key, (void *)(raw.at + 1))
                       : -ENOMEM;
}

static int find_definitions(struct markdown_source *source)
{
    int rc = 0;

    for (size_t i = 0; i < source->line_count && rc == 0; i++) {
        size_t line = source->lines[i], n = source->lines[i + 1] - line;
        const char *found = memmem(source->text + line, n, "]:", 2);
        size_t at = found != NULL ? (size_t)(found - source->text) : 0;

        if (found != NULL && label_begins_line(source, line, at))
            rc = add_definition(source, at + 2);
    }
    return rc;
}

int markdown_source_init(struct markdown_source *source, const char *text, size_t n)
{
    int rc;

    *source = (struct markdown_source){
        .text = text, .n = n, .patience = PATIENCE * n + PATIENCE_BYTES};
    rc = find_lines(source);
    if (rc == 0)
        rc = find_definitions(source);
    if (rc < 0)
        markdown_source_finish(source);
    return rc;
}

void markdown_source_finish(struct markdown_source *source)
{
    free(source->lines);
    table_finish(&source->definitions);
    arena_finish(&source->arena);
    html_buffer_finish(&source->scratch);
    *source = (struct markdown_source){0};
}

/* ---- reading along ----------------------------------------------------------------- */

static size_t find_end(const struct markdown_source *source, size_t from)
{
    return source->end - from > AHEAD ? from + AHEAD : source->end;
}

/* Find n bytes in a range, ignoring occurrences after a backslash. */
static bool find_between(const struct markdown_source *source, size_t from, size_t end,
                         const char *s, size_t n, size_t *at)
{
    while (n > 0 && from < end) {
        const char *found = memmem(source->text + from, end - from, s, n);
        if (found == NULL)
            return false;
        *at = (size_t)(found - source->text);
        if (*at == 0 || found[-1] != '\\')
            return true;
        from = *at + 1;
    }
    return false;
}

static void use_patience(struct markdown_source *source, size_t n)
{
    source->patience -= n < source->patience ? n : source->patience;
}

/*
 * Find n bytes at or after `from`, within the limits of searches. Does not change
 * source->at.
 */
static bool find_from(struct markdown_source *source, size_t from, const char *s,
                      size_t n, size_t *at)
{
    size_t end = find_end(source, from);
    bool found = source->patience > 0 && find_between(source, from, end, s, n, at);

    use_patience(source, (found ? *at : end) - from);
    return found;
}

bool markdown_source_find(struct markdown_source *source, const char *s, size_t n,
                          size_t *at)
{
    if (!find_between(source, source->at, find_end(source, source->at), s, n, at))
        return false;
    source->at = *at + n;
    return true;
}

void markdown_source_skip_code(struct markdown_source *source, const char *code)
{
    size_t at = source->at, n = strlen(code);

    while (find_from(source, at, code, n, &at)) {
        if (at > 0 && (source->text[at - 1] == '`' || source->text[at - 1] == ' ')) {
            source->at = at + n;
            return;
        }
        at++;
    }
}

/*
 * Find the next "](". Remember a range without "](", so that it is not searched again for
 * the other links of the block.
 */
static bool find_first_inline(struct markdown_source *source, size_t *at)
{
    size_t end = find_end(source, source->at);
    bool found;

    if (source->at < source->none_from || source->at > source->none_to)
        source->none_from = source->none_to = source->at;
    found = find_between(source, source->none_to, end, "](", 2, at);
    if (found)
        source->none_to = *at;
    else if (end > source->none_to)
        /* minus 1, because the last byte may be the "]" of a "](" */
        source->none_to = end - 1;
    return found;
}

/* Find the next "](" that is followed by this URL. */
static bool find_inline(struct markdown_source *source, const char *url,
                        struct span *found)
{
    size_t at = source->at;
    bool is_inline = source->patience > 0 && find_first_inline(source, &at);

    for (; is_inline; is_inline = find_from(source, at + 1, "](", 2, &at)) {
        size_t end = find_end(source, at);
        const char *written;
        *found = destination_at(source, at + 2, &end);
        written = unescape(source, *found);
        if (written != NULL && strcmp(written, url) == 0)
            return true;
        use_patience(source, end > at ? end - at : 0);
    }
    return false;
}

/*
 * True if the text of the link is its own URL: "<http://h/>", "http://h/", "www.h",
 * "me@h".
 */
static bool is_bare(const char *url, const char *label)
{
    if (strncmp(url, "http://", 7) == 0 && strncmp(label, "www.", 4) == 0)
        url += 7;
    else if (strncmp(url, "mailto:", 7) == 0 && strncmp(label, "mailto:", 7) != 0)
        url += 7;
    return strcmp(url, label) == 0;
}

static bool find_bare(struct markdown_source *source, const char *url, const char *label,
                      struct span *found)
{
    size_t behind;

    if (label == NULL || !is_bare(url, label))
        return false;
    found->n = strlen(label);
    if (!find_from(source, source->at, label, found->n, &found->at))
        return false;
    behind = found->at + found->n;
    return behind == source->n || source->text[behind] != ']';
}

size_t markdown_source_link(struct markdown_source *source, const char *url,
                            const char *label)
{
    struct span written = {SIZE_MAX, 0}, bare;
    const void *defined;

    if (!find_inline(source, url, &written))
        written.at = SIZE_MAX;
    if (find_bare(source, url, label, &bare) && bare.at < written.at)
        written = bare;
    if (written.at != SIZE_MAX) {
        source->at = written.at + written.n;
        return written.at;
    }
    defined = table_get(&source->definitions, url);
    return defined != NULL ? (uintptr_t)defined - 1 : source->at;
}
