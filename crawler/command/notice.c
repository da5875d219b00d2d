/* notice.c - see notice.h */
#include "notice.h"

#include "../report/page_names.h"
#include "../url/url.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Print a message. The message may quote a server or a file, so control characters are
 * replaced.
 */
static void print_message(const char *message)
{
    fputs("coil-crawl: ", stderr);
    url_print(stderr, message);
    fputc('\n', stderr);
}

int notice_failure(char *message, int rc)
{
    print_message(message != NULL ? message : strerror(-rc));
    free(message);
    return rc;
}

void notice_end(enum exit_status status, int rc, const char *complaint)
{
    if (complaint != NULL)
        print_message(complaint);
    if (signals_were_caught())
        fputs("coil-crawl: interrupted\n", stderr);
    else if (status == STATUS_FAILED && complaint == NULL)
        fprintf(stderr, "coil-crawl: the crawl failed: %s\n", strerror(-rc));
    else if (status == STATUS_NOTHING)
        fputs("coil-crawl: nothing could be fetched\n", stderr);
}

/*
 * Print a message if the first start URL redirects to another site. Called if nothing was
 * fetched.
 */
static void print_other_site(const struct crawler *crawler)
{
    const struct target *start =
        crawler->targets.count > 0 ? targets_at(&crawler->targets, 0) : NULL;

    if (start == NULL || start->next == NULL || start->next->kind != TARGET_EXTERNAL)
        return;
    fputs("coil-crawl: ", stderr);
    url_print(stderr, start->next->url);
    fputs(" is on another site; if you mean that site, start there\n", stderr);
}

/* If --max-duration ended the crawl, print how many URLs were not checked. */
static void print_unchecked(const struct crawler *crawler)
{
    struct crawler_progress progress = crawler_progress(crawler);
    size_t count = progress.known - progress.done;

    if (crawler->result.out_of_time)
        fprintf(stderr,
                "coil-crawl: --max-duration has passed: at least %zu %s not checked\n",
                count, count == 1 ? "URL was" : "URLs were");
}

/* Print the start URLs that were not fetched because of robots.txt or --offline. */
static void print_forbidden_starts(const struct crawler *crawler)
{
    size_t count = crawler->options->starts.count;

    for (size_t i = 0; i < count && i < crawler->targets.count; i++) {
        const struct target *start = targets_at(&crawler->targets, i);

        if (!start->is_start ||
            (start->reason != REASON_ROBOTS && start->reason != REASON_OFFLINE))
            continue;
        fputs("coil-crawl: ", stderr);
        url_print(stderr, start->url);
        if (start->reason == REASON_OFFLINE)
            fputs(": not fetched, because of --offline\n", stderr);
        else
            fprintf(stderr, ": %s; --no-robots ignores robots.txt\n", start->message);
    }
}

/* maximum number of start URLs listed; others are only counted */
#define UNSEARCHED_NAMED 10

/*
 * Print the start URLs that were not searched for links, because the user may expect that
 * their links were checked.
 */
static void print_unsearched_starts(const struct crawler *crawler)
{
    struct page_names names;
    size_t count = 0;

    if (page_names_init(&names) < 0)
        return;
    for (size_t i = 0; i < crawler->targets.count; i++) {
        const struct target *target = targets_at(&crawler->targets, i);
        char *name;

        if (!target->is_start || target->verdict != VERDICT_OK ||
            target->message == NULL || ++count > UNSEARCHED_NAMED)
            continue;
        name = page_names_path(&names, target->url);
        fputs("coil-crawl: ", stderr);
        url_print(stderr, name != NULL ? name : target->url);
        fputs(": ", stderr);
        url_print(stderr, target->message);
        fputc('\n', stderr);
        free(name);
    }
    if (count > UNSEARCHED_NAMED)
        fprintf(stderr, "coil-crawl: and %zu others; -v lists them\n",
                count - UNSEARCHED_NAMED);
    page_names_finish(&names);
}

void notice_gaps(const struct crawler *crawler, enum exit_status status)
{
    print_forbidden_starts(crawler);
    print_unchecked(crawler);
    if (status == STATUS_NOTHING)
        print_other_site(crawler);
    print_unsearched_starts(crawler);
}
