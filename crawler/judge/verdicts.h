/*
 * verdicts.h - set the verdict of each target, and of the targets that wait for it.
 *
 * A target with a fragment waits for its page. A target that redirects waits for the next
 * target of its chain. Invariant: a target waits for at most one other, or is in the list
 * `due`.
 *
 * In a shared crawl, a member (crawler->member) judges only link texts. The other
 * functions do nothing there, and `collect` judges the targets.
 *
 * Functions return 0, -ENOMEM, or the error of a sink.
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

/* The first three members and the sinks are borrowed. */
struct verdicts {
    const struct options *options;
    struct targets *targets;
    struct baseline *baseline; /* findings that do not fail the run; or NULL */
    struct record_sinks sinks; /* receive each verdict */
    struct record_summary summary;
    struct references references;
    struct table redirects; /* redirect_fragment.h */
    struct target *due;     /* the list of targets whose verdict can be set now */
    bool are_collected;     /* a member of a shared crawl: `collect` judges instead */
};

/* All zeroes are accepted. */
void verdicts_finish(struct verdicts *verdicts);

/* Set and report the target's verdict, and settle all targets that wait for it. `message`
   is copied and may be NULL. */
int verdicts_settle(struct verdicts *verdicts, struct target *target,
                    struct judgement judgement, const char *message);

/*
 * Set and report the verdict of a link that is not followed or is not a URL. `text` is
 * the whole text of the link; the target stores only the beginning of a long one.
 */
int verdicts_settle_text(struct verdicts *verdicts, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment);

/* Note that a link leads to the target. Report its verdict now, or once it is known. */
int verdicts_want(struct verdicts *verdicts, struct target *target);

/* Let a new target with a fragment get its verdict from its page, now or later. */
int verdicts_await_page(struct verdicts *verdicts, struct target *target);

/* Let a target that redirects to target->next get its verdict from the end of the chain.
   */
int verdicts_await_next(struct verdicts *verdicts, struct target *target);

/*
 * Return true if the redirect from `target` to target->next closes a loop that sets a
 * cookie. Then the redirect of target->next is forgotten, and the caller must fetch that
 * target again.
 */
bool verdicts_reopen_circle(const struct verdicts *verdicts, struct target *target);

/* Check the fragments that wait for the ids of a page. The page was judged before. */
int verdicts_recheck(struct verdicts *verdicts, struct target *page);

/* `next` is beyond the allowed number of redirects. Settle the targets from which more
   redirects than that lead to `next`. */
int verdicts_give_up(struct verdicts *verdicts, struct target *next);

/* The crawl is over: settle all targets without a verdict. */
int verdicts_end(struct verdicts *verdicts, struct judgement judgement);

#endif
