/*
 * reference.c - store the references to all targets in one array, in which those to each
 * target form a linked list.
 *
 * In memory, entries of dropped references are reused. On disk, references are only
 * appended, because an entry would have to be read before it is reused. So each reference
 * occupies 32 bytes of disk space until the crawl ends, even if it is dropped.
 */
#include "reference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* at least the usual number of pages that are searched concurrently (--max-tasks) */
#define PAGES_AT_A_TIME 32

/* Return the index of an unused entry, or 0 if memory runs out. */
static uint32_t take_index(struct references *references)
{
    uint32_t at = references->unused;

    if (at > 0) {
        references->unused = references_at(references, at)->before;
        /* the next entry may be anywhere in memory, so load it into the cache now */
        __builtin_prefetch(references_at(references, references->unused));
        return at;
    }
    if (references->count + 1 >= UINT32_MAX ||
        blocks_reach(&references->all, references->count + 1) == NULL)
        return 0;
    return (uint32_t)++references->count;
}

/*
 * Return a copy of the text that lives as long as the targets. A long text is truncated.
 */
static const char *intern_text(struct targets *targets, const char *text, size_t n)
{
    enum { KEPT = 200 };
    char cut[KEPT + 4];

    if (n <= KEPT)
        return targets_intern(targets, text, n);
    snprintf(cut, sizeof cut, "%.*s...", KEPT, text);
    return targets_intern(targets, cut, KEPT + 3);
}

/*
 * Store the text of a link. Most texts are a suffix of the target's URL, of which only
 * the length is stored.
 */
static int set_text(struct reference *reference, struct targets *targets,
                    const struct unseen *unseen, const char *text)
{
    size_t n = strlen(text);

    if (n <= unseen->url_n && memcmp(unseen->url + unseen->url_n - n, text, n) == 0) {
        reference->target = unseen->target;
        reference->text_n = (uint32_t)n;
        return 0;
    }
    reference->text = intern_text(targets, text, n);
    reference->text_n = REFERENCE_HAS_TEXT;
    return reference->text != NULL ? 0 : -ENOMEM;
}

static int add_reference(struct references *references, struct targets *targets,
                         const struct unseen *unseen, const struct reference_place *place)
{
    struct reference reference = {.page = place->page,
                                  .line = place->line,
                                  .column = place->column & INT32_MAX,
                                  .is_known = place->is_known,
                                  .before = unseen->known->references};
    uint32_t at;

    references->all.element_bytes = sizeof reference;
    references->all.cold = targets->all.cold;
    if (set_text(&reference, targets, unseen, place->text) < 0)
        return -ENOMEM;
    at = take_index(references);
    if (at == 0)
        return -ENOMEM;
    *(struct reference *)blocks_at(&references->all, at) = reference;
    unseen->known->references = at;
    return 0;
}

static void count_reference(struct known *known, bool is_known)
{
    known->has_new |= !is_known;
    known->reference_count += known->reference_count < UINT32_MAX;
}

/*
 * Return true if a link must be stored, because few references to its target are stored
 * or because it is the first one on its page. Only few pages are searched at a time, so
 * an earlier link on the same page is near the head of the list.
 */
static bool adds_something(const struct references *references, const struct known *known,
                           const struct target *page)
{
    uint32_t at = known->references;

    if (known->reference_count <= REFERENCES_KEPT)
        return true;
    for (int i = 0; i < PAGES_AT_A_TIME && at > 0; i++) {
        const struct reference *reference = references_at(references, at);
        if (reference->page == page)
            return false;
        at = reference->before;
    }
    return true;
}

bool references_are_needed(const struct references *references,
                           const struct target *target)
{
    if (target->verdict != VERDICT_OK && target->verdict != VERDICT_SKIPPED)
        return true;
    return references->fail_on != NULL && references->fail_on[target->verdict];
}

int references_add_unseen(struct references *references, struct targets *targets,
                          const struct unseen *unseen,
                          const struct reference_place *place)
{
    count_reference(unseen->known, place->is_known);
    if (unseen->known->is_unreported || references->takes_none ||
        !adds_something(references, unseen->known, place->page))
        return 0;
    return add_reference(references, targets, unseen, place);
}

int references_add(struct references *references, struct targets *targets,
                   struct target *target, const struct reference_place *place)
{
    struct known *known = targets_known(targets, target);
    struct unseen unseen = {target, known, target->url, target->url_n};
    bool is_first = known->references == 0;
    int rc;

    count_reference(known, place->is_known);
    if (references->takes_none || !references_are_needed(references, target) ||
        !adds_something(references, known, place->page))
        return 0;
    rc = add_reference(references, targets, &unseen, place);
    if (rc == 0 && is_first)
        target->first_reference = known->references;
    return rc;
}

void references_drop(struct references *references, const struct targets *targets,
                     const struct target *target)
{
    struct known *known = targets_known(targets, target);

    known->is_unreported = true;
    if (known->references > 0 && references->all.cold == NULL) {
        struct reference *first = blocks_at(&references->all, target->first_reference);
        first->before = references->unused;
        references->unused = known->references;
    }
    known->references = 0;
}

const struct reference *references_at(const struct references *references, uint32_t at)
{
    cold_tend(references->all.cold);
    return at > 0 ? blocks_at(&references->all, at) : NULL;
}

const struct reference *references_of(const struct references *references,
                                      const struct targets *targets,
                                      const struct target *target)
{
    return references_at(references, targets_known(targets, target)->references);
}

bool reference_is_reported(const struct reference *reference, const struct target *target)
{
    return !target->is_known || !reference->is_known;
}

const char *reference_text(const struct reference *reference)
{
    if (reference->text_n == REFERENCE_HAS_TEXT)
        return reference->text;
    return reference->target->url + (reference->target->url_n - reference->text_n);
}

void references_finish(struct references *references)
{
    blocks_finish(&references->all);
    *references = (struct references){.count = 0};
}
