/*
 * save.c - writes the memory of a process to a core file.
 *
 * gdb's gcore reads 1 MiB at a time. If a part of it is unreadable, such as a guard page
 * between two stacks, gcore writes zeros for the whole MiB. This file instead copies
 * memory page by page: all pages to which the process has written, as reported by
 * /proc/PID/pagemap, and the first page of each mapped file, which contains coil's note.
 * All other pages become holes in the core file.
 *
 *     header | program headers | section header | notes | memory
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
#include "save.h"

#include "freeze.h"
#include "take.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define COPY_PAGES ((size_t)256)
#define ENTRIES ((size_t)4096)  /* number of entries of the page map read in one call */
#define GAP (UINT64_C(1) << 30) /* a larger gap between saved pages begins a segment */
#define FILE_GAP (16 * PAGE)    /* the same for a mapped file: gaps contain its data */
#define FP_BYTES_MAX 4096

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

/* A mapping of the process. */
struct area {
    uint64_t begin, end, offset;
    unsigned flags; /* flags of the program header, such as PF_R */
    bool is_private, has_file;
    bool is_excluded; /* by MADV_DONTDUMP */
    char *path;
};

struct areas {
    struct area *list; /* sorted by address */
    size_t count, room;
};

/* A segment of the core: a part of a mapping. */
struct segment {
    uint64_t begin, end;
    uint64_t stored_end; /* address of the first byte that is not in the core */
    unsigned flags;
    size_t first_run, run_count;
};

/* Consecutive pages that are saved. */
struct run {
    uint64_t begin, end;
};

struct saving {
    int pid, fd, pagemap;
    bool has_no_scan;    /* the kernel has no PAGEMAP_SCAN */
    struct areas before; /* the mappings before the process was stopped */
    struct areas areas;
    struct segment *segments;
    size_t segment_count, segment_room;
    struct run *runs;
    size_t run_count, run_room;
    struct frozen *threads;
    size_t thread_count, thread_room;
    unsigned char *notes;
    size_t note_bytes, note_room;
    uint64_t at; /* current offset in the core file */
    struct saved *saved;
    char *why;
    size_t size;
};

static bool complain(struct saving *s, const char *pattern, ...)
    __attribute__((format(printf, 2, 3)));

static bool complain(struct saving *s, const char *pattern, ...)
{
    va_list args;

    va_start(args, pattern);
    vsnprintf(s->why, s->size, pattern, args);
    va_end(args);
    return false;
}

/* Make the array larger if it has fewer than `count` elements. */
static bool reserve(struct saving *s, void *array, size_t *room, size_t count,
                    size_t bytes)
{
    size_t wanted = *room == 0 ? 64 : *room;
    void *larger;

    if (count <= *room)
        return true;
    while (wanted < count)
        wanted *= 2;
    larger = realloc(*(void **)array, wanted * bytes);
    if (larger == NULL)
        return complain(s, "out of memory");
    *(void **)array = larger;
    *room = wanted;
    return true;
}

/* ---- threads ----------------------------------------------------------------------- */

static bool is_stopped(const struct saving *s, int id)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].id == id)
            return true;
    return false;
}

/* Stop the threads that are still running. Sets *more if any thread was running. */
static bool stop_more(struct saving *s, bool *more)
{
    struct frozen *ids = NULL;
    size_t n = frozen_list(s->pid, &ids);

    *more = false;
    for (size_t i = 0; i < n; i++) {
        if (is_stopped(s, ids[i].id))
            continue;
        *more = true;
        if (!reserve(s, &s->threads, &s->thread_room, s->thread_count + 1,
                     sizeof *s->threads))
            break;
        if (!freeze(&ids[i], 1)) {
            free(ids);
            return complain(s, "process %d cannot be stopped: %s", s->pid,
                            strerror(errno));
        }
        if (ids[i].id != 0)
            s->threads[s->thread_count++] = ids[i];
    }
    free(ids);
    return true;
}

