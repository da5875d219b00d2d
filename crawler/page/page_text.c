/*
 * page_text.c - see page_text.h
 *
 * The page and the directive are both converted to lower case and single spaces, so that
 * texts can be found by comparing bytes. A match must begin and end at word boundaries.
 * Any white space, even the end of a block, may separate it from the prefix and the
 * suffix.
 */
#include "page_text.h"

#include "../base/ascii.h"
#include "../base/text.h"
#include "markdown/heading_ids.h"
#include "html/html_names.h"
#include "html/html_tokenizer.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text ---------------------------------------------------------------------- */

struct extraction {
    struct html_tokenizer tokenizer;
    struct text text;
    char last;      /* last byte appended, for merging white space: ' ', '\n' or other */
    bool is_hidden; /* inside an element whose text is invisible, such as <script> */
};

static bool is_block(enum html_element element)
{
    switch (element) {
    case ELEMENT_ADDRESS:
    case ELEMENT_ARTICLE:
    case ELEMENT_ASIDE:
    case ELEMENT_BLOCKQUOTE:
    case ELEMENT_BODY:
    case ELEMENT_CAPTION:
    case ELEMENT_CENTER:
    case ELEMENT_DD:
    case ELEMENT_DETAILS:
    case ELEMENT_DIALOG:
    case ELEMENT_DIR:
    case ELEMENT_DIV:
    case ELEMENT_DL:
    case ELEMENT_DT:
    case ELEMENT_FIELDSET:
    case ELEMENT_FIGCAPTION:
    case ELEMENT_FIGURE:
    case ELEMENT_FOOTER:
    case ELEMENT_FORM:
    case ELEMENT_H1:
    case ELEMENT_H2:
    case ELEMENT_H3:
    case ELEMENT_H4:
    case ELEMENT_H5:
    case ELEMENT_H6:
    case ELEMENT_HEAD:
    case ELEMENT_HEADER:
    case ELEMENT_HR:
    case ELEMENT_HTML:
    case ELEMENT_LI:
    case ELEMENT_MAIN:
    case ELEMENT_MENU:
    case ELEMENT_NAV:
    case ELEMENT_OL:
    case ELEMENT_P:
    case ELEMENT_PRE:
    case ELEMENT_SECTION:
    case ELEMENT_TABLE:
    case ELEMENT_TBODY:
    case ELEMENT_TD:
    case ELEMENT_TFOOT:
    case ELEMENT_TH:
    case ELEMENT_THEAD:
    case ELEMENT_TR:
    case ELEMENT_UL:
        return true;
    default:
        return false;
    }
}

/* End a block: remove spaces at its end, and append a newline. */
static void end_block(struct extraction *extraction)
{
    struct text *text = &extraction->text;

    while (text->n > 0 && text->at[text->n - 1] == ' ')
        text->n--;
    if (text->n > 0 && text->at[text->n - 1] != '\n')
        text_add(text, "\n", 1);
    extraction->last = '\n';
}

static void add_space(struct extraction *extraction)
{
    if (extraction->last != ' ' && extraction->last != '\n')
        text_add(&extraction->text, " ", 1);
    if (extraction->last != '\n')
        extraction->last = ' ';
}

/*
 * Return the length of the white space character at s, which may be U+00A0, or 0 if s is
 * another character.
 */
static size_t space_at(const char *s, size_t n)
{
    if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r' || *s == '\f')
        return 1;
    return n >= 2 && memcmp(s, "\xc2\xa0", 2) == 0 ? 2 : 0;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    struct extraction *extraction = arg;

    if (extraction->is_hidden)
        return 0;
    for (size_t i = 0; i < n;) {
        size_t space = space_at(bytes + i, n - i), begin = i;

        if (space > 0) {
            add_space(extraction);
            i += space;
            continue;
        }
        while (i < n && space_at(bytes + i, n - i) == 0)
            i++;
        text_add(&extraction->text, bytes + begin, i - begin);
        extraction->last = 'x';
    }
    return extraction->text.failed ? -ENOMEM : 0;
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct extraction *extraction = arg;
    enum html_element element = html_element_of(name);
    enum html_content content = html_element_content(element);

    (void)is_self_closing;
    if (!is_end && content != HTML_DATA)
        html_tokenizer_set_content(&extraction->tokenizer, content, name->bytes);
    extraction->is_hidden = !is_end && content != HTML_DATA &&
                            content != HTML_PLAINTEXT && element != ELEMENT_XMP;
    if (is_block(element))
        end_block(extraction);
    else if (element == ELEMENT_BR)
        add_space(extraction);
    return extraction->text.failed ? -ENOMEM : 0;
}

