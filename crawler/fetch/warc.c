/*
 * warc.c - write requests and responses to an archive.
 *
 * Each line of the index is written after its response. So if a crawl is killed, the
 * archive is valid at least up to the last record in the index, and the next run
 * continues after this record.
 *
 * Identical payloads are recognised by their SHA-1. According to the standard, chunks are
 * joined before hashing, but the payload is not decompressed. For each payload, its URL
 * and about a hundred bytes are kept in memory.
 */
#include "warc_inside.h"

#include "../base/arena.h"
#include "../base/table.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* ---- exchanges --------------------------------------------------------------------- */

int64_t warc_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void forget_response(struct warc_exchange *exchange)
{
    exchange->response.n = exchange->head_n = 0;
}

/*
 * Add a line of a response's head. A status line replaces the lines before it, which
 * belong to an interim response (1xx). Lines after the body are ignored: they are
 * trailers, which the body already contains.
 */
static void add_head_line(struct warc_exchange *exchange, const char *line, size_t n)
{
    bool has_body = exchange->head_n > 0 && exchange->response.n > exchange->head_n;

    if (has_body)
        return;
    if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
        forget_response(exchange);
    text_add(&exchange->response, line, n);
    if (n > 0 && (line[0] == '\r' || line[0] == '\n'))
        exchange->head_n = exchange->response.n;
}

void warc_take(enum coil_http_wire what, const char *bytes, size_t n, void *arg)
{
    struct warc_exchange *exchange = arg;

    switch (what) {
    case COIL_HTTP_WIRE_REQUEST_HEAD:
        exchange->at_ns = warc_now_ns();
        exchange->request.n = 0;
        forget_response(exchange);
        text_add(&exchange->request, bytes, n);
        break;
    case COIL_HTTP_WIRE_REQUEST_BODY:
        text_add(&exchange->request, bytes, n);
        break;
    case COIL_HTTP_WIRE_RESPONSE_HEAD:
        add_head_line(exchange, bytes, n);
        break;
    case COIL_HTTP_WIRE_RESPONSE_BODY:
        text_add(&exchange->response, bytes, n);
        break;
    }
}

void warc_exchange_finish(struct warc_exchange *exchange)
{
    free(exchange->request.at);
    free(exchange->response.at);
    *exchange = (struct warc_exchange){.at_ns = 0};
}

/*
 * Return the value of a header, and store its length in *n. If there is no such header,
 * *n is 0.
 */
static const char *header_of(const struct warc_exchange *exchange, const char *name,
                             size_t *n)
{
    const char *at = exchange->response.at, *end = at + exchange->head_n;
    size_t name_n = strlen(name);

    *n = 0;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL && ++at < end) {
        const char *value = at + name_n + 1;
        if (value >= end || at[name_n] != ':' || strncasecmp(at, name, name_n) != 0)
            continue;
        value += strspn(value, " \t");
        *n = strcspn(value, "\r\n");
        return value;
    }
    return NULL;
}

static bool is_chunked(const struct warc_exchange *exchange)
{
    size_t n;
    const char *value = header_of(exchange, "Transfer-Encoding", &n);

    return n >= 7 && strncasecmp(value + n - 7, "chunked", 7) == 0;
}

/* ---- digests ----------------------------------------------------------------------- */

static void put_base32(const unsigned char *bytes, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint64_t bits = 0;
    unsigned count = 0;

    for (int i = 0; i < 20; i++) {
        bits = bits << 8 | bytes[i];
        for (count += 8; count >= 5; count -= 5)
            *to++ = digits[bits >> (count - 5) & 31];
    }
    *to = '\0';
}

/*
 * Hash the data of chunks, without their sizes and line ends. Stop at an invalid chunk.
 */
static void add_chunks(EVP_MD_CTX *make_digest, const char *at, const char *end)
{
    while (at < end) {
        char *behind;
        size_t left, n = strtoul(at, &behind, 16);
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        if (behind == at || line_end == NULL || n == 0)
            return;
        at = line_end + 1;
        left = (size_t)(end - at);
        EVP_DigestUpdate(make_digest, at, n < left ? n : left);
        at += n < left ? n : left;
        at += end - at >= 2 ? 2 : end - at;
    }
}

/*
 * Hash n bytes, which must be followed by a NUL, and write the digest to `to`. Returns 0
 * or -ENOMEM.
 */
