/*
 * warc_inside.h - declarations shared by the source files of the archive.
 *
 * warc.c writes requests and responses, warc_index.c writes the CDXJ index, and
 * warc_file.c opens and closes both files.
 */
#ifndef CRAWLER_WARC_INSIDE_H
#define CRAWLER_WARC_INSIDE_H

#include "../base/arena.h"
#include "../base/table.h"
#include "warc.h"

#include <zlib.h>

#define DIGEST_TEXT (32 + 1)              /* SHA-1 in base 32 */
#define ID_TEXT (sizeof "urn:uuid:" + 36) /* RFC 4122 */
#define DATE_TEXT sizeof "2026-01-01T00:00:00.000000Z"
#define GZIP_LEVEL 5
#define PIECE_BYTES ((size_t)64 * 1024)

/* A payload that is already in the archive. */
struct seen {
    char digest[DIGEST_TEXT], id[ID_TEXT], date[DATE_TEXT];
    const char *url;
};

struct warc {
    char *path, *index_path;
    int fd, index_fd;
    int64_t end; /* length of the archive */
    z_stream gzip;
    bool has_gzip;
    struct text block, line; /* scratch buffers */
    struct table by_digest;  /* maps digests to struct seen */
    struct arena arena;
    int rc; /* the first error */
};

struct record {
    const char *type, *id, *date, *url, *content_type;
    const char *block;
    size_t n;
    const char *payload_digest; /* NULL: the record has no payload */
    const char *truncated;
    const char *concurrent_to; /* id of the other record of the exchange */
    const char *profile;       /* for revisit records */
    const struct seen *refers_to;
};

struct line {
    const char *at;
    size_t n;
};

int64_t warc_now_ns(void);

int warc_write_all(int fd, const void *bytes, size_t n);

void warc_make_id(char *id);

void warc_make_date(int64_t at_ns, char *date);

int warc_serialize_record(struct warc *warc, const struct record *record);

int warc_write_line(struct warc *warc, const struct record *record, const char *mime,
                    size_t mime_n, int status, int64_t begin);

int warc_begin_archive(struct warc *warc, bool goes_on, const char *software,
                       char **message);

#endif
