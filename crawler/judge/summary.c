/* summary.c - see summary.h */
#include "summary.h"

/*
 * Return the bit of a verdict in known->counted. Each verdict that depends on the
 * fragment has its own bit. All other verdicts share the first bit, because a page can
 * have only one of them.
 */
static uint8_t counted_bit(enum verdict verdict)
{
    unsigned bit = 1;

    if (!verdict_traits(verdict)->is_of_fragment)
        return 1;
    for (enum verdict v = VERDICT_OPEN; v < verdict; v++)
        bit += verdict_traits(v)->is_of_fragment;
    return (uint8_t)(1 << bit);
}

/* Return true if no target with the same page and verdict was counted before. */
static bool is_first_of_url(const struct verdicts *verdicts, const struct target *target)
{
    struct known *page = targets_known(verdicts->targets, target->page);
    uint8_t bit = counted_bit(target->verdict);
    bool is_first = (page->counted & bit) == 0;

    page->counted |= bit;
    return is_first;
}

/*
 * Count the stored links to a target that are not in the baseline. Called if the verdict
 * on the target is in the baseline.
 */
static size_t count_new_links(const struct verdicts *verdicts,
                              const struct target *target)
{
    const struct reference *reference =
        references_of(&verdicts->references, verdicts->targets, target);
    size_t n = 0;

    for (; reference != NULL;
         reference = references_at(&verdicts->references, reference->before))
        n += reference_is_reported(reference, target);
    return n;
}

static void count_target(struct verdicts *verdicts, const struct target *target)
{
    struct record_summary *summary = &verdicts->summary;
    size_t links = targets_known(verdicts->targets, target)->reference_count;

    summary->urls += target->fragment_at == 0;
    if (!target->is_wanted)
        return;
    summary->targets++;
    summary->verdict_urls[target->verdict] += is_first_of_url(verdicts, target);
    summary->verdict_links[target->verdict] += links;
    if (!judge_fails(verdicts->options, target->verdict) ||
        (target->is_known && !targets_known(verdicts->targets, target)->has_new))
        return;
    verdicts->summary.findings++;
    summary->finding_links +=
        target->is_known ? count_new_links(verdicts, target) : links;
}

void summary_count(struct verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->targets->count; i++)
        count_target(verdicts, targets_at(verdicts->targets, i));
}
