/*
 * report_totals.c - write the totals of the text report.
 */
#include "report_inside.h"

#include "groups.h"
#include "../base/array.h"
#include "../files/local.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* ---- totals ------------------------------------------------------------------------ */

/* The number of targets with one verdict and reason. */
struct total {
    enum verdict verdict;
    enum reason reason;
    int status;
    size_t count;
};

struct totals {
    struct total *at;
    size_t count, capacity;
    size_t known; /* findings in the baseline */
};

static int count_one(struct totals *totals, struct total one)
{
    bool has_status = one.reason == REASON_STATUS;

    one.status = has_status ? one.status : 0;
    for (size_t i = 0; i < totals->count; i++) {
        struct total *total = &totals->at[i];
        if (total->verdict == one.verdict && total->reason == one.reason &&
            total->status == one.status) {
            total->count++;
            return 0;
        }
    }
    if (totals->count == totals->capacity &&
        array_grow(&totals->at, &totals->capacity, sizeof *totals->at) < 0)
        return -ENOMEM;
    one.count = 1;
    totals->at[totals->count++] = one;
    return 0;
}

static int count_targets(struct totals *totals, const struct targets *targets)
{
    int rc = 0;

    for (size_t i = 0; i < targets->count && rc == 0; i++) {
        const struct target *target = targets_at(targets, i);

        if (!target->is_wanted || target->verdict == VERDICT_OPEN)
            continue;
        totals->known += target->is_known && !targets_known(targets, target)->has_new;
        rc = count_one(totals,
                       (struct total){(enum verdict)target->verdict,
                                      (enum reason)target->reason, target->status, 0});
    }
    return rc;
}

static int compare_totals(const void *a, const void *b)
{
    const struct total *one = a, *other = b;

    if (one->verdict != other->verdict)
        return one->verdict < other->verdict ? -1 : 1;
    return (one->count < other->count) - (one->count > other->count);
}

static void put_total_cause(struct view *view, const struct total *total)
{
    bool is_word = total->verdict == VERDICT_SKIPPED ||
                   total->verdict == VERDICT_UNCHECKED ||
                   total->verdict == VERDICT_REDIRECT;

    if (total->reason == REASON_STATUS && total->status > 0)
        report_put_status(view, total->status);
    else
        report_put(view, "%s",
                   is_word ? reason_word(total->reason) : reason_sentence(total->reason));
}

static enum color color_of(enum verdict verdict)
{
    static const enum color colors[] = {[TONE_NEUTRAL] = PLAIN,
                                        [TONE_GOOD] = GREEN,
                                        [TONE_WARNING] = YELLOW,
                                        [TONE_BAD] = RED};

    return colors[verdict_traits(verdict)->tone];
}

/*
 * Write the line for one verdict: "437 broken 404 Not Found 430, 500 Internal Server
 * Error 7  (220 URLs, 1,204 links)".
 */
static void put_total(struct view *view, const struct total *totals, size_t count,
                      const struct record_summary *summary)
{
    size_t urls = summary->verdict_urls[totals[0].verdict];
    size_t links = summary->verdict_links[totals[0].verdict];
    const char *word = verdict_word(totals[0].verdict);
    char digits[32];
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += totals[i].count;
    report_set_color(view, color_of(totals[0].verdict));
    report_put(view, "%9s %s", report_format_number(sum, digits), word);
    report_set_color(view, PLAIN);
    if (totals[0].reason != REASON_NONE)
        report_put(view, "%*s", (int)(strlen("unchecked") - strlen(word)), "");
    for (size_t i = 0; i < count && totals[i].reason != REASON_NONE; i++) {
        if (i > 0 && !report_has_room(view, 34)) {
            report_put(view, ", ...");
            break;
        }
        report_put(view, "%s", i > 0 ? ", " : "  ");
        put_total_cause(view, &totals[i]);
        if (count > 1)
            report_put(view, " %s", report_format_number(totals[i].count, digits));
    }
    report_put(view, "%s", links > 0 ? "  (" : "");
    if (links > 0 && urls != sum)
        report_put_amount(view, urls, "URL, ", "URLs, ");
    if (links > 0)
        report_put_amount(view, links, "link)", "links)");
    report_end_line(view);
}

static void put_bytes(struct view *view, int64_t bytes)
{
    if (bytes < 10000)
        report_put(view, "%lld bytes", (long long)bytes);
    else if (bytes < 1000000)
        report_put(view, "%.1f kB", (double)bytes / 1e3);
    else
        report_put(view, "%.1f MB", (double)bytes / 1e6);
}

int report_put_totals(struct view *view, const struct targets *targets,
                      const struct record_summary *summary, bool after_groups)
{
    struct totals totals = {0};
    int rc = count_targets(&totals, targets);
    size_t n;

    if (rc == 0 && totals.count > 0)
        qsort(totals.at, totals.count, sizeof *totals.at, compare_totals);
    if (after_groups)
        report_end_line(view);
    for (size_t i = 0; rc == 0 && i < totals.count; i += n) {
        for (n = 1;
             i + n < totals.count && totals.at[i + n].verdict == totals.at[i].verdict;)
            n++;
        put_total(view, &totals.at[i], n, summary);
    }
    free(totals.at);
    if (totals.known > 0) {
        report_put_amount(view, totals.known, "finding is", "findings are");
        report_put(view, " in the baseline");
        report_end_line(view);
    }
    report_put_amount(view, summary->pages, "page, ", "pages, ");
    report_put_amount(view, summary->links, "link, ", "links, ");
    report_put_amount(view, summary->targets, "target, ", "targets, ");
    put_bytes(view, summary->bytes);
    report_put(view, " in %.2f s", (double)summary->duration_ns / 1e9);
    report_end_line(view);
    return rc < 0 ? rc : view->out->rc;
}
