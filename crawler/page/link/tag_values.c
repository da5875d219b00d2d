/*
 * tag_values.c - the stored values of the tag that is being read.
 */
#include "link_visit.h"
#include "links_inside.h"

#include <string.h>
#include <strings.h>

struct kept_value *links_attribute(const struct links *links, enum html_attribute which)
{
    for (size_t i = links->tag_at; i < links->count; i++)
        if (links->kept[i].attribute == which)
            return &links->kept[i];
    return NULL;
}

bool links_attribute_is(const struct links *links, enum html_attribute which,
                        const char *one, const char *other)
{
    const struct kept_value *value = links_attribute(links, which);
    char text[3 * 64 + 1];

    if (value == NULL || value->n > 64)
        return false;
    text[html_decode(links->bytes.bytes + value->start, value->n, text)] = '\0';
    return strcasecmp(text, one) == 0 || strcasecmp(text, other) == 0;
}

char *links_words_of(const struct links *links, enum html_attribute which,
                     char text[3 * LINKS_WORDS_BYTES + 1])
{
    const struct kept_value *value = links_attribute(links, which);
    size_t n = value != NULL && value->n <= LINKS_WORDS_BYTES ? value->n : 0;

    text[n > 0 ? html_decode(links->bytes.bytes + value->start, n, text) : 0] = '\0';
    return text;
}

bool links_attribute_has(const struct links *links, enum html_attribute which,
                         const char *one, const char *other)
{
    char text[3 * LINKS_WORDS_BYTES + 1], *rest = links_words_of(links, which, text),
                                          *word;

    while ((word = strtok_r(rest, LINK_SEPARATORS, &rest)) != NULL)
        if (strcasecmp(word, one) == 0 || strcasecmp(word, other) == 0)
            return true;
    return false;
}
