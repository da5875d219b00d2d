/*
 * mention.h - where a target is linked, for reports.
 *
 * At most MENTIONS_KEPT of a target are kept, the first ones, and none of a target
 * whose verdict no report gives the places of; all are counted.
 */
#ifndef CRAWLER_MENTION_H
#define CRAWLER_MENTION_H

#include "target.h"

#define MENTIONS_KEPT 100

struct mention {
    const struct target *page; /* that links, or redirects */
    const char *text; /* as written, kept by the targets; cut where it is very long */
    uint32_t line, column; /* from 1; line 0: it is a redirect, column 0: a header */
    uint32_t before;       /* the mention before this one; 0: there is none */
};

struct mentions {
    struct mention *all; /* from 1 */
    size_t count, capacity;
    uint32_t unused;     /* the first of a list by `before`, or 0 */
    const bool *fail_on; /* for each verdict: it fails the run; NULL: none does */
};

/*
 * `page` points at the target, in these words and at this place; line 0 is a redirect, and
 * column 0 a header. It is counted, and kept if its verdict may need it and there are not enough yet. 0 or -ENOMEM.
 */
int mentions_add(struct mentions *mentions, struct targets *targets,
                 struct target *target, const struct target *page, const char *text,
                 uint32_t line, uint32_t column);

/* Of what is well or skipped no report gives the places, unless that fails the run. */
bool mentions_are_needed(const struct mentions *mentions, const struct target *target);

/* Forget those of a target; their count stays. */
void mentions_drop(struct mentions *mentions, struct target *target);

/* The mention at target->mentions, and so on by `before`: from the last to the first, then NULL. */
const struct mention *mentions_at(const struct mentions *mentions, uint32_t at);

/* Zeroes are accepted. */
void mentions_finish(struct mentions *mentions);

#endif