int page_text(const char *html, size_t n, char **out)
{
    static const struct html_sink sink = {.tag_end = on_tag_end, .text = on_text};
    struct extraction extraction = {.last = '\n'};
    int rc;

    *out = NULL;
    html_names_prepare();
    html_tokenizer_init(&extraction.tokenizer, &sink, &extraction);
    rc = html_tokenizer_feed(&extraction.tokenizer, html, n);
    if (rc == 0)
        rc = html_tokenizer_end(&extraction.tokenizer);
    html_tokenizer_finish(&extraction.tokenizer);
    if (rc == 0) {
        *out = heading_ids_lower(extraction.text.at != NULL ? extraction.text.at : "",
                                 extraction.text.n);
        rc = *out != NULL ? 0 : -ENOMEM;
    }
    text_finish(&extraction.text);
    return rc;
}

/* ---- a directive ------------------------------------------------------------------- */

struct span {
    const char *at;
    size_t n;
};

/*
 * The parts of a directive, converted like the page's text. If a part is missing, its n
 * is 0.
 */
struct directive {
    char *texts[4];
    struct span prefix, start, end, suffix;
};

/*
 * Decode a part of a directive, convert it like the page's text, and remove spaces at
 * both ends. The caller frees the result. Returns NULL if memory runs out.
 */
static char *normalise(const char *part, size_t n)
{
    struct extraction words = {.last = '\n'};
    char *decoded = strndup(part, n), *lower;

    if (decoded == NULL)
        return NULL;
    on_text(decoded, url_decode(decoded, n), &words);
    free(decoded);
    while (words.text.n > 0 && words.text.at[words.text.n - 1] == ' ')
        words.text.n--;
    lower = words.text.failed
                ? NULL
                : heading_ids_lower(words.text.n > 0 ? words.text.at : "", words.text.n);
    text_finish(&words.text);
    return lower;
}

static struct span take_part(const char **rest, const char *end)
{
    const char *comma = memchr(*rest, ',', (size_t)(end - *rest));
    struct span part = {*rest, (size_t)((comma != NULL ? comma : end) - *rest)};

    *rest = comma != NULL ? comma + 1 : NULL;
    return part;
}

/* Parse a directive. Returns 1 if it is valid, 0 if not, or -ENOMEM. (Text Fragments:
   parse a text directive) */
static int parse_directive(const char *value, size_t n, struct directive *directive)
{
    struct span parts[4] = {{NULL, 0}}, *found[4];
    size_t count = 0, used = 0;
    const char *rest = value;

    while (rest != NULL && count < 4)
        parts[count++] = take_part(&rest, value + n);
    if (rest != NULL)
        return 0;
    *directive = (struct directive){.texts = {NULL}};
    if (count > 1 && parts[0].n > 1 && parts[0].at[parts[0].n - 1] == '-') {
        parts[0].n--;
        found[used++] = &directive->prefix;
    }
    if (count > 1 && parts[count - 1].n > 1 && parts[count - 1].at[0] == '-') {
        parts[count - 1].at++;
        parts[count - 1].n--;
        directive->suffix.n = 1; /* a suffix is present */
    }
    found[used++] = &directive->start;
    if (used + (directive->suffix.n > 0) < count)
        found[used++] = &directive->end;
    if (directive->suffix.n > 0)
        found[used++] = &directive->suffix;
    for (size_t i = 0; used == count && i < count; i++) {
        if (parts[i].n == 0)
            return 0;
        directive->texts[i] = normalise(parts[i].at, parts[i].n);
        if (directive->texts[i] == NULL)
            return -ENOMEM;
        *found[i] = (struct span){directive->texts[i], strlen(directive->texts[i])};
        if (found[i]->n == 0)
            return 0;
    }
    return used == count;
}

/* ---- matching ---------------------------------------------------------------------- */

/* Return the character before `at`, or 0 at the beginning of the text. */
static uint32_t character_before(const char *text, const char *at)
{
    const char *s = at;

    while (s > text && (*--s & 0xc0) == 0x80)
        ;
    return s < at ? text_utf8_point(s, (size_t)(at - s)) : 0;
}

