/*
 * core.c - reads the memory of a core file.
 *
 * A core does not contain the pages of mapped files to which the process has not written.
 * Such pages are read from the files in the core's list of mappings (NT_FILE), if the
 * files still exist. If the core is truncated, reading the missing part fails.
 */
#include "module.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX ((size_t)1 << 20)
#define NOTE_BYTES_MAX ((size_t)64 << 20)

struct segment {
    uint64_t begin, end; /* addresses */
    uint64_t stored_end; /* address of the first byte that is not in the core */
    uint64_t offset;
};

struct thread {
    int id;
    struct registers registers;
};

struct core {
    struct image image;
    int fd;
    uint64_t file_bytes;
    struct segment *segments; /* sorted by address */
    size_t segment_count;
    char *notes;
    size_t note_bytes;
    uint64_t program_headers; /* address of the program headers, or 0 */
    struct thread *threads;
    size_t thread_count;
};

static bool read_file(int fd, void *to, size_t bytes, uint64_t offset)
{
    char *at = to;

    while (bytes > 0) {
        ssize_t n = pread(fd, at, bytes, (off_t)offset);

        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

/* ---- memory ------------------------------------------------------------------------ */

static struct segment *find_segment(const struct core *core, uint64_t address)
{
    size_t low = 0, high = core->segment_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        struct segment *s = &core->segments[middle];

        if (address < s->begin)
            high = middle;
        else if (address >= s->end)
            low = middle + 1;
        else
            return s;
    }
    return NULL;
}

static size_t least(size_t a, uint64_t b)
{
    return b < a ? (size_t)b : a;
}

/* Return the mapping that contains the address, or NULL. */
static struct mapping *find_mapping(const struct core *core, uint64_t address)
{
    size_t low = 0, high = core->image.mapping_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        struct mapping *m = &core->image.mappings[middle];

        if (address < m->begin)
            high = middle;
        else if (address >= m->end)
            low = middle + 1;
        else
            return m;
    }
    return NULL;
}

/*
 * Open the debug file for this build-id in /usr/lib/debug: see gdb's manual, "Separate
 * Debug Files".
 */
static int open_by_id(const struct module_note *id)
{
    char path[64 + 2 * MODULE_NOTE_MAX] = "/usr/lib/debug/.build-id/";
    size_t n = strlen(path);

    for (size_t i = 0; i < id->size; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, i == 0 ? "%02x/" : "%02x",
                              id->bytes[i]);
    return module_open_with_id(path, id);
}

static int open_module(struct image *image, uint64_t start)
{
    const struct mapping *m = find_mapping((struct core *)image, start);
    struct module_note id;
    bool has_id = module_find_id(image, start, &id);
    int fd = -1;

    if (m != NULL && m->path[0] == '/')
        fd = module_open_with_id(m->path, has_id ? &id : NULL);
    return fd < 0 && has_id && id.size > 1 ? open_by_id(&id) : fd;
}

/*
 * Read memory from the file that was mapped at this address. Returns the number of bytes
 * read.
 */
static size_t read_mapped(struct core *core, uint64_t address, void *to, size_t bytes)
{
    struct mapping *m = find_mapping(core, address);

    if (m == NULL)
        return 0;
    if (m->fd == -2) {
        m->fd = -1; /* prevents recursion: open_module() reads this mapping too */
        m->fd = open_module(&core->image, m->start);
        if (m->fd < 0 && core->image.damage == NULL)
            core->image.damage = "the program, or a library, is missing or was replaced "
                                 "(--exe names the program)";
    }
    bytes = least(bytes, m->end - address);
    return m->fd >= 0 && read_file(m->fd, to, bytes, m->offset + (address - m->begin))
               ? bytes
               : 0;
}

static bool read_address(struct core *core, uint64_t address, void *to, size_t bytes)
{
    char *at = to;

    while (bytes > 0) {
        const struct segment *s = find_segment(core, address);
        size_t n;

        if (s != NULL && address < s->stored_end) {
            n = least(bytes, s->stored_end - address);
            if (!read_file(core->fd, at, n, s->offset + (address - s->begin)))
                return false;
        } else {
            n = s != NULL ? least(bytes, s->end - address) : bytes;
            n = read_mapped(core, address, at, n);
            if (n == 0)
                return false;
        }
        at += n;
        address += n;
        bytes -= n;
    }
    return true;
}

static bool read_core(struct image *image, const struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!read_address((struct core *)image, pieces[i].address, pieces[i].to,
                          pieces[i].bytes))
            return false;
    return true;
}

static bool find_registers(struct image *image, int thread, struct registers *out)
{
    const struct core *core = (const struct core *)image;

    for (size_t i = 0; i < core->thread_count; i++)
        if (core->threads[i].id == thread) {
            *out = core->threads[i].registers;
            return true;
        }
    return false;
}

