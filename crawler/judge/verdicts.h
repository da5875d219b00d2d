/*
 * verdicts.h - set the verdict of each target, and of the targets that wait for it.
 *
 * A target with a fragment waits for its page. A target that redirects waits for the next
 * target of its chain. Invariant: a waiting target is in the list of exactly one other
 * target, or in the list `due`.
 *
 * In a process of a shared crawl (crawler->member), only verdicts_settle_text() sets a
 * verdict. The other functions do nothing, and `collect` judges the targets.
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
    struct baseline *baseline; /* known findings, which do not fail the run; or NULL */
    struct record_sinks sinks; /* receive each verdict */
    struct record_summary summary;
    struct references references;
    struct table redirects; /* redirect_fragment.h */
    struct target *due;     /* list of targets whose verdict can be set now */
    bool are_collected;     /* a shared crawl, where `collect` judges instead */
};

/* Free the members. A zeroed struct is accepted. */
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

/* Record that a link leads to the target. The verdict of the target is reported now, or
   as soon as it is known. */
int verdicts_want(struct verdicts *verdicts, struct target *target);

/* Settle a new target with a fragment, now or as soon as its page is settled. */
int verdicts_await_page(struct verdicts *verdicts, struct target *target);

/* Settle a target that redirects to target->next, now or as soon as the page at the end
   of
 * the chain is settled. */
int verdicts_await_next(struct verdicts *verdicts, struct target *target);

/*
 * If the redirect from `target` to target->next closes a loop that sets a cookie, discard
 * the redirect of target->next and return true. The caller must then fetch target->next
 * again.
 */
bool verdicts_reopen_circle(const struct verdicts *verdicts, struct target *target);

/* Settle the targets that are waiting for the ids of a page that is already settled. */
int verdicts_recheck(struct verdicts *verdicts, struct target *page);

/* Settle the targets that lead to `next` through too many redirects. `next` itself is not
   fetched. */
int verdicts_give_up(struct verdicts *verdicts, struct target *next);

/* Settle all targets that still lack a verdict, if possible with a more specific one than
   `judgement`. Call this when the crawl is over. */
int verdicts_end(struct verdicts *verdicts, struct judgement judgement);

#endif
