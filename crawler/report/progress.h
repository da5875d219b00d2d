/*
 * progress.h - the line that says how far a crawl is.
 */
#ifndef CRAWLER_PROGRESS_H
#define CRAWLER_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t known, done, bad; /* targets */
    double rate;             /* targets a second, of late; 0 while it is not known */
    int64_t done_at_ns;      /* when `rate` was found out, and what was done then */
    size_t done_then;
};

/* What is so at that time, by a monotonic clock; the rate is a mean of the last seconds. */
void progress_update(struct progress *progress, size_t known, size_t done, size_t bad,
                     int64_t now_ns);

/*
 * "640 of 758, 12 bad, 1240/s, 1 s left" in at most `width` columns, and in `capacity` bytes with
 * its NUL; what matters less is left out first. Returns its length.
 */
size_t progress_line(const struct progress *progress, char *to, size_t capacity,
                     size_t width);

#endif
