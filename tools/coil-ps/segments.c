/*
 * segments.c - lists the pages of a process that a core file contains.
 *
 * These are all pages to which the process has written, as reported by /proc/PID/pagemap,
 * and the first page of each mapped file, which contains coil's note.
 *
 * A program may reserve terabytes of memory of which it uses little. The time that this
 * file takes must depend on the used memory only. Linux 6.7 and later can list the used
 * pages. Large gaps between saved pages are not part of the file, because the size of a
 * file is limited. Memory with MADV_DONTDUMP, such as the shadow memory of
 * AddressSanitizer, is not saved, as in core files that the kernel writes.
 *
 * The list of pages is made only once. Although all threads are stopped, the pages may
 * change afterwards: the kernel may populate a huge page, or another process may share
 * the memory (CLONE_VM). The sizes in the program headers are those of this list.
 */
#include "segments.h"

#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define ENTRIES ((size_t)4096)  /* number of entries of the page map read in one call */
#define GAP (UINT64_C(1) << 30) /* a larger gap between saved pages begins a segment */
#define FILE_GAP (16 * PAGE)    /* the same for a mapped file: gaps contain its data */

/* Consecutive pages. This struct and the bits are those of PAGEMAP_SCAN. */
struct pages {
    uint64_t begin, end, bits;
};

#define IS_OF_FILE (UINT64_C(1) << 2)
#define IS_PRESENT (UINT64_C(1) << 3)
#define IS_SWAPPED (UINT64_C(1) << 4)

/* The argument of PAGEMAP_SCAN: linux/fs.h, since Linux 6.7. */
struct scan {
    uint64_t size, flags, begin, end, walked_to, list, list_room, pages_max;
    uint64_t inverted, all_of, any_of, reported; /* bits */
};

#define SCAN _IOWR('f', 16, struct scan)

/* ---- mappings ---------------------------------------------------------------------- */

static unsigned flags_of(const char *mode)
{
    return (mode[0] == 'r' ? PF_R : 0u) | (mode[1] == 'w' ? PF_W : 0u) |
           (mode[2] == 'x' ? PF_X : 0u);
}

static bool add_area(struct areas *areas, const struct area *area)
{
    if (!array_grow(&areas->list, &areas->room, areas->count, sizeof *areas->list))
        return false;
    areas->list[areas->count] = *area;
    areas->list[areas->count].path = strdup(area->path);
    return areas->list[areas->count++].path != NULL;
}

/* List the mappings in a file of /proc/PID: `maps`, or `smaps`, which has the flags. */
static bool read_areas(int pid, const char *name, struct areas *areas)
{
    char path[64], line[4400];
    bool ok;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    maps = fopen(path, "re");
    ok = maps != NULL;
    while (ok && fgets(line, sizeof line, maps) != NULL) {
        unsigned long long begin, end, offset, inode;
        char mode[5];
        int at = 0;

        if (strncmp(line, "VmFlags:", 8) == 0 && areas->count > 0)
            areas->list[areas->count - 1].is_excluded = strstr(line, " dd") != NULL;
        if (sscanf(line, "%llx-%llx %4s %llx %*s %llu %n", &begin, &end, mode, &offset,
                   &inode, &at) < 5)
            continue;
        line[strcspn(line, "\n")] = '\0';
        ok = add_area(areas, &(struct area){.begin = begin,
                                            .end = end,
                                            .offset = offset,
                                            .flags = flags_of(mode),
                                            .is_private = mode[3] == 'p',
                                            .has_file = inode != 0,
                                            .path = line + at});
    }
    if (maps != NULL)
        fclose(maps);
    if (ok && areas->count == 0)
        errno = ESRCH;
    return ok && areas->count > 0;
}

static void free_areas(struct areas *areas)
{
    for (size_t i = 0; i < areas->count; i++)
        free(areas->list[i].path);
    free(areas->list);
}

/*
 * List the mappings of the stopped process. To read smaps, the kernel visits each page,
 * so smaps was read before the stop. Mappings that have changed since then are saved.
 */
static bool find_areas(struct memory *m)
{
    size_t k = 0;

    if (!read_areas(m->pid, "maps", &m->areas))
        return false;
    for (size_t i = 0; i < m->areas.count; i++) {
        struct area *area = &m->areas.list[i];
        const struct area *old;

        while (k < m->before.count && m->before.list[k].begin < area->begin)
            k++;
        if (k == m->before.count)
            break;
        old = &m->before.list[k];
        area->is_excluded = old->is_excluded && old->begin == area->begin &&
                            old->end == area->end && old->flags == area->flags &&
                            old->is_private == area->is_private &&
                            strcmp(old->path, area->path) == 0;
    }
    return true;
}

/* Return false for memory of the kernel or of a device, and for excluded memory. */
static bool is_saved(const struct area *area)
{
    return (area->flags & PF_R) != 0 && !area->is_excluded &&
           strncmp(area->path, "[vvar", 5) != 0 &&
           strcmp(area->path, "[vsyscall]") != 0 &&
           strncmp(area->path, "anon_inode:", 11) != 0;
}

static bool is_private_file(const struct area *area)
{
    return area->is_private && area->has_file;
}

static bool is_shared_memory(const struct area *area)
{
    return !area->is_private && (strncmp(area->path, "/dev/zero", 9) == 0 ||
                                 strncmp(area->path, "/memfd:", 7) == 0 ||
                                 strncmp(area->path, "/SYSV", 5) == 0);
}

