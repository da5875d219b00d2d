/*
 * mention.c - one array for the mentions of all targets, each target's linked through it.
 */
#include "mention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

/* The index of a free one, or 0. */
static uint32_t take(struct mentions *mentions)
{
    uint32_t at = mentions->unused;

    if (at > 0) {
        mentions->unused = mentions->all[at].before;
        return at;
    }
    if (mentions->count + 1 >= mentions->capacity) {
        size_t capacity =
            mentions->capacity > 0 ? mentions->capacity * 3 / 2 : FIRST_CAPACITY;
        struct mention *longer = capacity < UINT32_MAX
                                     ? realloc(mentions->all, capacity * sizeof *longer)
                                     : NULL;
        if (longer == NULL)
            return 0;
        mentions->all = longer;
        mentions->capacity = capacity;
    }
    return (uint32_t)++mentions->count;
}

/* For as long as the crawl. Most texts are the end of the URL they name. */
static const char *keep_text(struct targets *targets, const struct target *target,
                             const char *text)
{
    enum { KEPT = 200 };
    char cut[KEPT + 4];
    size_t n = strlen(text);

    if (n <= target->url_n && memcmp(target->url + target->url_n - n, text, n) == 0)
        return target->url + target->url_n - n;
    if (n <= KEPT)
        return targets_intern(targets, text, n);
    snprintf(cut, sizeof cut, "%.*s...", KEPT, text);
    return targets_intern(targets, cut, KEPT + 3);
}

bool mentions_are_needed(const struct mentions *mentions, const struct target *target)
{
    if (target->verdict != VERDICT_OK && target->verdict != VERDICT_SKIPPED)
        return true;
    return mentions->fail_on != NULL && mentions->fail_on[target->verdict];
}

int mentions_add(struct mentions *mentions, struct targets *targets,
                 struct target *target, const struct target *page, const char *text,
                 uint32_t line, uint32_t column)
{
    uint32_t at;

    target->mention_count += target->mention_count < UINT32_MAX;
    if (!mentions_are_needed(mentions, target) || target->mention_count > MENTIONS_KEPT)
        return 0;
    text = keep_text(targets, target, text);
    at = text != NULL ? take(mentions) : 0;
    if (at == 0)
        return -ENOMEM;
    mentions->all[at] = (struct mention){page, text, line, column, target->mentions};
    if (target->mentions == 0)
        target->first_mention = at;
    target->mentions = at;
    return 0;
}

void mentions_drop(struct mentions *mentions, struct target *target)
{
    if (target->mentions == 0)
        return;
    mentions->all[target->first_mention].before = mentions->unused;
    mentions->unused = target->mentions;
    target->mentions = 0;
}

const struct mention *mentions_at(const struct mentions *mentions, uint32_t at)
{
    return at > 0 ? &mentions->all[at] : NULL;
}

void mentions_finish(struct mentions *mentions)
{
    free(mentions->all);
    *mentions = (struct mentions){.all = NULL};
}
