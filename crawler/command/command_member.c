/*
 * command_member.c - coil-crawl URL... --frontier REDIS --crawl NAME: fetch a part of a
 * shared crawl. No reports are written, because this process receives only a part of the
 * answers.
 */
#include "../base/cold.h"
#include "../crawl/member.h"
#include "notice.h"
#include "run.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static enum exit_status judge_part(int rc)
{
    if (signals_were_caught())
        return STATUS_INTERRUPTED;
    return rc < 0 ? STATUS_FAILED : STATUS_OK;
}

static void print_count(const struct run *run)
{
    const struct options *options = run->options;
    size_t count = frontier_finished_count(&run->crawler.frontier);

    if (options->quiet)
        return;
    fprintf(stderr,
            "coil-crawl: %zu %s fetched here; %s: coil-crawl collect DIR "
            "--frontier ... --crawl %s prints what was found\n",
            count, count == 1 ? "URL was" : "URLs were",
            run->crawler.result.out_of_time ? "--max-duration has passed"
                                            : "the crawl is over",
            options->crawl);
}

/*
 * Create storage for the known URLs, in an unnamed temporary file, because the URLs of a
 * shared crawl may not fit in memory.
 */
static struct cold *cold_of_member(void)
{
    const char *folder = getenv("TMPDIR");
    struct cold *cold;

    if (folder == NULL || *folder == '\0')
        folder = "/var/tmp";
    cold = cold_create(folder);
    if (cold != NULL && !cold_has_file(cold))
        fprintf(stderr,
                "coil-crawl: %s: no file can be made there: all that is known of URLs "
                "stays in memory\n",
                folder);
    return cold;
}

static int crawl_part(void *arg)
{
    struct crawler *crawler = arg;
    struct member member;
    int rc = member_open(&member, crawler);

    if (rc == 0)
        rc = crawler_run(crawler);
    return member_close(&member, rc);
}

static int crawl(struct run *run, struct cold *cold)
{
    int rc = crawler_init(&run->crawler, run->options, cold, NULL, 0);

    run->crawler.requester.warc = run->warc;
    if (cold == NULL)
        rc = -ENOMEM;
    return rc == 0 ? run_crawl(run, crawl_part) : rc;
}

static enum exit_status crawl_and_close(struct run *run)
{
    struct cold *cold = cold_of_member();
    int rc = crawl(run, cold);
    enum exit_status status = judge_part(rc);
    bool is_closed;

    if (status == STATUS_OK)
        print_count(run);
    is_closed = run_close_warc(run) == 0;
    if (is_closed)
        notice_end(status, rc, run->crawler.result.complaint);
    crawler_finish(&run->crawler);
    cold_destroy(cold);
    return is_closed ? status : STATUS_FAILED;
}

enum exit_status command_member(const struct options *options)
{
    struct run run = {.options = options};
    int rc = run_open_warc(&run);

    if (rc < 0)
        return rc == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
    if (signals_catch(NULL) == 0)
        return crawl_and_close(&run);
    run_close_warc(&run);
    return STATUS_FAILED;
}
