/*
 * save.c - writes the memory of a process to a core file.
 *
 * gdb's gcore reads 1 MiB at a time. If a part of it is unreadable, such as a guard page
 * between two stacks, gcore writes zeros for the whole MiB. This file instead copies
 * memory page by page: the pages that segments.c lists. All other pages become holes in
 * the core file.
 *
 *     header | program headers | section header | notes | memory
 */
#include "save.h"

#include "freeze.h"
#include "segments.h"
#include "take.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define COPY_PAGES ((size_t)256)
#define FP_BYTES_MAX 4096

struct saving {
    int pid, fd;
    struct memory memory;
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

    for (size_t i = 0; i < s->memory.areas.count; i++)
        if (s->memory.areas.list[i].has_file) {
            n++;
            path_bytes += strlen(s->memory.areas.list[i].path) + 1;
        }
    words = calloc((2 + 3 * n) * sizeof *words + path_bytes, 1);
    if (words == NULL)
        return complain(s, "out of memory");
    words[0] = n;
    words[1] = PAGE;
    at = (2 + 3 * n) * sizeof *words;
    n = 2;
    for (size_t i = 0; i < s->memory.areas.count; i++) {
        const struct area *area = &s->memory.areas.list[i];

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

/*
 * Read up to *bytes of memory, and set *bytes to the number of bytes read, which is 0 for
 * an unreadable page. Returns false if the process was killed.
 */
static bool read_memory(struct saving *s, uint64_t address, void *to, size_t *bytes)
{
    struct iovec local = {to, *bytes}, remote = {(void *)(uintptr_t)address, *bytes};
    ssize_t n = process_vm_readv(s->pid, &local, 1, &remote, 1, 0);

    *bytes = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno != ESRCH || complain(s, "process %d has ended", s->pid);
}

/* Copy consecutive pages to the file. An unreadable page becomes a hole. */
static bool copy_run(struct saving *s, const struct segment *segment, struct run run)
{
    static unsigned char pages[COPY_PAGES * PAGE];
    uint64_t at = run.begin;

    while (at < run.end) {
        size_t left = (size_t)(run.end - at);
        size_t wanted = left < sizeof pages ? left : sizeof pages;
        size_t n = wanted;

        if (!read_memory(s, at, pages, &n))
            return false;
        n = n / PAGE * PAGE;
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
        if (!copy_run(s, segment, s->memory.runs[segment->first_run + i]))
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
    size_t count = s->memory.segment_count + 1;
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
    size_t headers =
        sizeof(Elf64_Ehdr) + (s->memory.segment_count + 1) * sizeof(Elf64_Phdr);
    uint64_t notes = headers + sizeof(Elf64_Shdr);

    if (!put_head(s, notes))
        return false;
    s->at = (notes + s->note_bytes + PAGE - 1) / PAGE * PAGE;
    for (size_t i = 0; i < s->memory.segment_count; i++) {
        const struct segment *segment = &s->memory.segments[i];
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

static bool list_memory(struct saving *s, bool (*list)(struct memory *memory))
{
    return list(&s->memory) ||
           complain(s, "the memory of process %d cannot be listed: %s", s->pid,
                    strerror(errno));
}

static bool save_stopped(struct saving *s)
{
    int64_t begun = monotonic_ns();
    bool ok =
        stop_all(s) && list_memory(s, memory_find) && make_notes(s) && write_core(s);

    thaw(s->threads, s->thread_count);
    s->saved->stopped_ns = monotonic_ns() - begun;
    return ok;
}

static bool save_to(struct saving *s, const char *path)
{
    bool ok;

    s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s->fd < 0)
        return complain(s, "%s: %s", path, strerror(errno));
    ok = save_stopped(s);
    if (close(s->fd) < 0 && ok)
        ok = complain(s, "%s: %s", path, strerror(errno));
    if (!ok)
        unlink(path);
    return ok;
}

bool save_core(int pid, const char *path, struct saved *saved, char *why, size_t size)
{
    struct saving s = {
        .pid = pid, .memory = {.pid = pid}, .saved = saved, .why = why, .size = size};
    bool ok;

    *saved = (struct saved){0};
    ok = list_memory(&s, memory_prepare) && save_to(&s, path);
    memory_free(&s.memory);
    free(s.threads);
    free(s.notes);
    return ok;
}