/* Return true if the pages must be saved, because no permanent file has their data. */
static bool are_wanted(const struct area *area, const struct pages *pages)
{
    if (is_private_file(area))
        return (pages->bits & IS_SWAPPED) != 0 || (pages->bits & IS_OF_FILE) == 0;
    return area->is_private || is_shared_memory(area);
}

/* ---- pages ------------------------------------------------------------------------- */

/*
 * List the pages in RAM and in swap space from *at on, and set *at to the end of the part
 * of the area that was examined. Returns the length of the list, or -1 if the kernel
 * cannot do that.
 */
static int scan_pages(const struct memory *m, uint64_t *at, uint64_t end,
                      struct pages list[ENTRIES])
{
    struct scan scan = {.size = sizeof scan,
                        .begin = *at,
                        .end = end,
                        .list = (uintptr_t)list,
                        .list_room = ENTRIES,
                        .any_of = IS_PRESENT | IS_SWAPPED,
                        .reported = IS_PRESENT | IS_SWAPPED | IS_OF_FILE};
    int n = ioctl(m->pagemap, SCAN, &scan);

    if (n < 0 || scan.walked_to <= *at)
        return -1;
    *at = scan.walked_to;
    return n;
}

/*
 * Like scan_pages(), but read the page map, which has an entry of 8 bytes for each page.
 */
static int read_page_map(const struct memory *m, uint64_t *at, uint64_t end,
                         struct pages list[ENTRIES])
{
    static uint64_t entries[ENTRIES];
    size_t count = (size_t)((end - *at) / PAGE);
    ssize_t bytes;
    int n = 0;

    count = count < ENTRIES ? count : ENTRIES;
    bytes = pread(m->pagemap, entries, count * 8, (off_t)(*at / PAGE * 8));
    for (size_t i = 0; i < count; i++, *at += PAGE) {
        uint64_t entry = (ssize_t)(i * 8) < bytes ? entries[i] : 0;
        uint64_t bits = (entry >> 63 & 1 ? IS_PRESENT : 0) |
                        (entry >> 62 & 1 ? IS_SWAPPED : 0) |
                        (entry >> 61 & 1 ? IS_OF_FILE : 0);

        if ((bits & (IS_PRESENT | IS_SWAPPED)) != 0)
            list[n++] = (struct pages){*at, *at + PAGE, bits};
    }
    return n;
}

static bool add_segment(struct memory *m, const struct area *area, uint64_t begin)
{
    if (!array_grow(&m->segments, &m->segment_room, m->segment_count,
                    sizeof *m->segments))
        return false;
    m->segments[m->segment_count++] = (struct segment){.begin = begin,
                                                       .end = area->end,
                                                       .stored_end = begin,
                                                       .flags = area->flags,
                                                       .first_run = m->run_count};
    return true;
}

/*
 * Add pages to the last segment, or begin the next segment if the gap is too large. A
 * segment of a private mapping of a file includes unwritten pages between written ones.
 */
static bool add_run(struct memory *m, const struct area *area, uint64_t begin,
                    uint64_t end)
{
    struct segment *last = &m->segments[m->segment_count - 1];
    bool is_file = is_private_file(area);

    if (begin < last->stored_end) /* the first page of a file was added before */
        begin = last->stored_end;
    if (begin >= end)
        return true;
    if (begin - last->stored_end > (is_file ? FILE_GAP : GAP)) {
        last->end = begin;
        if (!add_segment(m, area, begin))
            return false;
        last = &m->segments[m->segment_count - 1];
    }
    if (is_file)
        begin = last->stored_end;
    last->stored_end = end;
    if (last->run_count > 0 && m->runs[m->run_count - 1].end == begin) {
        m->runs[m->run_count - 1].end = end;
        return true;
    }
    if (!array_grow(&m->runs, &m->run_room, m->run_count, sizeof *m->runs))
        return false;
    m->runs[m->run_count++] = (struct run){begin, end};
    last->run_count++;
    return true;
}

/* Find the wanted pages of an area. */
static bool find_runs(struct memory *m, const struct area *area)
{
    static struct pages list[ENTRIES];
    uint64_t at = area->begin;

    if (strcmp(area->path, "[vdso]") == 0)
        return add_run(m, area, area->begin, area->end); /* not in the page map */
    while (at < area->end) {
        int n = m->has_no_scan ? -1 : scan_pages(m, &at, area->end, list);

        m->has_no_scan = n < 0;
        if (n < 0)
            n = read_page_map(m, &at, area->end, list);
        for (int i = 0; i < n; i++)
            if (are_wanted(area, &list[i]) &&
                !add_run(m, area, list[i].begin, list[i].end))
                return false;
    }
    return true;
}

/* Divide the areas into segments. */
static bool find_segments(struct memory *m)
{
    for (size_t i = 0; i < m->areas.count; i++) {
        const struct area *area = &m->areas.list[i];

        if (!add_segment(m, area, area->begin))
            return false;
        if (!is_saved(area))
            continue;
        if (is_private_file(area) && area->offset == 0 &&
            !add_run(m, area, area->begin, area->begin + PAGE))
            return false;
        if (!find_runs(m, area))
            return false;
    }
    return true;
}

/* ---- the interface ----------------------------------------------------------------- */

bool memory_prepare(struct memory *m)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/pagemap", m->pid);
    m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
    return m->pagemap >= 0 && read_areas(m->pid, "smaps", &m->before);
}

bool memory_find(struct memory *m)
{
    return find_areas(m) && find_segments(m);
}

void memory_free(struct memory *m)
{
    if (m->pagemap >= 0)
        close(m->pagemap);
    free_areas(&m->before);
    free_areas(&m->areas);
    free(m->segments);
    free(m->runs);
}
