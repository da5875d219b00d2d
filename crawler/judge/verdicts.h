/*
 * verdicts.h - set the verdicts of targets, and of the targets that depend on them.
 *
 * A target with a fragment depends on its page. A target that redirects depends on the
 * next one of its chain.
 * Invariant: a target is in the list of at most one other target, or in verdicts->due.
 *
 * In a shared crawl (are_collected), only texts are judged. The other functions do
 * nothing then.
 */
#ifndef CRAWLER_VERDICTS_H
#define CRAWLER_VERDICTS_H

#include "../base/table.h"
#include "../files/baseline.h"
#include "../frontier/target.h"
#include "../options/options.h"
#include "../verdict/record.h"
#include "judge.h"
#include "reference.h"

/* Borrows the first three members, and the sinks. */
struct verdicts {
    const struct options *options;
    struct targets *targets;
    struct baseline *baseline; /* findings that do not fail the run; or NULL */
    struct record_sinks sinks; /* get each verdict */
    struct record_summary summary;
    struct references references;
    struct table redirects; /* redirect_fragment.h */
    struct target *due;     /* targets whose verdict can be found now */
    bool are_collected;     /* in a shared crawl, `collect` judges, and this does not */
};

/* Zeroes are accepted. */
void verdicts_finish(struct verdicts *verdicts);

/* Set and report the verdict of a target, and settle all targets that depend on it.
   `message` is copied; NULL is accepted. 0, -ENOMEM, or the failure of a sink. */
int verdicts_settle(struct verdicts *verdicts, struct target *target,
                    struct judgement judgement, const char *message);

/* Set the verdict of a target that is only a text: a link that is not followed, or is
   not a URL. The target has the beginning of a long text; `text` is the whole. */
int verdicts_settle_text(struct verdicts *verdicts, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment);

/* A link leads to the target: report its verdict, now or when it is set. */
int verdicts_want(struct verdicts *verdicts, struct target *target);

/* A new target with a fragment: its verdict follows from its page's. */
int verdicts_await_page(struct verdicts *verdicts, struct target *target);

/* target->next is set: its verdict follows from that of the chain's end. */
int verdicts_await_next(struct verdicts *verdicts, struct target *target);

/* True if the redirect of `target`, whose next is set, closes a loop that sets a
   cookie. Then the redirect of the next target is forgotten, and that target must be
   fetched again. */
bool verdicts_reopen_circle(const struct verdicts *verdicts, struct target *target);

/* A page that was judged before has its ids now. */
int verdicts_recheck(struct verdicts *verdicts, struct target *page);

/* `next` lies beyond the redirects that are allowed: settle all that are too far from
   it. */
int verdicts_give_up(struct verdicts *verdicts, struct target *next);

/* The crawl is over: settle all that is left. */
int verdicts_end(struct verdicts *verdicts, struct judgement judgement);

#endif
