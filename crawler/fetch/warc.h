/*
 * warc.h - all that went over the wire, in an archive that others read: WARC 1.1, and its index.
 *
 *     struct warc_exchange exchange = {.at_ns = 0};
 *
 *     request.on_wire = warc_take, request.on_wire_arg = &exchange;
 *     ... the request ...
 *     rc = warc_add(warc, url, &exchange, NULL);
 *     warc_exchange_finish(&exchange);
 *
 * Each request and each response is a record, compressed by itself (gzip), so that a reader can
 * begin at any. A body that was there before is not written again: the record says where. The
 * index, FILE.cdxj, has a line for each response, sorted once the archive is closed. (ISO
 * 28500:2017; CDXJ as pywb reads it)
 */
#ifndef CRAWLER_WARC_H
#define CRAWLER_WARC_H

#include "../base/text.h"

#include <coil/http.h>

#include <stdbool.h>
#include <stdint.h>

struct warc;

/* What went over the wire for one answer. Zeroes are nothing. */
struct warc_exchange {
    struct text request, response; /* the latter is a head and a body */
    size_t head_n;                 /* of the response; 0 while it is not whole */
    int64_t at_ns;                 /* when the request was sent, since 1970 */
};

/* A coil_http_wire_fn, whose `exchange` is a struct warc_exchange. */
void warc_take(enum coil_http_wire what, const char *bytes, size_t n, void *exchange);

void warc_exchange_finish(struct warc_exchange *exchange);

/*
 * Begin an archive in `path`, which is emptied, or go on with the one that is there: behind the last
 * response that its index has. `software` is the program's name and version. 0, or a negative errno
 * and why, in *message for free().
 */
int warc_open(const char *path, bool goes_on, const char *software, struct warc **out,
              char **message);

/*
 * Write a request and its response, to the kernel; where there is no head of a response, nothing.
 * `truncated` says why the body is not whole, as WARC-Truncated has it ("length", "time",
 * "disconnect", "unspecified"), or is NULL. 0 or a negative errno, which stays: warc_close() says of
 * what.
 */
int warc_add(struct warc *warc, const char *url, struct warc_exchange *exchange,
             const char *truncated);

/* Sort the index and close both; NULL is accepted. As warc_open(). */
int warc_close(struct warc *warc, char **message);

/*
 * Append the key of a URL in the index: its host from right to left, and its path and query in lower
 * case, "org,example)/a?b=1&c". (SURT, as Internet Archive's crawlers write it)
 */
void warc_put_key(struct text *text, const char *url);

#endif
