/*
 * html_doctype.c - parse a DOCTYPE. (13.2.5.53 to 68)
 *
 * A '>' always ends a DOCTYPE, even inside quotes. The tokenizer therefore first collects
 * the text up to the '>', and then passes it to html_doctype_of().
 */
#include "html_states.h"

#include <string.h>
#include <strings.h>

struct reader {
    char *at, *end;
};

static bool skip_space(struct reader *in)
{
    while (in->at < in->end && html_is_space(*in->at))
        in->at++;
    return in->at < in->end;
}

static bool skip_word(struct reader *in, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(in->end - in->at) < n || strncasecmp(in->at, word, n) != 0)
        return false;
    in->at += n;
    return true;
}

static struct html_name read_name(struct reader *in)
{
    struct html_name name = {.bytes = in->at};

    for (; in->at < in->end && !html_is_space(*in->at); in->at++)
        *in->at = to_lower(*in->at);
    name.n = (size_t)(in->at - name.bytes);
    return name;
}

/* Read a quoted string. Returns false if the opening or closing quote is missing. */
static bool read_quoted(struct reader *in, struct html_name *text)
{
    char quote, *closing;

    if (in->at == in->end || (*in->at != '"' && *in->at != '\''))
        return false;
    quote = *in->at++;
    closing = memchr(in->at, quote, (size_t)(in->end - in->at));
    text->bytes = in->at;
    text->n = (size_t)((closing != NULL ? closing : in->end) - in->at);
    in->at = closing != NULL ? closing + 1 : in->end;
    return closing != NULL;
}

/*
 * Read the identifiers after the name. Returns true if they are valid, whatever follows
 * them.
 */
static bool read_ids(struct reader *in, struct html_doctype *doctype)
{
    if (skip_word(in, "public")) {
        skip_space(in);
        if (!read_quoted(in, &doctype->public_id))
            return false;
        if (!skip_space(in))
            return true;
    } else if (skip_word(in, "system")) {
        skip_space(in);
    } else {
        return false;
    }
    return read_quoted(in, &doctype->system_id);
}

struct html_doctype html_doctype_of(char *text, size_t n, bool is_complete)
{
    struct reader in = {text, text + n};
    struct html_doctype doctype = {.force_quirks = true};

    if (!skip_space(&in))
        return doctype;
    doctype.name = read_name(&in);
    if (skip_space(&in)) {
        if (!read_ids(&in, &doctype))
            return doctype;
        if (skip_space(&in)) { /* ignore any other text */
            doctype.force_quirks = false;
            return doctype;
        }
    }
    doctype.force_quirks = !is_complete;
    return doctype;
}
