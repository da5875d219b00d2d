/*
 * reference.c - one array for the mentions of all targets, each target's linked through it.
 *
 * One that is dropped makes room for another, unless they are cold: then each would be a look at
 * what was written long ago. They are only written one behind the other then, 32 bytes of the
 * file for each link to what has no verdict yet.
 */
#include "reference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_AT_A_TIME 32 /* that are searched, about: --max-tasks */

/* The index of a free one, or 0. */
static uint32_t take(struct mentions *mentions)
{
    uint32_t at = mentions->unused;

    if (at > 0) {
        mentions->unused = mentions_at(mentions, at)->before;
        return at;
    }
    if (mentions->count + 1 >= UINT32_MAX ||
        blocks_reach(&mentions->all, mentions->count + 1) == NULL)
        return 0;
    return (uint32_t)++mentions->count;
}

/* For as long as the crawl. */
static const char *keep_text(struct targets *targets, const char *text, size_t n)
{
    enum { KEPT = 200 };
    char cut[KEPT + 4];

    if (n <= KEPT)
        return targets_intern(targets, text, n);
    snprintf(cut, sizeof cut, "%.*s...", KEPT, text);
    return targets_intern(targets, cut, KEPT + 3);
}

/* Most texts are the end of the URL they name. */
static int set_text(struct mention *mention, struct targets *targets,
                    const struct unseen *unseen, const char *text)
{
    size_t n = strlen(text);

    if (n <= unseen->url_n && memcmp(unseen->url + unseen->url_n - n, text, n) == 0) {
        mention->target = unseen->target;
        mention->text_n = (uint32_t)n;
        return 0;
    }
    mention->text = keep_text(targets, text, n);
    mention->text_n = MENTION_HAS_TEXT;
    return mention->text != NULL ? 0 : -ENOMEM;
}

static int add(struct mentions *mentions, struct targets *targets,
               const struct unseen *unseen, const struct mention_place *place)
{
    struct mention mention = {.page = place->page,
                              .line = place->line,
                              .column = place->column & INT32_MAX,
                              .is_known = place->is_known,
                              .before = unseen->known->mentions};
    uint32_t at;

    mentions->all.element_bytes = sizeof mention;
    mentions->all.cold = targets->all.cold;
    if (set_text(&mention, targets, unseen, place->text) < 0)
        return -ENOMEM;
    at = take(mentions);
    if (at == 0)
        return -ENOMEM;
    *(struct mention *)blocks_at(&mentions->all, at) = mention;
    unseen->known->mentions = at;
    return 0;
}

static void count(struct known *known, bool is_known)
{
    known->has_new |= !is_known;
    known->mention_count += known->mention_count < UINT32_MAX;
}

/* It was counted. Some pages are searched at the same time: the page's first mention is
   not far back. */
static bool adds_something(const struct mentions *mentions, const struct known *known,
                           const struct target *page)
{
    uint32_t at = known->mentions;

    if (known->mention_count <= MENTIONS_KEPT)
        return true;
    for (int i = 0; i < PAGES_AT_A_TIME && at > 0; i++) {
        const struct mention *mention = mentions_at(mentions, at);
        if (mention->page == page)
            return false;
        at = mention->before;
    }
    return true;
}

bool mentions_are_needed(const struct mentions *mentions, const struct target *target)
{
    if (target->verdict != VERDICT_OK && target->verdict != VERDICT_SKIPPED)
        return true;
    return mentions->fail_on != NULL && mentions->fail_on[target->verdict];
}

int mentions_add_unseen(struct mentions *mentions, struct targets *targets,
                        const struct unseen *unseen, const struct mention_place *place)
{
    count(unseen->known, place->is_known);
    if (unseen->known->is_well || mentions->takes_none ||
        !adds_something(mentions, unseen->known, place->page))
        return 0;
    return add(mentions, targets, unseen, place);
}

int mentions_add(struct mentions *mentions, struct targets *targets,
                 struct target *target, const struct mention_place *place)
{
    struct known *known = targets_known(targets, target);
    struct unseen unseen = {target, known, target->url, target->url_n};
    bool is_first = known->mentions == 0;
    int rc;

    count(known, place->is_known);
    if (mentions->takes_none || !mentions_are_needed(mentions, target) ||
        !adds_something(mentions, known, place->page))
        return 0;
    rc = add(mentions, targets, &unseen, place);
    if (rc == 0 && is_first)
        target->first_mention = known->mentions;
    return rc;
}

void mentions_drop(struct mentions *mentions, const struct targets *targets,
                   const struct target *target)
{
    struct known *known = targets_known(targets, target);

    known->is_well = true;
    if (known->mentions > 0 && mentions->all.cold == NULL) {
        struct mention *first = blocks_at(&mentions->all, target->first_mention);
        first->before = mentions->unused;
        mentions->unused = known->mentions;
    }
    known->mentions = 0;
}

const struct mention *mentions_at(const struct mentions *mentions, uint32_t at)
{
    cold_tend(mentions->all.cold);
    return at > 0 ? blocks_at(&mentions->all, at) : NULL;
}

const struct mention *mentions_of(const struct mentions *mentions,
                                  const struct targets *targets,
                                  const struct target *target)
{
    return mentions_at(mentions, targets_known(targets, target)->mentions);
}

bool mention_is_told(const struct mention *mention, const struct target *target)
{
    return !target->is_known || !mention->is_known;
}

const char *mention_text(const struct mention *mention)
{
    if (mention->text_n == MENTION_HAS_TEXT)
        return mention->text;
    return mention->target->url + (mention->target->url_n - mention->text_n);
}

void mentions_finish(struct mentions *mentions)
{
    blocks_finish(&mentions->all);
    *mentions = (struct mentions){.count = 0};
}
