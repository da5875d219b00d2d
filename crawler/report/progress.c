/*
 * progress.c - see progress.h
 *
 * The time left is estimated as the number of unfinished known targets, divided by the
 * recent rate. This estimate is much too low while links are found faster than they are
 * checked, so it is shown only when more than a third of the known targets are done.
 */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Weight of the latest measurement in the average rate. */
#define FRESHNESS 0.3

/* Time between two measurements. */
#define STEP_NS INT64_C(500000000)

void progress_update(struct progress *progress, size_t known, size_t done, size_t bad,
                     int64_t now_ns)
{
    int64_t elapsed = now_ns - progress->done_at_ns;
    double rate;

    progress->known = known;
    progress->done = done;
    progress->bad = bad;
    if (progress->done_at_ns != 0 && elapsed < STEP_NS)
        return;
    if (progress->done_at_ns != 0) {
        rate = (double)(done - progress->done_then) * 1e9 / (double)elapsed;
        progress->rate = progress->rate > 0
                             ? progress->rate + FRESHNESS * (rate - progress->rate)
                             : rate;
    }
    progress->done_at_ns = now_ns;
    progress->done_then = done;
}

static int time_left(const struct progress *progress, char *to, size_t capacity)
{
    double seconds = (double)(progress->known - progress->done) / progress->rate;

    if (seconds < 90)
        return snprintf(to, capacity, ", %.0f s left", seconds);
    if (seconds < 90 * 60)
        return snprintf(to, capacity, ", %.0f min left", seconds / 60);
    return snprintf(to, capacity, ", %.0f h left", seconds / 3600);
}

static bool knows_time_left(const struct progress *progress)
{
    return progress->rate >= 0.1 && progress->known > progress->done &&
           progress->done * 3 > progress->known &&
           (double)(progress->known - progress->done) / progress->rate < 100 * 3600;
}

/* Append a part to the line if it fits. Returns the new length. */
static size_t add_part(char *to, size_t n, size_t width, const char *part)
{
    size_t length = strlen(part);

    if (n + length > width)
        return n;
    memcpy(to + n, part, length + 1);
    return n + length;
}

size_t progress_line(const struct progress *progress, char *to, size_t capacity,
                     size_t width)
{
    char part[64];
    size_t n, end = width < capacity ? width : capacity - 1;

    to[0] = '\0';
    snprintf(part, sizeof part, "%zu of %zu", progress->done, progress->known);
    n = add_part(to, 0, end, part);
    if (n == 0) {
        snprintf(part, sizeof part, "%zu", progress->done);
        return add_part(to, 0, end, part);
    }
    snprintf(part, sizeof part, ", %zu bad", progress->bad);
    if (progress->bad > 0)
        n = add_part(to, n, end, part);
    snprintf(part, sizeof part, ", %.0f/s", progress->rate);
    if (progress->rate >= 1)
        n = add_part(to, n, end, part);
    if (knows_time_left(progress) && time_left(progress, part, sizeof part) > 0)
        n = add_part(to, n, end, part);
    return n;
}