static void close_core(struct image *image)
{
    struct core *core = (struct core *)image;

    for (size_t i = 0; i < core->image.mapping_count; i++)
        if (core->image.mappings[i].fd >= 0)
            close(core->image.mappings[i].fd);
    free(core->image.mappings);
    free(core->threads);
    free(core->segments);
    free(core->notes);
    if (core->fd >= 0)
        close(core->fd);
}

/* ---- notes ------------------------------------------------------------------------- */

static bool add_thread(struct core *core, const char *data, size_t bytes)
{
    struct elf_prstatus status;
    struct user_regs_struct regs;
    struct thread *larger;

    if (bytes < sizeof status)
        return true;
    memcpy(&status, data, sizeof status);
    memcpy(&regs, &status.pr_reg, sizeof regs);
    larger = realloc(core->threads, (core->thread_count + 1) * sizeof *larger);
    if (larger == NULL)
        return false;
    core->threads = larger;
    core->threads[core->thread_count].id = status.pr_pid;
    registers_set(&core->threads[core->thread_count++].registers, &regs);
    return true;
}

/*
 * Read NT_FILE: the number of mappings, the page size, three words for each mapping, and
 * the paths.
 */
static bool add_mappings(struct core *core, const char *data, size_t bytes)
{
    uint64_t head[2];
    const char *path, *end = data + bytes;

    if (bytes < sizeof head)
        return true;
    memcpy(head, data, sizeof head);
    if (head[0] > (bytes - sizeof head) / 24)
        return true;
    core->image.mappings = calloc(head[0] + 1, sizeof *core->image.mappings);
    if (core->image.mappings == NULL)
        return false;
    path = data + sizeof head + head[0] * 24;
    for (size_t i = 0; i < head[0]; i++) {
        size_t length = strnlen(path, (size_t)(end - path));
        uint64_t words[3];

        if (path + length >= end)
            break;
        memcpy(words, data + sizeof head + i * 24, sizeof words);
        if (words[0] < words[1])
            core->image.mappings[core->image.mapping_count++] =
                (struct mapping){.begin = words[0],
                                 .end = words[1],
                                 .offset = words[2] * head[1],
                                 .path = path,
                                 .fd = -2};
        path += length + 1;
    }
    return true;
}

/* Read NT_AUXV, an array of pairs of a key and a value. */
static void read_auxiliary(struct core *core, const char *data, size_t bytes)
{
    uint64_t pair[2];

    for (size_t at = 0; at + sizeof pair <= bytes; at += sizeof pair) {
        memcpy(pair, data + at, sizeof pair);
        if (pair[0] == AT_PHDR)
            core->program_headers = pair[1];
    }
}

static bool read_notes(struct core *core)
{
    size_t at = 0, bytes = core->note_bytes;

    while (at + sizeof(Elf64_Nhdr) <= bytes) {
        Elf64_Nhdr note;
        size_t name, data;

        memcpy(&note, core->notes + at, sizeof note);
        name = at + sizeof note;
        if (note.n_namesz > bytes || note.n_descsz > bytes)
            break;
        data = name + (note.n_namesz + 3u) / 4 * 4;
        at = data + (note.n_descsz + 3u) / 4 * 4;
        if (data + note.n_descsz > bytes)
            break;
        if (note.n_type == NT_PRSTATUS && note.n_namesz == 5 &&
            memcmp(core->notes + name, "CORE", 5) == 0 &&
            !add_thread(core, core->notes + data, note.n_descsz))
            return false;
        if (note.n_type == NT_AUXV)
            read_auxiliary(core, core->notes + data, note.n_descsz);
        if (note.n_type == NT_FILE && core->image.mappings == NULL &&
            !add_mappings(core, core->notes + data, note.n_descsz))
            return false;
    }
    return true;
}

/* ---- opening ----------------------------------------------------------------------- */

