/*
 * warc.h - archive all bytes sent and received in a WARC 1.1 file with an index.
 *
 *     struct warc_exchange exchange = {.at_ns = 0};
 *
 *     request.on_wire = warc_take, request.on_wire_arg = &exchange;
 *     ... the request ...
 *     rc = warc_add(warc, url, &exchange, NULL);
 *     warc_exchange_finish(&exchange);
 *
 * Each request and each response is a record, and each record is a separate gzip member,
 * so a reader can begin at any record. A body that is already in the archive is not
 * written again: the record refers to the first copy. The index, FILE.cdxj, has a line
 * for each response, and is sorted when the archive is closed. (ISO 28500:2017; the CDXJ
 * format of pywb)
 */
#ifndef CRAWLER_WARC_H
#define CRAWLER_WARC_H

#include "../base/text.h"

#include <coil/http.h>

#include <stdbool.h>
#include <stdint.h>

struct warc;

/* The bytes sent and received for one answer. Initialize with zeroes. */
struct warc_exchange {
    struct text request, response; /* `response` contains head and body */
    size_t head_n;                 /* length of the head; 0 until it is complete */
    int64_t at_ns;                 /* time of the request, since 1970 */
};

/* A coil_http_wire_fn that stores the bytes in `exchange`, a struct warc_exchange. */
void warc_take(enum coil_http_wire what, const char *bytes, size_t n, void *exchange);

void warc_exchange_finish(struct warc_exchange *exchange);

/*
 * Open an archive. If `goes_on` is true, new records are appended after the last response
 * in the index. Otherwise, an existing archive is emptied. `software` is the program's
 * name and version. Returns 0, or a negative errno with a *message that the caller frees.
 */
int warc_open(const char *path, bool goes_on, const char *software, struct warc **out,
              char **message);

/*
 * Write a request and its response to the file, unless the head of the response is
 * incomplete. `truncated` is NULL if the body is complete, otherwise the reason, a value
 * of WARC-Truncated: "length", "time", "disconnect" or "unspecified". Returns 0 or a
 * negative errno. After an error, all later calls return the same error, and so does
 * warc_close(), with a message.
 */
int warc_add(struct warc *warc, const char *url, struct warc_exchange *exchange,
             const char *truncated);

/* Sort the index, and close both files. NULL is allowed. Fails like warc_open(). */
int warc_close(struct warc *warc, char **message);

/*
 * Append the index key of a URL: the host's labels in reverse order, then path and query
 * in lower case, such as "org,example)/a?b=1&c". The format is SURT, which the Internet
 * Archive's crawlers use.
 */
void warc_put_key(struct text *text, const char *url);

#endif