/* Return the character at `at`, or 0 at the end of the text. */
static uint32_t character_at(const char *at)
{
    size_t n = strnlen(at, 4);
    bool is_valid;

    return n > 0 ? text_utf8_point(at, text_utf8_length(at, n, &is_valid)) : 0;
}

/*
 * True for characters of words in scripts that put spaces between words. False for
 * punctuation, and for Thai, Chinese and Japanese, in which any position counts as a word
 * boundary.
 */
static bool is_of_word(uint32_t c)
{
    if (c < 0x80)
        return c != 0 && (is_letter((char)c) || is_digit((char)c) || c == '_');
    if (c < 0xc0 || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f))
        return false;
    return !(c >= 0x0e00 && c <= 0x0eff) && !(c >= 0x2e80 && c <= 0xa4cf) &&
           !(c >= 0xf900 && c <= 0xfaff) && !(c >= 0xff00 && c <= 0xffef) && c < 0x20000;
}

static bool is_boundary(const char *text, const char *at)
{
    return !is_of_word(character_before(text, at)) || !is_of_word(character_at(at));
}

static bool is_part_at(const char *text, const char *at, struct span part,
                       bool limit_at_end)
{
    return strncmp(at, part.at, part.n) == 0 &&
           (!limit_at_end || is_boundary(text, at + part.n));
}

/*
 * Return the first match of a part between `at` and `end`, or NULL. If limit_at_begin or
 * limit_at_end is true, the match must begin or end at a word boundary.
 */
static const char *find_part(const char *text, const char *end, const char *at,
                             struct span part, bool limit_at_begin, bool limit_at_end)
{
    for (; (at = memchr(at, part.at[0], (size_t)(end - at))) != NULL; at++)
        if ((size_t)(end - at) >= part.n && memcmp(at, part.at, part.n) == 0 &&
            (!limit_at_begin || is_boundary(text, at)) &&
            (!limit_at_end || is_boundary(text, at + part.n)))
            return at;
    return NULL;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \n");
}

/*
 * Return the end of the range that begins at `start`, or NULL if the directive's end or
 * suffix does not match. If no later start can match either, set *is_over to true.
 */
static const char *match_end(const char *text, const char *text_end, const char *start,
                             const struct directive *directive, bool *is_over)
{
    const char *at = start + directive->start.n;
    bool has_suffix = directive->suffix.n > 0;

    if (directive->end.n == 0)
        return !has_suffix || is_part_at(text, skip_space(at), directive->suffix, true)
                   ? at
                   : NULL;
    while ((at = find_part(text, text_end, at, directive->end, true, !has_suffix)) !=
           NULL) {
        at += directive->end.n;
        if (!has_suffix || is_part_at(text, skip_space(at), directive->suffix, true))
            return at;
    }
    *is_over = true;
    return NULL;
}

static bool text_matches(const char *text, const struct directive *directive)
{
    bool has_prefix = directive->prefix.n > 0, is_over = false;
    bool ends_word = directive->end.n > 0 || directive->suffix.n == 0;
    struct span first = has_prefix ? directive->prefix : directive->start;
    const char *at = text, *end = text + strlen(text);

    while (!is_over && (at = find_part(text, end, at, first, true,
                                       !has_prefix && ends_word)) != NULL) {
        const char *start = has_prefix ? skip_space(at + first.n) : at;

        if ((!has_prefix || is_part_at(text, start, directive->start, ends_word)) &&
            match_end(text, end, start, directive, &is_over) != NULL)
            return true;
        at++;
    }
    return false;
}

static int has_one(const char *text, const char *value, size_t n)
{
    struct directive directive = {.texts = {NULL}};
    int rc = parse_directive(value, n, &directive);

    if (rc > 0)
        rc = text_matches(text, &directive);
    else if (rc == 0)
        rc = 1;
    for (size_t i = 0; i < 4; i++)
        free(directive.texts[i]);
    return rc;
}

int page_text_has(const char *text, const char *directive)
{
    int rc = 1;

    while (rc > 0 && *directive != '\0') {
        size_t n = strcspn(directive, "&");

        if (n > 5 && strncmp(directive, "text=", 5) == 0)
            rc = has_one(text, directive + 5, n - 5);
        directive += n + (directive[n] == '&');
    }
    return rc;
}
