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

#include "crawl.h"
#include "../judge/judge.h"

/* Its verdict is known: tell it, and settle all that waited for it. `message` is copied; NULL is
   accepted. 0, -ENOMEM, or what a sink failed with. */
int verdicts_settle(struct crawler *crawler, struct target *target,
                    struct judgement judgement, const char *message);

/*
 * The verdict of a target that is a text and no more: a link that is not followed, or no URL. Of a
 * long one, only the beginning is kept; `text` is all of it.
 */
int verdicts_settle_text(struct crawler *crawler, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment);

/* Somebody points at it: its verdict is told, now or when it is known. */
int verdicts_want(struct crawler *crawler, struct target *target);

/* A new target with a fragment: its verdict follows from its page's. */
int verdicts_await_page(struct crawler *crawler, struct target *target);

/* target->next is set: its verdict follows from that of the chain's end. */
int verdicts_await_next(struct crawler *crawler, struct target *target);

/*
 * True if the redirect of `target`, whose next is set, closes a circle that sets a cookie: the next,
 * whose redirect is forgotten, is to be asked again.
 */
bool verdicts_reopen_circle(const struct crawler *crawler, struct target *target);

/* A page that was judged before has its ids now. */
int verdicts_recheck(struct crawler *crawler, struct target *page);

/* `next` lies beyond the redirects that are allowed: settle all that are too far from it. */
int verdicts_give_up(struct crawler *crawler, struct target *next);

/* The crawl is over: settle all that is left. */
int verdicts_end(struct crawler *crawler, struct judgement judgement);

#endif
