/*
 * cold.c - see cold.h
 *
 * The file is mapped in chunks with MAP_SHARED. The kernel keeps written data in its page
 * cache, and writes it to the disk if memory is short. MADV_DONTNEED removes pages from
 * the process, but not from the file. The next access to a page causes a page fault,
 * which takes about a microsecond and also maps the neighbouring pages. Reading data in
 * address order causes one fault per 64 KiB.
 *
 * Invariants
 *   1. The disk blocks of a chunk are allocated before it is mapped. So a full disk is
 *      detected then, and cannot cause SIGBUS in a later write.
 *   2. The size of a new chunk is an eighth of the total size, to limit the number of
 *      chunks.
 *
 * /proc/self/statm contains the number of file pages that are mapped into the process.
 * Pages of libraries are included, but their number hardly changes. If /proc/self/statm
 * cannot be read, each check releases all pages.
 */
#include "cold.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_CHUNK_BYTES ((size_t)1024 * 1024)
#define ALIGNMENT ((size_t)64)
#define TENDS_PER_CHECK 64 /* number of calls of cold_tend() per check */
#define BYTES_PER_CHECK ((size_t)1024 * 1024)

struct chunk {
    struct chunk *next;
    char *at;
    size_t n;
    bool is_of_file;
};

struct cold {
    struct chunk *chunks; /* list of all chunks, newest first */
    size_t used;          /* bytes used in the first chunk */
    size_t total;         /* size of all chunks */
    int fd;               /* descriptor of the file, or -1 */
    off_t file_end;
    int statm_fd; /* descriptor of /proc/self/statm, or -1 if it cannot be read */
    /* number of mapped file pages after the last release: those of libraries */
    size_t least_pages;
    unsigned tends; /* number of calls of cold_tend() since the last check */
    size_t taken;   /* number of bytes allocated since the last check */
};

/* ---- the file ---------------------------------------------------------------------- */

/* For file systems without O_TMPFILE: create a named file, and unlink it. */
static int open_named(const char *folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/.cold-XXXXXX", folder), fd;

    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int open_file(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : open_named(folder);
}

/* Allocate n bytes of the file and map them. (Invariant 1) Returns NULL on failure. */
static char *map_file(struct cold *cold, size_t n)
{
    char *at;

    if (cold->fd < 0 || posix_fallocate(cold->fd, cold->file_end, (off_t)n) != 0)
        return NULL;
    at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, cold->fd, cold->file_end);
    if (at == MAP_FAILED)
        return NULL;
    cold->file_end += (off_t)n;
    return at;
}

static char *map_memory(size_t n)
{
    char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at != MAP_FAILED ? at : NULL;
}

/* ---- release ----------------------------------------------------------------------- */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Return the number of mapped file pages, or 0 if it is unknown. (proc_pid_statm(5):
 * "shared")
 */
static size_t mapped_pages(const struct cold *cold)
{
    char line[128];
    ssize_t n = cold->statm_fd >= 0 ? pread(cold->statm_fd, line, sizeof line - 1, 0) : 0;
    unsigned long shared;

    line[n > 0 ? n : 0] = '\0';
    return sscanf(line, "%*u %*u %lu", &shared) == 1 ? shared : 0;
}

static void release_pages(struct cold *cold)
{
    for (const struct chunk *chunk = cold->chunks; chunk != NULL; chunk = chunk->next)
        if (chunk->is_of_file)
            madvise(chunk->at, chunk->n, MADV_DONTNEED);
    cold->least_pages = mapped_pages(cold);
}

static void check_resident(struct cold *cold)
{
    size_t pages = mapped_pages(cold);

    cold->tends = 0;
    cold->taken = 0;
    if (pages == 0 || pages > cold->least_pages + COLD_BUDGET_BYTES / page_bytes())
        release_pages(cold);
}

void cold_tend(struct cold *cold)
{
    if (cold != NULL && ++cold->tends >= TENDS_PER_CHECK)
        check_resident(cold);
}

/* ---- input ------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Return the size of a new chunk. (Invariant 2) */
static size_t size_of_next(const struct cold *cold, size_t n)
{
    size_t usual = cold->total / 8;

    if (usual < FIRST_CHUNK_BYTES)
        usual = FIRST_CHUNK_BYTES;
    return round_up(n > usual ? n : usual, FIRST_CHUNK_BYTES);
}

static int add_chunk(struct cold *cold, size_t n)
{
    struct chunk *chunk = malloc(sizeof *chunk);

    if (chunk == NULL)
        return -1;
    *chunk = (struct chunk){.next = cold->chunks, .n = size_of_next(cold, n)};
    chunk->at = map_file(cold, chunk->n);
    chunk->is_of_file = chunk->at != NULL;
    if (chunk->at == NULL)
        chunk->at = map_memory(chunk->n);
    if (chunk->at == NULL) {
        free(chunk);
        return -1;
    }
    cold->chunks = chunk;
    cold->used = 0;
    cold->total += chunk->n;
    return 0;
}

/*
 * Map all pages of a range that will soon be written, because one call is cheaper than a
 * page fault for each page. (Linux 5.14 or later)
 */
static void populate(char *at, size_t n)
{
    uintptr_t begin = (uintptr_t)at & ~(page_bytes() - 1);

    madvise((void *)begin, (uintptr_t)at + n - begin, MADV_POPULATE_WRITE);
}

void *cold_take(struct cold *cold, size_t n)
{
    char *at;

    if (n > SIZE_MAX / 2)
        return NULL;
    n = round_up(n, ALIGNMENT);
    if ((cold->chunks == NULL || n > cold->chunks->n - cold->used) &&
        add_chunk(cold, n) < 0)
        return NULL;
    at = cold->chunks->at + cold->used;
    cold->used += n;
    cold->taken += n;
    if (cold->taken >= BYTES_PER_CHECK)
        check_resident(cold);
    if (cold->chunks->is_of_file && n <= BYTES_PER_CHECK)
        populate(at, n);
    return at;
}

/* ---- life cycle -------------------------------------------------------------------- */

struct cold *cold_create(const char *folder)
{
    struct cold *cold = calloc(1, sizeof *cold);

    if (cold == NULL)
        return NULL;
    cold->fd = folder != NULL ? open_file(folder) : -1;
    cold->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    cold->least_pages = mapped_pages(cold);
    return cold;
}

bool cold_has_file(const struct cold *cold)
{
    return cold->fd >= 0;
}

void cold_destroy(struct cold *cold)
{
    struct chunk *next;

    if (cold == NULL)
        return;
    for (struct chunk *chunk = cold->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        munmap(chunk->at, chunk->n);
        free(chunk);
    }
    if (cold->fd >= 0)
        close(cold->fd);
    if (cold->statm_fd >= 0)
        close(cold->statm_fd);
    free(cold);
}
