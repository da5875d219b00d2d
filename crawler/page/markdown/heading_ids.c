/*
 * heading_ids.c - see heading_ids.h
 *
 * Text is converted to lower case. Letters, marks, digits, "_" and "-" remain, a space
 * becomes "-", and everything else is removed: "I will \u2665 C++" becomes "i-will--c".
 * U+FE0F, which is part of some emojis, is a mark, so it remains. If the id already
 * exists, "-1" is appended, or the next number that makes the id unique.
 */
#include "heading_ids.h"

#include "../html/html_reference.h"
#include "../../base/text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

/*
 * The locale, which is loaded once and never freed, because the C library reads it from
 * disk.
 */
static locale_t unicode;

static void load_unicode(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void load_unicode_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_unicode);
}

void heading_ids_init(struct heading_ids *ids)
{
    *ids = (struct heading_ids){0};
    load_unicode_once();
}

void heading_ids_finish(struct heading_ids *ids)
{
    table_finish(&ids->given);
    arena_finish(&ids->arena);
}

static void add_character(struct text *out, wint_t c)
{
    char bytes[4];

    text_add(out, bytes, html_put_utf8(c, bytes));
}

/*
 * True for connector punctuation such as U+203F. The C library does not have a class for
 * it.
 */
static bool is_connector(wint_t c)
{
    return c == 0x203f || c == 0x2040 || c == 0x2054 || c == 0xfe33 || c == 0xfe34 ||
           (c >= 0xfe4d && c <= 0xfe4f) || c == 0xff3f;
}

static void add_lower(struct text *out, wint_t c)
{
    if (c == 0x130) /* the only letter whose lower case is two code points */
        text_add(out, "i\u0307", 3);
    else
        add_character(out, unicode != (locale_t)0 ? (wint_t)towlower_l(c, unicode) : c);
}

/*
 * Append a non-ASCII character, if ids may contain it. If the system does not have the
 * locale, treat it as a letter.
 */
static void add_beyond_ascii(struct text *out, wint_t c)
{
    if (unicode == (locale_t)0)
        add_character(out, c);
    else if (iswalnum_l(c, unicode) || is_connector(c) ||
             iswctype_l(c, wctype_l("combining", unicode), unicode))
        add_lower(out, c);
}

static void add_slug(struct text *out, const char *s, size_t n)
{
    for (size_t i = 0, length; i < n; i += length) {
        bool is_valid;
        length = text_utf8_length(s + i, n - i, &is_valid);
        if (s[i] == ' ')
            text_add(out, "-", 1);
        else if (is_letter(s[i]) || is_digit(s[i]) || s[i] == '-' || s[i] == '_')
            text_add_lower(out, s + i, 1);
        else if ((unsigned char)s[i] >= 0x80)
            add_beyond_ascii(out, text_utf8_point(s + i, length));
    }
}

/*
 * Add an id to the table, with a count of 0. Returns its count, or NULL if memory runs
 * out.
 */
static unsigned *add_id(struct heading_ids *ids, const char *id, const char **kept)
{
    unsigned *count = arena_alloc(&ids->arena, sizeof *count);

    *kept = arena_text(&ids->arena, id, strlen(id));
    if (count == NULL || *kept == NULL || table_add(&ids->given, *kept, count) < 0)
        return NULL;
    *count = 0;
    return count;
}

/*
 * Add the first id of the sequence `slug`, "slug-1", "slug-2" ... that is not in the
 * table yet, and return it.
 */
static const char *add_unique_id(struct heading_ids *ids, const char *slug)
{
    unsigned *count = table_get(&ids->given, slug);
    const char *kept = NULL;
    char *id = NULL;

    if (count == NULL)
        return add_id(ids, slug, &kept) != NULL ? kept : NULL;
    do {
        free(id);
        if (asprintf(&id, "%s-%u", slug, ++*count) < 0)
            return NULL;
    } while (table_get(&ids->given, id) != NULL);
    if (add_id(ids, id, &kept) == NULL)
        kept = NULL;
    free(id);
    return kept;
}

const char *heading_ids_add(struct heading_ids *ids, const char *text, size_t n)
{
    struct text valid = {0}, slug = {0};
    const char *id = NULL;
    char *taken;

    text_add_utf8(&valid, text, n, "");
    add_slug(&slug, valid.at, valid.n);
    slug.failed = slug.failed || valid.failed;
    text_finish(&valid);
    taken = text_take(&slug);
    if (taken != NULL)
        id = add_unique_id(ids, taken);
    free(taken);
    return id;
}

char *heading_ids_lower(const char *text, size_t n)
{
    struct text valid = {0}, lower = {0};

    load_unicode_once();
    text_add_utf8(&valid, text, n, "");
    for (size_t i = 0, length; i < valid.n; i += length) {
        bool is_valid;
        length = text_utf8_length(valid.at + i, valid.n - i, &is_valid);
        if (length == 1)
            text_add_lower(&lower, valid.at + i, 1);
        else
            add_lower(&lower, text_utf8_point(valid.at + i, length));
    }
    lower.failed = lower.failed || valid.failed;
    text_finish(&valid);
    return text_take(&lower);
}
