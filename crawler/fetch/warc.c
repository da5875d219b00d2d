/*
 * warc.c - archive all bytes sent and received in a WARC 1.1 file with an index.
 *
 * A line of the index is written after its response. If a crawl was killed while it wrote
 * a record, the archive is valid up to the last record in the index, and is continued
 * from there.
 *
 * Identical payloads are found by their SHA-1. As the standard requires, chunks are
 * joined for the hash, but compressed payloads are not decompressed. Each payload takes
 * some hundred bytes of memory, and its URL.
 */
#include "warc.h"

#include "../base/arena.h"
#include "../base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
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
    int64_t end; /* of the archive */
    z_stream gzip;
    bool has_gzip;
    struct text block, line; /* scratch buffers */
    struct table by_digest;  /* of struct seen */
    struct arena arena;
    int rc; /* the first error */
};

/* ---- exchanges --------------------------------------------------------------------- */

static int64_t now_ns(void)
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
 * A new head after a head replaces it: the first was an interim response (1xx), whose end
 * libcurl may not report. Lines after the body are trailers; they are in the body
 * already.
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
        exchange->at_ns = now_ns();
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
 * Return the value of a header up to the end of its line. *n is 0 if the header is
 * missing.
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
 * Hash the data of chunks without their sizes and line ends. Stops at an invalid chunk.
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

/* Returns 0 or -ENOMEM. The bytes must be followed by a NUL. */
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

static int write_all(int fd, const void *bytes, size_t n)
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
 * Write warc->block as one gzip member. After a failure the file ends where it ended
 * before.
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
        rc = code == Z_STREAM_ERROR ? -EIO : write_all(warc->fd, piece, n);
        end += (int64_t)n;
    }
    if (rc == 0)
        warc->end = end;
    else if (ftruncate(warc->fd, warc->end) == 0)
        lseek(warc->fd, warc->end, SEEK_SET);
    return rc;
}

static void make_id(char *id)
{
    unsigned char b[16] = {0};

    if (getrandom(b, sizeof b, 0) != sizeof b)
        memcpy(b, &(int64_t){now_ns()}, sizeof(int64_t));
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    snprintf(
        id, ID_TEXT,
        "urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
        b[13], b[14], b[15]);
}

