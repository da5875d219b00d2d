/*
 * progress.h - the line that shows how many targets are done, how fast, and how long the
 * rest will take.
 */
#ifndef CRAWLER_PROGRESS_H
#define CRAWLER_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t known, done, bad; /* numbers of targets */
    double rate;             /* recent targets per second; 0: not known yet */
    int64_t done_at_ns;      /* when `rate` was last measured */
    size_t done_then;
};

/*
 * Set the numbers of targets, and update the rate. `now_ns` is the time of a monotonic
 * clock.
 */
void progress_update(struct progress *progress, size_t known, size_t done, size_t bad,
                     int64_t now_ns);

/*
 * Write a line such as "640 of 758, 12 bad, 1240/s, 1 s left" in at most `width` columns
 * and `capacity` bytes, including a NUL. Parts that do not fit are omitted. Returns the
 * length.
 */
size_t progress_line(const struct progress *progress, char *to, size_t capacity,
                     size_t width);

#endif
