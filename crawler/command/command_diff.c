/*
 * command_diff.c - coil-crawl diff DIR DIR: report changes between two saved crawls.
 */
#include "../crawl/crawl.h"
#include "../report/diff.h"
#include "../url/url.h"
#include "command_saved.h"
#include "notice.h"
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pass all records of a saved crawl to the sink, and set *options to its options. */
static int read_records(const struct options *now, const char *folder,
                        struct record_sink sink, struct options *options)
{
    struct crawler crawler = {.options = NULL};
    struct saved_crawl saved;
    char *message = NULL;
    int rc = saved_crawl_open(&saved, COMMAND_REPORT, folder, 0, &message);

    options_finish(options);
    if (rc == 0)
        rc = command_saved_options(options, now, &saved);
    if (rc == 0)
        rc = crawler_init(&crawler, options, saved.cold, &sink, 1);
    if (rc == 0) {
        crawler_take_saved(&crawler, &saved);
        rc = run_in_loop(now, crawler_run, &crawler);
        message = crawler.result.complaint;
        crawler.result.complaint = NULL;
    }
    crawler_finish(&crawler);
    if (rc < 0 && rc != -EINVAL)
        notice_failure(message, rc);
    else
        free(message);
    saved_crawl_close(&saved, false, &message);
    return rc;
}

/*
 * Return the value of -f, or the default "text:-". If the format is not available for a
 * diff, print a message and return NULL.
 */
static const char *format_of_diff(const struct options *options)
{
    const struct text_list *formats = &options->formats;
    const char *format = formats->count > 0 ? formats->at[formats->count - 1] : "text:-";

    if (strncmp(format, "text:", 5) == 0 || strncmp(format, "jsonl:", 6) == 0)
        return format;
    fprintf(stderr, "coil-crawl: diff: the format must be text or jsonl, not %.*s\n",
            (int)strcspn(format, ":"), format);
    return NULL;
}

static int write_diff(struct diff *diff, const char *format)
{
    struct out out;
    int rc = out_open(&out, strchr(format, ':') + 1);

    if (rc == 0)
        rc = diff_write(diff, &out, format[0] == 'j');
    if (out_close(&out) < 0 || rc < 0) {
        rc = rc < 0 ? rc : out.rc;
        fputs("coil-crawl: ", stderr);
        url_print(stderr, out.name);
        fprintf(stderr, ": %s\n", strerror(-rc));
    }
    return rc;
}

static int compare(struct diff *diff, const bool fail_on[VERDICT_COUNT])
{
    int rc = diff_compare(diff, fail_on);

    if (rc < 0)
        notice_failure(NULL, rc);
    return rc;
}

enum exit_status command_diff(const struct options *now)
{
    struct options options = {0};
    struct diff diff = {.still = 0};
    enum exit_status status = STATUS_USAGE;
    const char *format;
    int rc = read_records(now, now->state, diff_sink(&diff.earlier), &options);

    if (rc == 0)
        rc = read_records(now, now->later_state, diff_sink(&diff.later), &options);
    if (rc == 0)
        rc = compare(&diff, options.fail_on);
    if (rc == 0 && diff.unlinked > 0)
        rc = read_records(now, now->state, diff_links_sink(&diff.earlier), &options);
    if (rc == 0)
        rc = read_records(now, now->later_state, diff_links_sink(&diff.later), &options);
    format = rc == 0 ? format_of_diff(&options) : NULL;
    if (format != NULL) {
        rc = write_diff(&diff, format);
        status = rc < 0 ? STATUS_FAILED : diff.broken > 0 ? STATUS_BROKEN : STATUS_OK;
    }
    diff_finish(&diff);
    options_finish(&options);
    return rc == -ENOMEM ? STATUS_FAILED : status;
}