static void make_date(int64_t at_ns, char *date)
{
    time_t seconds = at_ns / 1000000000;
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    n = strftime(date, DATE_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(date + n, DATE_TEXT - n, ".%06dZ", (int)(at_ns / 1000 % 1000000));
}

struct record {
    const char *type, *id, *date, *url, *content_type;
    const char *block;
    size_t n;
    const char *payload_digest; /* NULL: no payload */
    const char *truncated;
    const char *concurrent_to; /* the id of another record */
    const char *profile;       /* for revisit records */
    const struct seen *refers_to;
};

static void put_field(struct text *text, const char *name, const char *value,
                      const char *before, const char *behind)
{
    if (value == NULL)
        return;
    text_print(text, "%s: %s", name, before);
    put_text(text, value);
    text_print(text, "%s\r\n", behind);
}

static int serialize_record(struct warc *warc, const struct record *record)
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

/* ---- the index --------------------------------------------------------------------- */

/*
 * Return the length of a prefix like "www." or "www2.". Most sites answer with and
 * without it.
 */
static size_t www_length(const char *host, size_t n)
{
    size_t digits;

    if (n < 4 || strncasecmp(host, "www", 3) != 0)
        return 0;
    digits = strspn(host + 3, "0123456789");
    return 3 + digits < n && host[3 + digits] == '.' ? 4 + digits : 0;
}

static void put_host_key(struct text *text, const char *host, size_t n)
{
    size_t skipped = www_length(host, n), end = n;

    if (host[0] == '[') {
        text_add_lower(text, host, n);
        return;
    }
    while (end > skipped) {
        size_t begin_archive = end;
        while (begin_archive > skipped && host[begin_archive - 1] != '.')
            begin_archive--;
        text_add_lower(text, host + begin_archive, end - begin_archive);
        end = begin_archive > skipped ? begin_archive - 1 : begin_archive;
        if (begin_archive > skipped)
            text_add(text, ",", 1);
    }
}

struct argument {
    const char *at;
    size_t n;
};

static int compare_arguments(const void *a, const void *b)
{
    const struct argument *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = strncasecmp(x->at, y->at, n);

    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* Append the arguments of the query, sorted, so that their order does not matter. */
static void put_query_key(struct text *text, const char *query)
{
    struct argument arguments[256];
    size_t count = 0;

    while (*query != '\0' && count < 256) {
        size_t n = count == 255 ? strlen(query) : strcspn(query, "&");
        arguments[count++] = (struct argument){query, n};
        query += n + (query[n] != '\0');
    }
    qsort(arguments, count, sizeof arguments[0], compare_arguments);
    for (size_t i = 0; i < count; i++) {
        text_add(text, i == 0 ? "?" : "&", 1);
        text_add_lower(text, arguments[i].at, arguments[i].n);
    }
}

void warc_put_key(struct text *text, const char *url)
{
    const char *host = strstr(url, "://"), *at;
    size_t n, path_n;

    host = host != NULL ? host + 3 : url;
    n = strcspn(host, "/?#");
    at = memchr(host, '@', n);
    if (at != NULL) {
        n -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    path_n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (path_n > n)
        path_n = n;
    put_host_key(text, host, path_n);
    text_add(text, host + path_n, n - path_n); /* the port */
    text_add(text, ")", 1);
    at = host + n;
    path_n = strcspn(at, "?#");
    if (path_n > 1 && at[path_n - 1] == '/')
        text_add_lower(text, at, path_n - 1);
    else if (path_n == 0)
        text_add(text, "/", 1);
    else
        text_add_lower(text, at, path_n);
    if (at[path_n] == '?')
        put_query_key(text, at + path_n + 1);
}

/* Append a JSON string. Invalid UTF-8, for example in a header, is treated as Latin-1. */
static void put_json(struct text *text, const char *s, size_t n)
{
    size_t length;

    for (size_t i = 0; i < n; i += length) {
        unsigned char c = (unsigned char)s[i];
        bool is_valid;

        length = text_utf8_length(s + i, n - i, &is_valid);
        if (is_valid && c >= ' ' && c != 0x7f && c != '"' && c != '\\') {
            text_add(text, s + i, length);
            continue;
        }
        length = 1;
        if (c == '"' || c == '\\')
            text_print(text, "\\%c", c);
        else
            text_print(text, "\\u%04x", c);
    }
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int write_line(struct warc *warc, const struct record *record, const char *mime,
                      size_t mime_n, int status, int64_t begin_archive)
{
    struct text *line = &warc->line;

    line->n = 0;
    line->failed = false;
    warc_put_key(line, record->url);
    text_print(line, " %.4s%.2s%.2s%.2s%.2s%.2s {\"url\": \"", record->date,
               record->date + 5, record->date + 8, record->date + 11, record->date + 14,
               record->date + 17);
    put_json(line, record->url, strlen(record->url));
    text_print(line, "\", \"mime\": \"");
    put_json(line, mime, mime_n);
    text_print(line,
               "\", \"status\": \"%d\", \"digest\": \"sha1:%s\", \"length\": \"%" PRId64
               "\", \"offset\": \"%" PRId64 "\", \"filename\": \"",
               status, record->payload_digest, warc->end - begin_archive, begin_archive);
    put_json(line, name_of(warc->path), strlen(name_of(warc->path)));
    text_print(line, "\"}\n");
    return line->failed ? -ENOMEM : write_all(warc->index_fd, line->at, line->n);
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
 * Make a revisit record: for a payload that is already archived, only the head is
 * written.
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
    int64_t begin_archive = warc->end;
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
    rc = serialize_record(warc, record);
    if (rc == 0 && seen == NULL && payload_n > 0 && record->truncated == NULL &&
        table_get(&warc->by_digest, record->payload_digest) == NULL)
        rc = add_seen(warc, record);
    return rc == 0 ? write_line(warc, record, mime, mime_n, status, begin_archive) : rc;
}

/* The request is written first, because the index points to the end of the response. */
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

    make_id(id);
    make_id(request_id);
    make_date(exchange->at_ns, date);
    if (rc == 0)
        rc = serialize_record(warc, &request);
    return rc == 0 ? write_response(warc, &response, exchange) : rc;
}

/* Remove user name and password. NULL without memory. */
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
    text_add(&exchange->response, "", 1); /* a NUL, so that strtoul() stops */
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

/* ---- open and close ---------------------------------------------------------------- */

static int set_message(char **message, const char *path, const char *what, int rc)
{
    if (asprintf(message, "%s: %s", path, what != NULL ? what : strerror(-rc)) < 0)
        *message = NULL;
    return rc;
}

static int open_file(const char *path, int *fd, char **message)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return set_message(message, path, NULL, -errno);
    if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
        return set_message(message, path, "another process is writing to it", -EBUSY);
    return 0;
}

/*
 * Map a file into memory; *at is NULL if it is empty. Returns its length or a negative
 * errno.
 */
static int64_t map_file(int fd, char **at)
{
    struct stat info;

    *at = NULL;
    if (fstat(fd, &info) < 0)
        return -errno;
    if (info.st_size == 0)
        return 0;
    *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (*at != MAP_FAILED)
        return info.st_size;
    *at = NULL;
    return -errno;
}

/*
 * Return a number from a line of the index, or 0. `name` begins with a quote, so that it
 * cannot match inside a string, where quotes are escaped.
 */
static int64_t number_of(const char *line, size_t n, const char *name)
{
    const char *at = memmem(line, n, name, strlen(name));

    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/*
 * Return where the last indexed record ends in the archive. *lines_n is where the last
 * line ends.
 */
static int64_t end_of_lines(const char *at, size_t n, size_t *lines_n)
{
    const char *begin_archive = at, *end = at + n, *line_end;
    int64_t last = 0;

    while ((line_end = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        size_t line_n = (size_t)(line_end - at);
        int64_t behind = number_of(at, line_n, "\", \"offset\": \"") +
                         number_of(at, line_n, "\", \"length\": \"");
        last = behind > last ? behind : last;
        at = line_end + 1;
    }
    *lines_n = (size_t)(at - begin_archive);
    return last;
}

/*
 * Truncate the archive after its last indexed record, and the index after its last
 * complete line.
 */
static int find_end(struct warc *warc, char **message)
{
    size_t lines_n = 0;
    char *index;
    struct stat info;
    int64_t n = map_file(warc->index_fd, &index);

    if (n < 0)
        return set_message(message, warc->index_path, NULL, (int)n);
    if (n > 0) {
        warc->end = end_of_lines(index, (size_t)n, &lines_n);
        munmap(index, (size_t)n);
    }
    if (fstat(warc->fd, &info) < 0)
        return set_message(message, warc->path, NULL, -errno);
    if (info.st_size < warc->end)
        return set_message(message, warc->path, "it is shorter than its index says",
                           -EINVAL);
    if (ftruncate(warc->fd, warc->end) < 0 || lseek(warc->fd, 0, SEEK_END) < 0)
        return set_message(message, warc->path, NULL, -errno);
    if (ftruncate(warc->index_fd, (off_t)lines_n) < 0 ||
        lseek(warc->index_fd, 0, SEEK_END) < 0)
        return set_message(message, warc->index_path, NULL, -errno);
    return 0;
}

static int truncate_files(struct warc *warc, char **message)
{
    if (ftruncate(warc->fd, 0) < 0)
        return set_message(message, warc->path, NULL, -errno);
    if (ftruncate(warc->index_fd, 0) < 0)
        return set_message(message, warc->index_path, NULL, -errno);
    return 0;
}

/* Write the record that names the program. */
static int write_info(struct warc *warc, const char *software)
{
    char id[ID_TEXT], date[DATE_TEXT];
    struct text text = {.at = NULL};
    struct record record = {.type = "warcinfo",
                            .id = id,
                            .date = date,
                            .content_type = "application/warc-fields"};
    int rc;

    text_print(&text,
               "software: %s\r\nformat: WARC File Format 1.1\r\nconformsTo: "
               "http://iipc.github.io/warc-specifications/specifications/warc-format/"
               "warc-1.1/\r\n",
               software);
    make_id(id);
    make_date(now_ns(), date);
    record.block = text.at;
    record.n = text.n;
    rc = text.failed ? -ENOMEM : serialize_record(warc, &record);
    free(text.at);
    return rc;
}

static int begin_archive(struct warc *warc, bool goes_on, const char *software,
                         char **message)
{
    int rc = open_file(warc->path, &warc->fd, message);

    if (rc == 0)
        rc = open_file(warc->index_path, &warc->index_fd, message);
    if (rc == 0)
        rc = goes_on ? find_end(warc, message) : truncate_files(warc, message);
    if (rc < 0)
        return rc;
    if (deflateInit2(&warc->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return set_message(message, warc->path, NULL, -ENOMEM);
    warc->has_gzip = true;
    rc = write_info(warc, software);
    return rc < 0 ? set_message(message, warc->path, NULL, rc) : 0;
}

static void destroy_warc(struct warc *warc)
{
    if (warc->has_gzip)
        deflateEnd(&warc->gzip);
    if (warc->fd >= 0)
        close(warc->fd);
    if (warc->index_fd >= 0)
        close(warc->index_fd);
    table_finish(&warc->by_digest);
    arena_finish(&warc->arena);
    free(warc->block.at);
    free(warc->line.at);
    free(warc->path);
    free(warc->index_path);
    free(warc);
}

int warc_open(const char *path, bool goes_on, const char *software, struct warc **out,
              char **message)
{
    struct warc *warc = calloc(1, sizeof *warc);
    int rc;

    *out = NULL;
    *message = NULL;
    if (warc == NULL)
        return -ENOMEM;
    warc->fd = warc->index_fd = -1;
    warc->path = strdup(path);
    if (warc->path == NULL || asprintf(&warc->index_path, "%s.cdxj", path) < 0) {
        warc->index_path = NULL;
        rc = -ENOMEM;
    } else {
        rc = begin_archive(warc, goes_on, software, message);
    }
    if (rc < 0)
        destroy_warc(warc);
    else
        *out = warc;
    return rc;
}

struct line {
    const char *at;
    size_t n;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = memcmp(x->at, y->at, x->n < y->n ? x->n : y->n);

    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static int write_sorted(int fd, const char *at, size_t n)
{
    const char *end = at + n;
    size_t count = 0, i = 0;
    struct line *lines;
    struct text piece = {.at = NULL};
    int rc = 0;

    for (const char *p = at; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        count++;
    lines = calloc(count + 1, sizeof *lines);
    if (lines == NULL)
        return -ENOMEM;
    for (; i < count; i++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        lines[i] = (struct line){at, (size_t)(line_end + 1 - at)};
        at = line_end + 1;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (i = 0; rc == 0 && i < count; i++) {
        text_add(&piece, lines[i].at, lines[i].n);
        if (piece.n < PIECE_BYTES && i + 1 < count)
            continue;
        rc = piece.failed ? -ENOMEM : write_all(fd, piece.at, piece.n);
        piece.n = 0;
    }
    free(piece.at);
    free(lines);
    return rc;
}

/*
 * Sort the index, because readers search it by bisection. The sorted file is written
 * under another name and renamed, so that a complete index always exists.
 */
static int sort_index(const struct warc *warc)
{
    char *sorted_path, *at;
    int64_t n = map_file(warc->index_fd, &at);
    int fd, rc;

    if (n <= 0)
        return (int)n;
    if (asprintf(&sorted_path, "%s.new", warc->index_path) < 0) {
        munmap(at, (size_t)n);
        return -ENOMEM;
    }
    fd = open(sorted_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    rc = fd < 0 ? -errno : write_sorted(fd, at, (size_t)n);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(sorted_path, warc->index_path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(sorted_path);
    free(sorted_path);
    munmap(at, (size_t)n);
    return rc;
}

int warc_close(struct warc *warc, char **message)
{
    int rc;

    *message = NULL;
    if (warc == NULL)
        return 0;
    rc = warc->rc < 0 ? set_message(message, warc->path, NULL, warc->rc)
                      : sort_index(warc);
    if (rc < 0 && warc->rc == 0)
        rc = set_message(message, warc->index_path, NULL, rc);
    destroy_warc(warc);
    return rc;
}