static int make_digest(const char *bytes, size_t n, bool chunked, char *to)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char result[EVP_MAX_MD_SIZE];
    bool good = context != NULL && EVP_DigestInit_ex(context, EVP_sha1(), NULL) == 1;

    if (good && chunked)
        add_chunks(context, bytes, bytes + n);
    else if (good)
        EVP_DigestUpdate(context, bytes, n);
    good = good && EVP_DigestFinal_ex(context, result, NULL) == 1;
    EVP_MD_CTX_free(context);
    if (good)
        put_base32(result, to);
    return good ? 0 : -ENOMEM;
}

/* ---- writing ----------------------------------------------------------------------- */

static void put_text(struct text *text, const char *s)
{
    text_add(text, s, strlen(s));
}

int warc_write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0 && errno != EINTR)
            return -errno;
        at += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/*
 * Write warc->block as one gzip member. If this fails, truncate the file to its previous
 * length.
 */
static int write_record(struct warc *warc)
{
    unsigned char piece[PIECE_BYTES / 4];
    int64_t end = warc->end;
    int rc = warc->block.failed ? -ENOMEM : 0, code = Z_OK;

    deflateReset(&warc->gzip);
    warc->gzip.next_in = (unsigned char *)warc->block.at;
    warc->gzip.avail_in = (unsigned)warc->block.n;
    while (rc == 0 && code != Z_STREAM_END) {
        size_t n;
        warc->gzip.next_out = piece;
        warc->gzip.avail_out = sizeof piece;
        code = deflate(&warc->gzip, Z_FINISH);
        n = sizeof piece - warc->gzip.avail_out;
        rc = code == Z_STREAM_ERROR ? -EIO : warc_write_all(warc->fd, piece, n);
        end += (int64_t)n;
    }
    if (rc == 0)
        warc->end = end;
    else if (ftruncate(warc->fd, warc->end) == 0)
        lseek(warc->fd, warc->end, SEEK_SET);
    return rc;
}

void warc_make_id(char *id)
{
    unsigned char b[16] = {0};

    if (getrandom(b, sizeof b, 0) != sizeof b)
        memcpy(b, &(int64_t){warc_now_ns()}, sizeof(int64_t));
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    snprintf(
        id, ID_TEXT,
        "urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
        b[13], b[14], b[15]);
}

