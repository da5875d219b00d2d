/*
 * verdicts.h - giving targets their verdicts, and those that wait for them theirs.
 *
 * A target with a fragment waits for its page, one that redirects for the next of its chain.
 * Invariant: a target waits for one other at most, or is in the line `due` of the crawler.
 *
 * A crawler that takes part in a shared crawl (crawler->member) judges nothing but texts: these do nothing then.
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

/* Its verdict is known: tell it, and settle all that waited for it. `message` is copied; NULL is
   accepted. 0, -ENOMEM, or what a sink failed with. */
int verdicts_settle(struct verdicts *verdicts, struct target *target,
                    struct judgement judgement, const char *message);

/*
 * The verdict of a target that is a text and no more: a link that is not followed, or no URL. Of a
 * long one, only the beginning is kept; `text` is all of it.
 */
int verdicts_settle_text(struct verdicts *verdicts, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment);

/* Somebody points at it: its verdict is told, now or when it is known. */
int verdicts_want(struct verdicts *verdicts, struct target *target);

/* A new target with a fragment: its verdict follows from its page's. */
int verdicts_await_page(struct verdicts *verdicts, struct target *target);

/* target->next is set: its verdict follows from that of the chain's end. */
int verdicts_await_next(struct verdicts *verdicts, struct target *target);

/*
 * True if the redirect of `target`, whose next is set, closes a circle that sets a cookie: the next,
 * whose redirect is forgotten, is to be asked again.
 */
bool verdicts_reopen_circle(const struct verdicts *verdicts, struct target *target);

/* A page that was judged before has its ids now. */
int verdicts_recheck(struct verdicts *verdicts, struct target *page);

/* `next` lies beyond the redirects that are allowed: settle all that are too far from it. */
int verdicts_give_up(struct verdicts *verdicts, struct target *next);

/* The crawl is over: settle all that is left. */
int verdicts_end(struct verdicts *verdicts, struct judgement judgement);

#endif
