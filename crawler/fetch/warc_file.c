/*
 * warc_file.c - open and close an archive and its index.
 */
#include "warc_inside.h"

#include "../base/arena.h"
#include "../base/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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
 * Map a file into memory. Stores its address in *at, or NULL if the file is empty.
 * Returns the length of the file or a negative errno.
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
 * Return the number after `name` in a line of the index, or 0 if `name` is missing.
 * `name` begins with a quote, so it cannot match inside a string, where quotes are
 * escaped.
 */
static int64_t number_of(const char *line, size_t n, const char *name)
{
    const char *at = memmem(line, n, name, strlen(name));

    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/*
 * Return the offset in the archive at which the last indexed record ends. Stores the
 * total length of the complete lines of the index in *lines_n.
 */
static int64_t end_of_lines(const char *at, size_t n, size_t *lines_n)
{
    const char *begin = at, *end = at + n, *line_end;
    int64_t last = 0;

    while ((line_end = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        size_t line_n = (size_t)(line_end - at);
        int64_t behind = number_of(at, line_n, "\", \"offset\": \"") +
                         number_of(at, line_n, "\", \"length\": \"");
        last = behind > last ? behind : last;
        at = line_end + 1;
    }
    *lines_n = (size_t)(at - begin);
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

/* Write the warcinfo record, which names the program. */
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
    warc_make_id(id);
    warc_make_date(warc_now_ns(), date);
    record.block = text.at;
    record.n = text.n;
    rc = text.failed ? -ENOMEM : warc_serialize_record(warc, &record);
    free(text.at);
    return rc;
}

int warc_begin_archive(struct warc *warc, bool goes_on, const char *software,
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
        rc = warc_begin_archive(warc, goes_on, software, message);
    }
    if (rc < 0)
        destroy_warc(warc);
    else
        *out = warc;
    return rc;
}

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
        rc = piece.failed ? -ENOMEM : warc_write_all(fd, piece.at, piece.n);
        piece.n = 0;
    }
    free(piece.at);
    free(lines);
    return rc;
}

/*
 * Sort the index, because readers use binary search. The sorted index is written under
 * another name and then renamed, so that a complete index exists at any time.
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