void warc_make_date(int64_t at_ns, char *date)
{
    time_t seconds = at_ns / 1000000000;
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    n = strftime(date, DATE_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(date + n, DATE_TEXT - n, ".%06dZ", (int)(at_ns / 1000 % 1000000));
}

static void put_field(struct text *text, const char *name, const char *value,
                      const char *before, const char *behind)
{
    if (value == NULL)
        return;
    text_print(text, "%s: %s", name, before);
    put_text(text, value);
    text_print(text, "%s\r\n", behind);
}

int warc_serialize_record(struct warc *warc, const struct record *record)
{
    struct text *text = &warc->block;
    char block_digest[DIGEST_TEXT];
    int rc = make_digest(record->block, record->n, false, block_digest);

    if (rc < 0)
        return rc;
    text->n = 0;
    text->failed = false;
    text_print(text, "WARC/1.1\r\n");
    put_field(text, "WARC-Type", record->type, "", "");
    put_field(text, "WARC-Record-ID", record->id, "<", ">");
    put_field(text, "WARC-Date", record->date, "", "");
    put_field(text, "WARC-Target-URI", record->url, "", "");
    put_field(text, "WARC-Concurrent-To", record->concurrent_to, "<", ">");
    put_field(text, "WARC-Profile", record->profile, "", "");
    if (record->refers_to != NULL) {
        put_field(text, "WARC-Refers-To", record->refers_to->id, "<", ">");
        put_field(text, "WARC-Refers-To-Target-URI", record->refers_to->url, "", "");
        put_field(text, "WARC-Refers-To-Date", record->refers_to->date, "", "");
    }
    put_field(text, "WARC-Payload-Digest", record->payload_digest, "sha1:", "");
    put_field(text, "WARC-Block-Digest", block_digest, "sha1:", "");
    put_field(text, "WARC-Truncated", record->truncated, "", "");
    put_field(text, "Content-Type", record->content_type, "", "");
    text_print(text, "Content-Length: %zu\r\n\r\n", record->n);
    text_add(text, record->block, record->n);
    text_print(text, "\r\n\r\n");
    return write_record(warc);
}

/* ---- a request and its response ---------------------------------------------------- */

static int add_seen(struct warc *warc, const struct record *record)
{
    struct seen *seen = arena_alloc(&warc->arena, sizeof *seen);
    char *url = arena_text(&warc->arena, record->url, strlen(record->url));

    if (seen == NULL || url == NULL)
        return -ENOMEM;
    strcpy(seen->digest, record->payload_digest);
    strcpy(seen->id, record->id);
    strcpy(seen->date, record->date);
    seen->url = url;
    return table_add(&warc->by_digest, seen->digest, seen);
}

static int status_of(const struct warc_exchange *exchange)
{
    const char *space = memchr(exchange->response.at, ' ', exchange->head_n);

    return space != NULL ? (int)strtoul(space, NULL, 10) : 0;
}

/*
 * If the payload is already archived or the status is 304, make the record a revisit
 * record, which contains only the head of the response.
 */
static void make_revisit(struct record *record, const struct seen *seen, int status,
                         size_t head_n)
{
    static const char same[] =
        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    static const char not_modified[] =
        "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

    if (seen == NULL && status != 304)
        return;
    record->type = "revisit";
    record->profile = seen != NULL ? same : not_modified;
    record->refers_to = seen;
    record->n = head_n;
}

static int write_response(struct warc *warc, struct record *record,
                          const struct warc_exchange *exchange)
{
    int64_t begin = warc->end;
    int status = status_of(exchange), rc;
    size_t payload_n = exchange->response.n - exchange->head_n, mime_n;
    struct seen *seen = payload_n > 0 && record->truncated == NULL
                            ? table_get(&warc->by_digest, record->payload_digest)
                            : NULL;
    const char *mime = header_of(exchange, "Content-Type", &mime_n);

    make_revisit(record, seen, status, exchange->head_n);
    if (record->profile != NULL) {
        mime = "warc/revisit";
        mime_n = strlen(mime);
    } else {
        size_t n = mime != NULL ? strcspn(mime, "; \t\r\n") : 0;
        mime = n > 0 ? mime : "unk";
        mime_n = n > 0 ? n : 3;
    }
    rc = warc_serialize_record(warc, record);
    if (rc == 0 && seen == NULL && payload_n > 0 && record->truncated == NULL &&
        table_get(&warc->by_digest, record->payload_digest) == NULL)
        rc = add_seen(warc, record);
    return rc == 0 ? warc_write_line(warc, record, mime, mime_n, status, begin) : rc;
}

/*
 * Write the request before the response, so that all records before the end of the last
 * indexed response are complete.
 */
static int write_exchange(struct warc *warc, const char *url,
                          const struct warc_exchange *exchange, const char *truncated)
{
    char id[ID_TEXT], request_id[ID_TEXT], date[DATE_TEXT], payload[DIGEST_TEXT];
    struct record request = {.type = "request",
                             .id = request_id,
                             .date = date,
                             .url = url,
                             .concurrent_to = id,
                             .content_type = "application/http;msgtype=request",
                             .block = exchange->request.at,
                             .n = exchange->request.n};
    struct record response = {.type = "response",
                              .id = id,
                              .date = date,
                              .url = url,
                              .content_type = "application/http;msgtype=response",
                              .block = exchange->response.at,
                              .n = exchange->response.n,
                              .payload_digest = payload,
                              .truncated = truncated};
    int rc = make_digest(exchange->response.at + exchange->head_n,
                         exchange->response.n - exchange->head_n, is_chunked(exchange),
                         payload);

    warc_make_id(id);
    warc_make_id(request_id);
    warc_make_date(exchange->at_ns, date);
    if (rc == 0)
        rc = warc_serialize_record(warc, &request);
    return rc == 0 ? write_response(warc, &response, exchange) : rc;
}

/* Return a copy of the URL without user name and password, or NULL if memory runs out. */
static char *remove_user(const char *url)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end != NULL ? scheme_end + 3 : url;
    const char *at = memchr(host, '@', strcspn(host, "/?#"));
    char *shown;

    if (at == NULL)
        return strdup(url);
    if (asprintf(&shown, "%.*s%s", (int)(host - url), url, at + 1) < 0)
        return NULL;
    return shown;
}

int warc_add(struct warc *warc, const char *url, struct warc_exchange *exchange,
             const char *truncated)
{
    char *shown;

    if (warc->rc < 0 || exchange->head_n == 0)
        return warc->rc;
    text_add(&exchange->response, "", 1); /* a NUL at which strtoul() stops */
    shown = remove_user(url);
    if (shown == NULL || exchange->request.failed || exchange->response.failed) {
        warc->rc = -ENOMEM;
    } else {
        exchange->response.n--;
        warc->rc = write_exchange(warc, shown, exchange, truncated);
    }
    free(shown);
    return warc->rc;
}
