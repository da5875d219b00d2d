/*
 * crawl.h - visit every page of a site once, and judge every link on it.
 *
 *     struct crawler crawler;
 *
 *     rc = crawler_init(&crawler, &options, NULL, sinks, count);
 *     if (rc == 0)
 *         rc = coil_run(crawler_run, &crawler, NULL);
 *     ... report on crawler.targets, crawler.mentions, crawler.summary ...
 *     crawler_finish(&crawler);
 */
#ifndef CRAWLER_CRAWL_H
#define CRAWLER_CRAWL_H

#include "../files/baseline.h"
#include "../files/cache.h"
#include "../frontier/frontier.h"
#include "../files/local.h"
#include "../judge/reference.h"
#include "../options/options.h"
#include "../verdict/record.h"
#include "../fetch/request.h"
#include "../scope/site.h"
#include "../saved/saved_crawl.h"
#include "../saved/state.h"
#include "../frontier/target.h"
#include "text_checks.h"
#include "../scope/trap.h"

#include <coil/http.h>

struct member;

struct crawler {
    const struct options *options;
    struct record_sinks sinks;
    struct cache *cache;       /* of external targets that were well; or NULL */
    struct baseline *baseline; /* findings that do not fail the run; or NULL */
    struct store *earlier;     /* an earlier crawl that this one continues; or NULL */
    struct state *state;       /* where this one is kept; or NULL */
    struct member *member;     /* of a crawl that many share, or NULL: member.h */
    struct recheck *recheck;   /* what a page need not be sent again for; or NULL */
    bool is_only_told;         /* what is kept is told, and nothing is asked for */
    bool is_finished;          /* nothing was left to be asked for */
    int64_t kept_bytes;        /* of summary.bytes, those that its pages tell */
    int64_t earlier_ns;        /* what earlier runs of it took */
    char *
        complaint; /* for free(): why the crawl could not go on, if the errno does not say it */
    struct requester requester;
    struct frontier frontier;
    struct site site;   /* all of them */
    struct local local; /* files and folders, if some of the starts are that */
    struct targets targets;
    struct table redirects; /* fragments of Locations, by URL; redirect_fragment() */
    struct references references;
    struct traps traps;
    struct text_checks texts; /* that links lead to */
    struct target *due;       /* whose verdict can be found now; judge_due() */
    struct target *held,
        **held_end; /* of another site, it seems, until the starts are known */
    int64_t
        begin_s; /* the same in seconds since 1970; of a crawl that is kept, its first run */
    int64_t begin_ns;   /* when crawler_run() began; sooner by what earlier runs took */
    size_t starts_open; /* starts, and where they redirect to, that are not fetched yet */
    size_t page_count;  /* that were asked for: --max-pages */
    size_t fetched_count; /* pages and files of the site that were well */
    size_t finding_count; /* verdicts that fail the run */
    bool out_of_time;     /* --max-duration is over */
    bool takes_no_links;  /* crawler_ask() */
    struct record_summary summary;
};

/* Targets are kept in `cold`, or on the heap: targets_init(). All that is given here must outlive the
   crawler, and so must what it is given as cache, baseline, kept, state and recheck after this. 0
   or -ENOMEM. */
int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count);

/*
 * Crawl; a task's body, `arg` being the crawler. A page that fails is a fact about the
 * site, not a failure: 0. -ECANCELED if the task was cancelled, -ENOMEM if the crawl
 * could not go on, or what a sink failed with; every target has a verdict all the same.
 */
COIL_SUSPENDS int crawler_run(void *arg);

void crawler_finish(struct crawler *crawler);

/* Continue, recheck or report a saved crawl, after crawler_init(). `saved` must outlive the
   crawler. */
void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved);

/* A second has passed: what is known is written to the crawl's file, if it has one. Fails as
   state_save_if_due(). */
COIL_SUSPENDS int crawler_save(struct crawler *crawler);

/* What crawler_run() begins and ends with, for who wants to ask no more than a question.
   Open: 0, -ENOMEM; close it in any case. */
int crawler_open(struct crawler *crawler);
void crawler_close(struct crawler *crawler);

/* Ask for what was placed meanwhile, and where it redirects to, and for nothing that pages link
   to. Fails as crawler_run(). */
COIL_SUSPENDS int crawler_ask(struct crawler *crawler);

/* How far it is: targets without fragment that are asked for, and those that are through. */
struct crawler_progress {
    size_t known, done, bad;
};

struct crawler_progress crawler_progress(const struct crawler *crawler);

#endif
