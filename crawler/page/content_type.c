/* content_type.c - see content_type.h */
#include "content_type.h"

#include "../base/ascii.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANK " \t\r\n"

struct span {
    const char *at;
    size_t n;
};

struct type {
    struct span essence; /* "text/html" */
    struct span charset; /* n is 0 without a charset */
};

static struct span trim(struct span span)
{
    while (span.n > 0 && strchr(BLANK, span.at[span.n - 1]) != NULL)
        span.n--;
    while (span.n > 0 && strchr(BLANK, *span.at) != NULL) {
        span.at++;
        span.n--;
    }
    return span;
}

/* True if the text is a token as defined by HTTP. (RFC 9110, 5.6.2) */
static bool is_token(struct span span)
{
    for (size_t i = 0; i < span.n; i++)
        if (!is_letter(span.at[i]) && !is_digit(span.at[i]) &&
            (span.at[i] == '\0' || strchr("!#$%&'*+-.^_`|~", span.at[i]) == NULL))
            return false;
    return span.n > 0;
}

/* Return the part before the first separator outside of quotes. */
static struct span part_before(struct span span, char separator)
{
    bool in_quotes = false;
    size_t n = 0;

    for (; n < span.n && (in_quotes || span.at[n] != separator); n++) {
        if (span.at[n] == '"')
            in_quotes = !in_quotes;
        else if (in_quotes && span.at[n] == '\\')
            n += n + 1 < span.n;
    }
    return (struct span){span.at, n};
}

/* Remove the first part and its separator from *rest, and return the part. */
static struct span take_part(struct span *rest, char separator)
{
    struct span part = part_before(*rest, separator);
    size_t n = part.n < rest->n ? part.n + 1 : part.n;

    *rest = (struct span){rest->at + n, rest->n - n};
    return part;
}

static bool is_word(struct span span, const char *word)
{
    return span.n == strlen(word) && strncasecmp(span.at, word, span.n) == 0;
}

/* Return the value of a charset parameter, without quotes, or an empty span. */
static struct span charset_of(struct span parameter)
{
    struct span value = parameter, name = take_part(&value, '=');

    if (!is_word(trim(name), "charset"))
        return (struct span){NULL, 0};
    value = trim(value);
    if (value.n >= 2 && value.at[0] == '"' && value.at[value.n - 1] == '"')
        value = (struct span){value.at + 1, value.n - 2};
    return is_token(value) ? value : (struct span){NULL, 0};
}

/* Parse a MIME type. Returns false if the text is not a MIME type. (WHATWG, MIME
   Sniffing, 4.4) */
static bool parse_type(struct span text, struct type *type)
{
    struct span rest = text, subtype;

    type->essence = trim(take_part(&rest, ';'));
    type->charset = (struct span){NULL, 0};
    subtype = type->essence;
    if (!is_token(take_part(&subtype, '/')) || !is_token(subtype))
        return false;
    while (rest.n > 0 && type->charset.n == 0)
        type->charset = charset_of(take_part(&rest, ';'));
    return !is_word(type->essence, "*/*");
}

/* True if the type only says that the server does not know it. (MIME Sniffing, 7) */
static bool is_unknown(struct span essence)
{
    return is_word(essence, "unknown/unknown") || is_word(essence, "application/unknown");
}

bool content_type_is_single(const char *value)
{
    struct span text = {value, strlen(value)};
    struct type type;

    return part_before(text, ',').n == text.n && parse_type(text, &type) &&
           !is_unknown(type.essence);
}

static bool is_same(struct span a, struct span b)
{
    return a.n == b.n && a.n > 0 && strncasecmp(a.at, b.at, a.n) == 0;
}

int content_type_extract(const char *const *values, size_t count, char **out)
{
    struct type found = {{NULL, 0}, {NULL, 0}}, type;

    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        struct span rest = {values[i], strlen(values[i])};

        while (rest.n > 0) {
            if (!parse_type(take_part(&rest, ','), &type))
                continue;
            if (type.charset.n == 0 && is_same(type.essence, found.essence))
                type.charset = found.charset;
            found = type;
        }
    }
    if (found.essence.n == 0 || is_unknown(found.essence))
        return 0;
    if (asprintf(out, "%.*s%s%.*s", (int)found.essence.n, found.essence.at,
                 found.charset.n > 0 ? ";charset=" : "", (int)found.charset.n,
                 found.charset.n > 0 ? found.charset.at : "") < 0) {
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}
