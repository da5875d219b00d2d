/*
 * hosts.c - reads hosts(5), and caches its entries until the file changes.
 *
 * There is one entry for each name of each line. Entries are sorted by name, because a
 * file that blocks hosts may have a hundred thousand lines. The whole text stays in
 * memory, and the entries point into it. Entries with equal names are in the order of
 * their lines. The first name of a line is the host's canonical name.
 */
#include "resolver.h"

#include "../base/fault.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST ((off_t)64 * 1024 * 1024)

struct entry {
    const char *name, *address, *proper;
};

struct coil__hosts {
    struct timespec changed;
    off_t bytes;
    struct entry *entries;
    size_t count, capacity;
    char text[];
};

/* ---- parsing ----------------------------------------------------------------------- */

static int add_entry(struct coil__hosts *hosts, const struct entry *entry)
{
    if (hosts->count == hosts->capacity) {
        size_t capacity = hosts->capacity != 0 ? hosts->capacity * 2 : 16;
        struct entry *entries = coil__realloc(hosts->entries, capacity * sizeof *entries);

        if (entries == NULL)
            return -ENOMEM;
        hosts->entries = entries;
        hosts->capacity = capacity;
    }
    hosts->entries[hosts->count++] = *entry;
    return 0;
}

static int parse_line(struct coil__hosts *hosts, char *line)
{
    static const char blanks[] = " \t\r\v\f";
    struct entry entry = {.proper = NULL};
    char *save;
    int rc = 0;

    line[strcspn(line, "#")] = '\0';
    entry.address = strtok_r(line, blanks, &save);
    if (entry.address == NULL)
        return 0;
    while (rc == 0 && (entry.name = strtok_r(NULL, blanks, &save)) != NULL) {
        for (char *c = (char *)entry.name; *c != '\0'; c++)
            *c = (char)coil__ascii_lower((unsigned char)*c);
        if (entry.proper == NULL)
            entry.proper = entry.name;
        rc = add_entry(hosts, &entry);
    }
    return rc;
}

/*
 * Compare entries by name, then by position in the file, which is the order of the names
 * in memory.
 */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    int by_name = strcmp(one->name, other->name);

    if (by_name != 0)
        return by_name;
    return one->name < other->name ? -1 : one->name > other->name;
}

static int parse_text(struct coil__hosts *hosts)
{
    char *line = hosts->text;
    int rc = 0;

    while (rc == 0 && line != NULL) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end++ = '\0';
        rc = parse_line(hosts, line);
        line = end;
    }
    if (hosts->count > 0)
        qsort(hosts->entries, hosts->count, sizeof *hosts->entries, compare_entries);
    return rc;
}

/* ---- reading ----------------------------------------------------------------------- */

/* Read at most `size` bytes. Returns their number; 0 for a folder. */
static ssize_t read_bytes(int fd, char *text, size_t size)
{
    size_t done = 0;
    ssize_t n;

    while (done < size) {
        n = COIL__CALL(EIO, read(fd, text + done, size - done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EISDIR)
            return -errno;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int read_text(struct coil__hosts *hosts, int fd, size_t size)
{
    ssize_t n = read_bytes(fd, hosts->text, size);

    if (n < 0)
        return (int)n;
    /*
     * As in the C library, a NUL hides the rest of its line, but not the following lines.
     */
    for (char *nul = hosts->text, *end = nul + n;
         (nul = memchr(nul, '\0', (size_t)(end - nul))) != NULL;)
        *nul = '#';
    hosts->text[n] = '\0';
    return 0;
}

static int read_hosts(int fd, struct coil__hosts **out)
{
    struct stat file = {.st_size = 0};
    struct coil__hosts *hosts;
    size_t size;
    int rc = 0;

    if (fd >= 0 && COIL__CALL(EIO, fstat(fd, &file)) < 0)
        return -errno;
    size = file.st_size > 0 && file.st_size < LARGEST ? (size_t)file.st_size : 0;
    hosts = coil__alloc_zeroed(sizeof *hosts + size + 1);
    if (hosts == NULL)
        return -ENOMEM;
    hosts->changed = file.st_mtim;
    hosts->bytes = file.st_size;
    if (fd >= 0)
        rc = read_text(hosts, fd, size);
    if (rc == 0)
        rc = parse_text(hosts);
    if (rc < 0)
        coil__hosts_destroy(hosts);
    else
        *out = hosts;
    return rc;
}

static bool has_changed(const struct coil__hosts *hosts, const char *path)
{
    struct stat file;

    if (COIL__CALL(EACCES, stat(path, &file)) < 0)
        file = (struct stat){.st_size = 0};
    return hosts->bytes != file.st_size || hosts->changed.tv_sec != file.st_mtim.tv_sec ||
           hosts->changed.tv_nsec != file.st_mtim.tv_nsec;
}

int coil__hosts_refresh(struct coil__hosts **hosts, const char *path)
{
    struct coil__hosts *before = *hosts;
    FILE *file;
    int rc;

    if (before != NULL && !has_changed(before, path))
        return 0;
    rc = coil__config_file_open(path, &file);
    if (rc < 0)
        return rc;
    rc = read_hosts(file != NULL ? fileno(file) : -1, hosts);
    if (rc == 0)
        coil__hosts_destroy(before);
    return coil__config_file_close(file, rc);
}

void coil__hosts_destroy(struct coil__hosts *hosts)
{
    if (hosts == NULL)
        return;
    coil__free(hosts->entries);
    coil__free(hosts);
}

/* ---- finding ----------------------------------------------------------------------- */

/* Find the first entry whose name is not less than `name`, with a binary search. */
static size_t find_first_entry(const struct coil__hosts *hosts, const char *name)
{
    size_t low = 0, high = hosts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(hosts->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Parse an address, such as "192.0.2.1" or "fe80::1%eth0". Returns false if the text is
 * not an address of this family.
 */
static bool parse_address(const char *text, enum coil__question_kind kind,
                          coil_address *out)
{
    const char *zone = strchr(text, '%');
    char plain[INET6_ADDRSTRLEN];
    size_t n = zone != NULL ? (size_t)(zone - text) : strlen(text);

    memset(out, 0, sizeof *out);
    if (kind == COIL__ASK_V4) {
        out->length = sizeof out->v4;
        out->v4.sin_family = AF_INET;
        return inet_pton(AF_INET, text, &out->v4.sin_addr) == 1;
    }
    if (n >= sizeof plain)
        return false;
    memcpy(plain, text, n);
    plain[n] = '\0';
    out->length = sizeof out->v6;
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_scope_id = zone != NULL ? if_nametoindex(zone + 1) : 0;
    return inet_pton(AF_INET6, plain, &out->v6.sin6_addr) == 1;
}

static int fill_answer(const struct entry *entries, size_t n,
                       enum coil__question_kind kind, struct coil__answer *answer)
{
    answer->rc = -ENOENT;
    answer->why = "the hosts file has no address of this kind";
    if (coil__answer_reserve(answer, n, entries->proper) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (parse_address(entries[i].address, kind, &answer->addresses[answer->count]))
            answer->count++;
    if (answer->count > 0)
        answer->rc = 0;
    return 0;
}

int coil__hosts_find(struct coil__hosts *hosts, const char *host,
                     enum coil__question_kind kind, struct coil__answer *answer)
{
    size_t first = hosts != NULL ? find_first_entry(hosts, host) : 0, n = 0;

    if (hosts == NULL)
        return 0;
    while (first + n < hosts->count && strcmp(hosts->entries[first + n].name, host) == 0)
        n++;
    return n > 0 ? fill_answer(&hosts->entries[first], n, kind, answer) : 0;
}