/* Stop all threads. Repeat, because a running thread may create new threads. */
static bool stop_all(struct saving *s)
{
    bool more = true;

    while (more)
        if (!stop_more(s, &more))
            return false;
    return s->thread_count > 0 || complain(s, "there is no process %d", s->pid);
}

/* ---- areas of memory --------------------------------------------------------------- */

static unsigned flags_of(const char *mode)
{
    return (mode[0] == 'r' ? PF_R : 0u) | (mode[1] == 'w' ? PF_W : 0u) |
           (mode[2] == 'x' ? PF_X : 0u);
}

static bool add_area(struct saving *s, struct areas *areas, const struct area *area)
{
    if (!reserve(s, &areas->list, &areas->room, areas->count + 1, sizeof *areas->list))
        return false;
    areas->list[areas->count] = *area;
    areas->list[areas->count].path = strdup(area->path);
    return areas->list[areas->count++].path != NULL || complain(s, "out of memory");
}

/* List the mappings in a file of /proc/PID: `maps`, or `smaps`, which has the flags. */
static bool read_areas(struct saving *s, const char *name, struct areas *areas)
{
    char path[64], line[4400];
    bool ok = true;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/%s", s->pid, name);
    maps = fopen(path, "re");
    while (ok && maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long long begin, end, offset, inode;
        char mode[5];
        int at = 0;

        if (strncmp(line, "VmFlags:", 8) == 0 && areas->count > 0)
            areas->list[areas->count - 1].is_excluded = strstr(line, " dd") != NULL;
        if (sscanf(line, "%llx-%llx %4s %llx %*s %llu %n", &begin, &end, mode, &offset,
                   &inode, &at) < 5)
            continue;
        line[strcspn(line, "\n")] = '\0';
        ok = add_area(s, areas,
                      &(struct area){.begin = begin,
                                     .end = end,
                                     .offset = offset,
                                     .flags = flags_of(mode),
                                     .is_private = mode[3] == 'p',
                                     .has_file = inode != 0,
                                     .path = line + at});
    }
    if (maps != NULL)
        fclose(maps);
    return ok && (areas->count > 0 || complain(s, "process %d has no memory", s->pid));
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
static bool find_areas(struct saving *s)
{
    size_t k = 0;

    if (!read_areas(s, "maps", &s->areas))
        return false;
    for (size_t i = 0; i < s->areas.count; i++) {
        struct area *area = &s->areas.list[i];
        const struct area *old;

        while (k < s->before.count && s->before.list[k].begin < area->begin)
            k++;
        if (k == s->before.count)
            break;
        old = &s->before.list[k];
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

/*
 * List the pages in RAM and in swap space from *at on, and set *at to the end of the part
 * of the area that was examined. Returns the length of the list, or -1 if the kernel
 * cannot do that.
 */
static int scan_pages(const struct saving *s, uint64_t *at, uint64_t end,
                      struct pages list[ENTRIES])
{
    struct scan scan = {.size = sizeof scan,
                        .begin = *at,
                        .end = end,
                        .list = (uintptr_t)list,
                        .list_room = ENTRIES,
                        .any_of = IS_PRESENT | IS_SWAPPED,
                        .reported = IS_PRESENT | IS_SWAPPED | IS_OF_FILE};
    int n = ioctl(s->pagemap, SCAN, &scan);

    if (n < 0 || scan.walked_to <= *at)
        return -1;
    *at = scan.walked_to;
    return n;
}

/*
 * Like scan_pages(), but read the page map, which has an entry of 8 bytes for each page.
 */
static int read_page_map(const struct saving *s, uint64_t *at, uint64_t end,
                         struct pages list[ENTRIES])
{
    static uint64_t entries[ENTRIES];
    size_t count = (size_t)((end - *at) / PAGE);
    ssize_t bytes;
    int n = 0;

    count = count < ENTRIES ? count : ENTRIES;
    bytes = pread(s->pagemap, entries, count * 8, (off_t)(*at / PAGE * 8));
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

static bool add_segment(struct saving *s, const struct area *area, uint64_t begin)
{
    if (!reserve(s, &s->segments, &s->segment_room, s->segment_count + 1,
                 sizeof *s->segments))
        return false;
    s->segments[s->segment_count++] = (struct segment){.begin = begin,
                                                       .end = area->end,
                                                       .stored_end = begin,
                                                       .flags = area->flags,
                                                       .first_run = s->run_count};
    return true;
}

/*
 * Add pages to the last segment, or begin the next segment if the gap is too large. A
 * segment of a private mapping of a file includes unwritten pages between written ones.
 */
static bool add_run(struct saving *s, const struct area *area, uint64_t begin,
                    uint64_t end)
{
    struct segment *last = &s->segments[s->segment_count - 1];
    bool is_file = is_private_file(area);

    if (begin < last->stored_end) /* the first page of a file was added before */
        begin = last->stored_end;
    if (begin >= end)
        return true;
    if (begin - last->stored_end > (is_file ? FILE_GAP : GAP)) {
        last->end = begin;
        if (!add_segment(s, area, begin))
            return false;
        last = &s->segments[s->segment_count - 1];
    }
    if (is_file)
        begin = last->stored_end;
    last->stored_end = end;
    if (last->run_count > 0 && s->runs[s->run_count - 1].end == begin) {
        s->runs[s->run_count - 1].end = end;
        return true;
    }
    if (!reserve(s, &s->runs, &s->run_room, s->run_count + 1, sizeof *s->runs))
        return false;
    s->runs[s->run_count++] = (struct run){begin, end};
    last->run_count++;
    return true;
}

/* Find the wanted pages of an area. */
static bool find_runs(struct saving *s, const struct area *area)
{
    static struct pages list[ENTRIES];
    uint64_t at = area->begin;

    if (strcmp(area->path, "[vdso]") == 0)
        return add_run(s, area, area->begin, area->end); /* not in the page map */
    while (at < area->end) {
        int n = s->has_no_scan ? -1 : scan_pages(s, &at, area->end, list);

        s->has_no_scan = n < 0;
        if (n < 0)
            n = read_page_map(s, &at, area->end, list);
        for (int i = 0; i < n; i++)
            if (are_wanted(area, &list[i]) &&
                !add_run(s, area, list[i].begin, list[i].end))
                return false;
    }
    return true;
}

/* Divide the areas into segments. */
static bool find_segments(struct saving *s)
{
    for (size_t i = 0; i < s->areas.count; i++) {
        const struct area *area = &s->areas.list[i];

        if (!add_segment(s, area, area->begin))
            return false;
        if (!is_saved(area))
            continue;
        if (is_private_file(area) && area->offset == 0 &&
            !add_run(s, area, area->begin, area->begin + PAGE))
            return false;
        if (!find_runs(s, area))
            return false;
    }
    return true;
}

/* ---- notes ------------------------------------------------------------------------- */

static bool add_note(struct saving *s, uint32_t type, const void *data, size_t bytes)
{
    const Elf64_Nhdr head = {5, (uint32_t)bytes, type};
    size_t whole = 20 + (bytes + 3) / 4 * 4;
    unsigned char *at;

    if (!reserve(s, &s->notes, &s->note_room, s->note_bytes + whole, 1))
        return false;
    at = s->notes + s->note_bytes;
    memset(at, 0, whole);
    memcpy(at, &head, sizeof head);
    memcpy(at + sizeof head, "CORE", 5);
    memcpy(at + 20, data, bytes);
    s->note_bytes += whole;
    return true;
}

static bool add_thread(struct saving *s, const struct frozen *thread)
{
    struct elf_prstatus status = {.pr_pid = thread->thread};
    struct iovec regs = {&status.pr_reg, sizeof status.pr_reg};
    unsigned char bytes[FP_BYTES_MAX];
    struct iovec fp = {bytes, sizeof bytes};

    status.pr_cursig = (short)thread->signal;
    if (ptrace(PTRACE_GETREGSET, thread->id, (void *)NT_PRSTATUS, &regs) < 0)
        return true; /* the thread is exiting */
    if (!add_note(s, NT_PRSTATUS, &status, sizeof status))
        return false;
    return ptrace(PTRACE_GETREGSET, thread->id, (void *)NT_PRFPREG, &fp) < 0 ||
           add_note(s, NT_PRFPREG, bytes, fp.iov_len);
}

static size_t read_proc(const struct saving *s, const char *name, char *to, size_t size)
{
    char path[64];
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/%s", s->pid, name);
    file = fopen(path, "re");
    if (file != NULL) {
        n = fread(to, 1, size, file);
        fclose(file);
    }
    return n;
}

static bool add_process(struct saving *s)
{
    struct elf_prpsinfo info = {.pr_sname = 'T'};
    char bytes[4096];
    size_t n = read_proc(s, "comm", info.pr_fname, sizeof info.pr_fname - 1);

    info.pr_pid = frozen_id_inside(s->pid, s->pid);
    info.pr_fname[strcspn(info.pr_fname, "\n")] = '\0';
    n = read_proc(s, "cmdline", info.pr_psargs, sizeof info.pr_psargs - 1);
    for (size_t i = 0; i + 1 < n; i++)
        if (info.pr_psargs[i] == '\0')
            info.pr_psargs[i] = ' ';
    n = read_proc(s, "auxv", bytes, sizeof bytes);
    return add_note(s, NT_PRPSINFO, &info, sizeof info) && add_note(s, NT_AUXV, bytes, n);
}

/* Add the list of mapped files, NT_FILE: see core.c. */
static bool add_files(struct saving *s)
{
    size_t n = 0, path_bytes = 0, at;
    uint64_t *words;
    bool ok;

    for (size_t i = 0; i < s->areas.count; i++)
        if (s->areas.list[i].has_file) {
            n++;
            path_bytes += strlen(s->areas.list[i].path) + 1;
        }
    words = calloc((2 + 3 * n) * sizeof *words + path_bytes, 1);
    if (words == NULL)
        return complain(s, "out of memory");
    words[0] = n;
    words[1] = PAGE;
    at = (2 + 3 * n) * sizeof *words;
    n = 2;
    for (size_t i = 0; i < s->areas.count; i++) {
        const struct area *area = &s->areas.list[i];

        if (!area->has_file)
            continue;
        words[n++] = area->begin;
        words[n++] = area->end;
        words[n++] = area->offset / PAGE;
        strcpy((char *)words + at, area->path);
        at += strlen(area->path) + 1;
    }
    ok = add_note(s, NT_FILE, words, at);
    free(words);
    return ok;
}

static bool make_notes(struct saving *s)
{
    size_t first = 0;

    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].id == s->pid)
            first = i;
    if (!add_thread(s, &s->threads[first]) || !add_process(s) || !add_files(s))
        return false;
    for (size_t i = 0; i < s->thread_count; i++)
        if (i != first && !add_thread(s, &s->threads[i]))
            return false;
    return true;
}

/* ---- the file ---------------------------------------------------------------------- */

static bool put(struct saving *s, const void *from, size_t bytes, uint64_t offset)
{
    const char *at = from;

    while (bytes > 0) {
        ssize_t n = pwrite(s->fd, at, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return complain(s, "the core cannot be written: %s",
                            n < 0 ? strerror(errno) : "nothing was written");
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

static size_t read_memory(const struct saving *s, uint64_t address, void *to,
                          size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};
    ssize_t n = process_vm_readv(s->pid, &local, 1, &remote, 1, 0);

    return n > 0 ? (size_t)n : 0;
}

/* Copy consecutive pages to the file. An unreadable page becomes a hole. */
static bool copy_run(struct saving *s, const struct segment *segment, struct run run)
{
    static unsigned char pages[COPY_PAGES * PAGE];
    uint64_t at = run.begin;

    while (at < run.end) {
        size_t left = (size_t)(run.end - at);
        size_t wanted = left < sizeof pages ? left : sizeof pages;
        size_t n = read_memory(s, at, pages, wanted) / PAGE * PAGE;

        if (!put(s, pages, n, s->at + (at - segment->begin)))
            return false;
        s->saved->bytes += n;
        at += n < wanted ? n + PAGE : n;
    }
    return true;
}

static bool copy_segment(struct saving *s, const struct segment *segment)
{
    for (size_t i = 0; i < segment->run_count; i++)
        if (!copy_run(s, segment, s->runs[segment->first_run + i]))
            return false;
    return true;
}

static Elf64_Phdr header_of(const struct segment *segment, uint64_t offset)
{
    return (Elf64_Phdr){.p_type = PT_LOAD,
                        .p_flags = segment->flags,
                        .p_offset = offset,
                        .p_vaddr = segment->begin,
                        .p_filesz = segment->stored_end - segment->begin,
                        .p_memsz = segment->end - segment->begin,
                        .p_align = PAGE};
}

static bool put_head(struct saving *s, uint64_t notes)
{
    size_t count = s->segment_count + 1;
    Elf64_Ehdr head = {.e_type = ET_CORE,
                       .e_machine = image_machine(),
                       .e_version = EV_CURRENT,
                       .e_phoff = sizeof head,
                       .e_ehsize = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = (Elf64_Half)(count < PN_XNUM ? count : PN_XNUM),
                       .e_shentsize = sizeof(Elf64_Shdr)};
    const Elf64_Shdr section = {.sh_info = (Elf64_Word)count};
    const Elf64_Phdr note = {
        .p_type = PT_NOTE, .p_offset = notes, .p_filesz = s->note_bytes, .p_align = 4};

    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    if (count >= PN_XNUM) { /* store the number in a section header */
        head.e_shnum = 1;
        head.e_shoff = notes - sizeof section;
    }
    return put(s, &head, sizeof head, 0) && put(s, &note, sizeof note, sizeof head) &&
           put(s, &section, sizeof section, notes - sizeof section) &&
           put(s, s->notes, s->note_bytes, notes);
}

static bool write_core(struct saving *s)
{
    size_t headers = sizeof(Elf64_Ehdr) + (s->segment_count + 1) * sizeof(Elf64_Phdr);
    uint64_t notes = headers + sizeof(Elf64_Shdr);

    if (!put_head(s, notes))
        return false;
    s->at = (notes + s->note_bytes + PAGE - 1) / PAGE * PAGE;
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct segment *segment = &s->segments[i];
        const Elf64_Phdr header = header_of(segment, s->at);

        if (!put(s, &header, sizeof header,
                 sizeof(Elf64_Ehdr) + (i + 1) * sizeof header) ||
            !copy_segment(s, segment))
            return false;
        s->at += header.p_filesz;
    }
    return ftruncate(s->fd, (off_t)s->at) == 0 ||
           complain(s, "the core cannot be written: %s", strerror(errno));
}

static bool save(struct saving *s)
{
    int64_t begun;
    bool ok;

    if (!read_areas(s, "smaps", &s->before))
        return false;
    begun = monotonic_ns();
    ok = stop_all(s) && find_areas(s) && find_segments(s) && make_notes(s) &&
         write_core(s);
    thaw(s->threads, s->thread_count);
    s->saved->stopped_ns = monotonic_ns() - begun;
    return ok;
}

bool save_core(int pid, const char *path, struct saved *saved, char *why, size_t size)
{
    struct saving s = {.pid = pid, .saved = saved, .why = why, .size = size};
    char pagemap[64];
    bool ok = false;

    *saved = (struct saved){0};
    snprintf(pagemap, sizeof pagemap, "/proc/%d/pagemap", pid);
    s.pagemap = open(pagemap, O_RDONLY | O_CLOEXEC);
    if (s.pagemap < 0)
        return complain(&s, "%s: %s", pagemap, strerror(errno));
    s.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s.fd < 0) {
        complain(&s, "%s: %s", path, strerror(errno));
        close(s.pagemap);
        return false;
    }
    ok = save(&s);
    if (close(s.fd) < 0 && ok)
        ok = complain(&s, "%s: %s", path, strerror(errno));
    if (!ok)
        unlink(path);
    close(s.pagemap);
    free_areas(&s.before);
    free_areas(&s.areas);
    free(s.segments);
    free(s.runs);
    free(s.threads);
    free(s.notes);
    return ok;
}
