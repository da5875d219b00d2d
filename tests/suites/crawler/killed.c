/*
 * killed.c - preloaded into coil-crawl: kills the process, or simulates a full disk, at
 * the N-th write to a file of a saved crawl.
 *
 *     KILL_AT=N      the process is killed instead of the N-th write, truncation, removal or renaming
 *     KILL_TORN=1    half of that write is performed first
 *     FULL_AT=N      the disk is full from the N-th operation on
 *     WRITES=FILE    receives the number of such operations at the end
 *
 * Only operations on files with ".db" in their paths are counted.
 */
/*
 * This file defines both pwrite() and pwrite64(), so the headers must not rename pwrite()
 * to pwrite64().
 */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t offset);
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t write(int fd, const void *bytes, size_t n);
int ftruncate64(int fd, off64_t length);
int ftruncate(int fd, off_t length);
int unlink(const char *path);
int rename(const char *from, const char *to);

static atomic_long count;
static long kill_at, full_at;
static bool is_torn;

static void __attribute__((constructor)) read_environment(void)
{
    const char *at = getenv("KILL_AT"), *full = getenv("FULL_AT");

    kill_at = at != NULL ? atol(at) : 0;
    full_at = full != NULL ? atol(full) : 0;
    is_torn = getenv("KILL_TORN") != NULL;
}

static void __attribute__((destructor)) write_count(void)
{
    const char *path = getenv("WRITES");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;

    if (out == NULL)
        return;
    fprintf(out, "%ld\n", atomic_load(&count));
    fclose(out);
}

static bool is_ours(const char *path)
{
    return strstr(path, ".db") != NULL;
}

static bool is_our_file(int fd)
{
    char link[64], path[4096];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_ours(path);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/*
 * Count an operation. If this is operation KILL_AT, kill the process. With KILL_TORN,
 * half() performs half of the write before that. Returns true if the simulated disk is
 * full.
 */
static bool is_full(void (*half)(void *arg), void *arg)
{
    long now = atomic_fetch_add(&count, 1) + 1;

    if (now == kill_at) {
        if (is_torn && half != NULL)
            half(arg);
        die();
    }
    if (full_at == 0 || now < full_at)
        return false;
    errno = ENOSPC;
    return true;
}

struct writing {
    int fd;
    const void *bytes;
    size_t n;
    off64_t offset;
};

static ssize_t really_pwrite(const struct writing *writing, size_t n)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");

    return real(writing->fd, writing->bytes, n, writing->offset);
}

static void write_half(void *arg)
{
    const struct writing *writing = arg;
    ssize_t n = really_pwrite(writing, writing->n / 2);

    (void)n;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t offset)
{
    struct writing writing = {fd, bytes, n, offset};

    if (is_our_file(fd) && is_full(write_half, &writing))
        return -1;
    return really_pwrite(&writing, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    return pwrite64(fd, bytes, n, offset);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

    if (is_our_file(fd) && is_full(NULL, NULL))
        return -1;
    return real(fd, bytes, n);
}

int ftruncate64(int fd, off64_t length)
{
    int (*real)(int, off64_t) = (int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64");

    if (is_our_file(fd) && is_full(NULL, NULL))
        return -1;
    return real(fd, length);
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

/* unlink() and similar operations succeed even on a full disk. */
int unlink(const char *path)
{
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");

    if (is_ours(path))
        is_full(NULL, NULL);
    return real(path);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");

    if (is_ours(from))
        is_full(NULL, NULL);
    return real(from, to);
}