static int compare_mappings(const void *a, const void *b)
{
    const struct mapping *left = a, *right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

/*
 * Set `start` of each mapping. A module starts where the beginning of its file is mapped:
 * in the same mapping, or in the nearest one below it.
 */
static bool find_modules(struct core *core)
{
    struct mapping *all = core->image.mappings;

    if (core->image.mapping_count > 0)
        qsort(all, core->image.mapping_count, sizeof *all, compare_mappings);
    for (size_t i = 0; i < core->image.mapping_count; i++) {
        if (all[i].offset == 0)
            all[i].start = all[i].begin;
        else if (i > 0 && strcmp(all[i - 1].path, all[i].path) == 0)
            all[i].start = all[i - 1].start;
        if (all[i].offset == 0 && !image_add_start(&core->image, all[i].begin))
            return false;
    }
    return true;
}

static int compare_segments(const void *a, const void *b)
{
    const struct segment *left = a, *right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

static bool load_notes(struct core *core, const Elf64_Phdr *header)
{
    if (core->notes != NULL || header->p_filesz > NOTE_BYTES_MAX)
        return true;
    core->notes = malloc(header->p_filesz + 1);
    if (core->notes == NULL ||
        !read_file(core->fd, core->notes, header->p_filesz, header->p_offset))
        return false;
    core->note_bytes = header->p_filesz;
    core->notes[core->note_bytes] = '\0';
    return true;
}

static void add_segment(struct core *core, const Elf64_Phdr *header)
{
    uint64_t begin = header->p_vaddr, end = begin + header->p_memsz;

    if (end <= begin)
        return;
    core->segments[core->segment_count++] = (struct segment){
        begin, end, begin + least(header->p_memsz, header->p_filesz), header->p_offset};
    if (header->p_offset > core->file_bytes ||
        header->p_filesz > core->file_bytes - header->p_offset)
        core->image.damage = "the core file is truncated";
}

static bool load(struct core *core)
{
    Elf64_Ehdr head;
    Elf64_Phdr header;
    size_t count;

    if (!read_file(core->fd, &head, sizeof head, 0) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_CORE ||
        head.e_phentsize != sizeof header || head.e_machine != image_machine())
        return false;
    count = head.e_phnum;
    if (count == PN_XNUM) { /* the number is in the first section header */
        Elf64_Shdr section;

        if (!read_file(core->fd, &section, sizeof section, head.e_shoff))
            return false;
        count = section.sh_info;
    }
    if (count > SEGMENTS_MAX)
        return false;
    core->segments = calloc(count + 1, sizeof *core->segments);
    if (core->segments == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_file(core->fd, &header, sizeof header,
                       head.e_phoff + i * sizeof header))
            return false;
        if (header.p_type == PT_NOTE && !load_notes(core, &header))
            return false;
        if (header.p_type == PT_LOAD)
            add_segment(core, &header);
    }
    qsort(core->segments, core->segment_count, sizeof *core->segments, compare_segments);
    return read_notes(core) && find_modules(core);
}

/*
 * Record where modules may begin, for a core without a list of mappings: in segments that
 * begin with the magic bytes of ELF.
 */
static bool find_starts(struct core *core)
{
    char magic[SELFMAG];

    for (size_t i = 0; core->image.mapping_count == 0 && i < core->segment_count; i++)
        if (core->segments[i].stored_end > core->segments[i].begin &&
            read_address(core, core->segments[i].begin, magic, sizeof magic) &&
            memcmp(magic, ELFMAG, SELFMAG) == 0 &&
            !image_add_start(&core->image, core->segments[i].begin))
            return false;
    return true;
}

/*
 * Read the program's memory from the file `program`, instead of the file that the core
 * names.
 */
static bool set_program(struct core *core, const char *program, char *why, size_t size)
{
    const struct mapping *first = find_mapping(core, core->program_headers);
    int fd;

    if (first == NULL && core->image.mapping_count > 0)
        first = &core->image.mappings[0];
    for (size_t i = 0; first != NULL && i < core->image.mapping_count; i++)
        if (core->image.mappings[i].start == first->start)
            core->image.mappings[i].path = program;
    fd = first != NULL ? open_module(&core->image, first->start) : -1;
    if (fd >= 0) {
        close(fd);
        return true;
    }
    fd = module_open(program);
    if (fd < 0)
        snprintf(why, size, "%s: %s", program, strerror(errno));
    else
        snprintf(why, size, "%s is not the program of this core", program);
    close(fd);
    return false;
}

static bool open_core(struct core *core, const char *path, const char *program, char *why,
                      size_t size)
{
    struct stat status;

    core->fd = module_open(path);
    if (core->fd < 0 || fstat(core->fd, &status) < 0) {
        snprintf(why, size, "%s: %s", path,
                 errno == EINVAL ? "it is not a regular file" : strerror(errno));
        return false;
    }
    core->file_bytes = core->image.bytes = (uint64_t)status.st_size;
    image_begin(&core->image, INT64_MAX);
    if (!load(core) || !find_starts(core)) {
        snprintf(why, size, "%s is not a core file, or is truncated", path);
        return false;
    }
    return program == NULL || set_program(core, program, why, size);
}

struct image *image_of_core(const char *path, const char *program, char *why, size_t size)
{
    struct core *core = calloc(1, sizeof *core);

    if (core == NULL) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return NULL;
    }
    core->image.read = read_core;
    core->image.registers = find_registers;
    core->image.close = close_core;
    core->image.open_module = open_module;
    core->image.is_constant = true;
    if (open_core(core, path, program, why, size))
        return &core->image;
    image_close(&core->image);
    return NULL;
}
