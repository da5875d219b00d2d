/*
 * verdicts.h - settle targets: set the verdict of a target, and then of the targets that
 * wait for it.
 *
 * A target with a fragment waits for its page, and a target that redirects waits for the
 * next target of its chain. Each waiting target is in the list of exactly one other
 * target, or in the list `due`.
 *
 * In a process of a shared crawl, verdicts are determined after `collect`, and these
 * functions do nothing. Exception: verdicts_settle_text().
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

/* `options`, `targets`, `baseline` and the sinks are borrowed. */
struct verdicts {
    const struct options *options;
    struct targets *targets;
    struct baseline *baseline; /* known findings, which do not fail the run; or NULL */
    struct record_sinks sinks; /* receive each verdict */
    struct record_summary summary;
    struct references references;
    struct table redirects; /* redirect_fragment.h */
    struct target *due;     /* list of targets to be settled now */
    bool are_collected;     /* verdicts are determined after `collect` */
};

/* Free the members. A zeroed struct is accepted. */
void verdicts_finish(struct verdicts *verdicts);

/*
 * Set and report the target's verdict, and settle all targets that wait for it.
 * `message`, which may be NULL, is copied.
 */
int verdicts_settle(struct verdicts *verdicts, struct target *target,
                    struct judgement judgement, const char *message);

/*
 * Set and report the verdict of a link that is not followed or is not a URL. `text` is
 * the whole text of the link, which is truncated in target->url if it is long.
 */
int verdicts_settle_text(struct verdicts *verdicts, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment);

/*
 * Record that a link leads to the target, so that its verdict is reported, now or as soon
 * as it is set.
 */
int verdicts_want(struct verdicts *verdicts, struct target *target);

/* Settle a new target with a fragment, now or as soon as its page is settled. */
int verdicts_await_page(struct verdicts *verdicts, struct target *target);

/*
 * Settle a target that redirects to target->next, now or as soon as the last page of the
 * chain is settled.
 */
int verdicts_await_next(struct verdicts *verdicts, struct target *target);

/*
 * Return true if the redirect from `target` to target->next closes a loop in which a page
 * sets a cookie. In that case, the redirect of target->next is discarded, and the caller
 * must fetch target->next again.
 */
bool verdicts_reopen_loop(const struct verdicts *verdicts, struct target *target);

/*
 * Settle the targets that wait for the ids of a page. Called when a page that is already
 * settled was fetched again for its ids.
 */
int verdicts_recheck(struct verdicts *verdicts, struct target *page);

/*
 * Settle the targets that lead to `next` through too many redirects. Called if `next`
 * itself is not fetched.
 */
int verdicts_give_up(struct verdicts *verdicts, struct target *next);

/*
 * Settle all targets that have no verdict yet, with `judgement` unless a more specific
 * verdict applies. Called when the crawl is over.
 */
int verdicts_end(struct verdicts *verdicts, struct judgement judgement);

#endif
