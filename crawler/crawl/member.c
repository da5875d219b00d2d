/* member.c - see member.h */
#include "member.h"

#include "../saved/page_blob.h"
#include "../saved/setup_text.h"
#include "enqueue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPAN_NS COIL_SEC(30) /* duration of a lease */
#define MOST 32              /* URLs of one host per lease */
#define MOST_SLOWLY 4        /* URLs of one host per lease, with --delay */

/* ---- callbacks from shared.c ------------------------------------------------------- */

static int add_origin(void *arg, const char *origin)
{
    struct member *member = arg;

    return site_add(&member->crawler->enqueuer.site, origin);
}

static int end_starts(void *arg)
{
    struct member *member = arg;

    member->crawler->enqueuer.undecided.starts_open = 0;
    return enqueue_held(&member->crawler->enqueuer);
}

static void take_leased(void *arg, struct target *target)
{
    struct member *member = arg;

    enqueue_leased(&member->crawler->enqueuer, target);
}

/*
 * Decide whether to fetch a target that was held until all start URLs of the shared crawl
 * were fetched.
 */
static int enqueue_undecided(void *arg, const struct lease_url *url)
{
    struct member *member = arg;
    struct crawler *crawler = member->crawler;
    struct target *target;
    bool is_new, was_decided;

    target = targets_get(&crawler->targets, url->url, 0, &is_new);
    if (target == NULL)
        return -ENOMEM;
    was_decided = target_is_decided(target);
    enqueue_leased(&crawler->enqueuer, target);
    if (!was_decided)
        target->hops = (uint8_t)url->hops;
    if (!was_decided || url->depth < target->depth)
        target->depth = (uint16_t)url->depth;
    target->is_sitemap |= (url->flags & LEASE_SITEMAP) != 0;
    target->wants_body |= (url->flags & LEASE_IDS) != 0;
    target_set_state(target, TARGET_MET);
    return enqueue_page(&crawler->enqueuer, target, NULL);
}

/* ---- life cycle -------------------------------------------------------------------- */

/* Store a message if the crawl has other options or another format. */
static int complain_of_crawl(struct member *member, int rc)
{
    char words[512];

    if (rc == -EEXIST)
        snprintf(words, sizeof words,
                 "%s: this crawl was begun with other options or starts; all of its "
                 "processes must have the same",
                 member->crawler->options->crawl);
    else if (rc == -EPROTONOSUPPORT)
        leases_describe_format(&member->leases, member->crawler->options->crawl, words,
                               sizeof words);
    else
        return rc;
    return connection_complain(&member->connection, rc, words);
}

static int begin(struct member *member)
{
    const struct options *options = member->crawler->options;
    struct store_texts settings = {options->decided.at, options->decided.count};
    struct store_texts starts = {options->starts.at, options->starts.count};
    struct leases_setup setup = {.by_depth = options->max_depth < UINT16_MAX,
                                 .max_pages = (int64_t)options->max_pages,
                                 .max_bytes = (int64_t)options->results_max_bytes,
                                 .split = options->split_host};
    struct text text = {0};
    int rc = -ENOMEM;

    setup_text_write(&text, &settings, &starts);
    setup.options = text.at;
    if (!text.failed)
        rc = leases_begin(&member->leases, member->connection.redis, options->crawl,
                          &setup, SPAN_NS);
    text_finish(&text);
    return rc < 0 ? complain_of_crawl(member, rc) : 0;
}

static void connect_to_crawl(struct member *member)
{
    struct crawler *crawler = member->crawler;
    const struct options *options = crawler->options;
    struct shared_options shared = {.leases = &member->leases,
                                    .frontier = &crawler->frontier,
                                    .targets = &crawler->targets,
                                    .crawl = &member->callbacks,
                                    .has_external = options->external != EXTERNAL_SKIP,
                                    .most = options->delay_ns > 0 ? MOST_SLOWLY : MOST,
                                    .ahead = 2 * options->max_tasks};

    member->callbacks = (struct shared_crawl){.add_origin = add_origin,
                                              .end_starts = end_starts,
                                              .place = enqueue_undecided,
                                              .take = take_leased,
                                              .arg = member};
    shared_init(&member->shared, &shared);
    targets_set_id_seed(&crawler->targets, member->leases.seeds[2]);
    crawler->verdicts.references.takes_none = true;
    crawler->member = member;
    crawler->enqueuer.shared = &member->shared;
    crawler->verdicts.are_collected = true;
}

int member_open(struct member *member, struct crawler *crawler)
{
    int rc;

    *member = (struct member){.crawler = crawler};
    rc = connection_open(&member->connection, crawler->options);
    if (rc == 0)
        rc = begin(member);
    if (rc == 0)
        connect_to_crawl(member);
    return rc;
}

int member_close(struct member *member, int rc)
{
    struct crawler *crawler = member->crawler;

    rc = connection_close(&member->connection, rc);
    if (crawler->result.complaint == NULL)
        crawler->result.complaint = member->connection.complaint;
    else
        free(member->connection.complaint);
    if (crawler->member != NULL)
        shared_finish(&member->shared);
    crawler->member = NULL;
    crawler->enqueuer.shared = NULL;
    return rc;
}

int member_lease(void *arg)
{
    struct member *member = arg;

    return shared_run(&member->shared);
}

/* ---- answers ----------------------------------------------------------------------- */

static void write_page(struct text *bytes, const struct target *target,
                       const struct store_page *page)
{
    struct store_page now = *page;

    now.time_s = time(NULL);
    page_blob_write(bytes, &now, target->url, target->fragment_at);
}

int member_bring(struct member *member, const struct target *target,
                 const struct store_page *page)
{
    struct text bytes = {0};
    int rc;

    write_page(&bytes, target, page);
    rc =
        bytes.failed ? -ENOMEM : shared_bring(&member->shared, target, bytes.at, bytes.n);
    text_finish(&bytes);
    return rc;
}

int member_bring_sitemaps(struct member *member, struct host *host,
                          const struct target *rules, const struct store_page *page)
{
    struct text bytes = {0};
    int rc;

    write_page(&bytes, rules, page);
    rc = bytes.failed ? -ENOMEM : 0;
    if (rc == 0)
        shared_bring_sitemaps(&member->shared, host, bytes.at, bytes.n);
    text_finish(&bytes);
    return rc;
}
