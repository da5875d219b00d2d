/*
 * fuzz_ps_core.c - checks that coil-ps neither crashes nor hangs with any core file.
 *
 * The first byte of the input selects one of two kinds of input. In the first kind, the
 * rest of the input is the core file. In the second kind, the core file is a valid one
 * with three tasks. The second byte of the input truncates this file, and each further
 * group of three bytes changes a byte: two bytes are its offset, the third is its new
 * value.
 */
#include "made_tasks.h"
#include "ps_claims.h"

#include "../src/coro/outside.h"

#include <elf.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#define BASE UINT64_C(0x400000)
#define TASKS 0x1000
#define MEMORY_BYTES (TASKS + 3 * MADE_TASK)
#define CORE_BYTES (0x1000 + MEMORY_BYTES)

/* ---- a core ------------------------------------------------------------------------ */

/* further offsets in the core's memory: see made_tasks.h */
enum { NOTE = 0x100, TABLE = 0x200, ROWS = 0x300, SLOTS = 0x900 };

static void make_module(unsigned char *memory)
{
    const Elf64_Phdr headers[] = {
        {.p_type = PT_LOAD, .p_memsz = MEMORY_BYTES},
        {.p_type = PT_NOTE, .p_vaddr = NOTE, .p_offset = NOTE, .p_memsz = 28}};
    Elf64_Ehdr head = {.e_type = ET_DYN,
                       .e_phoff = sizeof head,
                       .e_phnum = 2,
                       .e_phentsize = sizeof headers[0]};
    const Elf64_Nhdr note = {5, 8, 1};
    const int32_t words[] = {TABLE - (NOTE + 20), 0};

    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(memory, &head, sizeof head);
    memcpy(memory + sizeof head, headers, sizeof headers);
    memcpy(memory + NOTE, &note, sizeof note);
    memcpy(memory + NOTE + 12, "coil", 5);
    memcpy(memory + NOTE + 20, words, sizeof words);
}

static void make_table(unsigned char *memory)
{
    const uint32_t numbers[] = {COIL__OUTSIDE_VERSION, 64}, loops[] = {1, 0};

    memcpy(memory + TABLE, COIL__OUTSIDE_COOKIE, 8);
    memcpy(memory + TABLE + 8, numbers, sizeof numbers);
    made_put(memory + TABLE + 32, BASE + ROWS);
    made_put(memory + TABLE + 40, BASE + ROWS + sizeof made_rows);
    made_put(memory + TABLE + 48, BASE + SLOTS);
    memcpy(memory + TABLE + 56, loops, sizeof loops);
    memcpy(memory + ROWS, made_rows, sizeof made_rows);
    made_put(memory + SLOTS, BASE + MADE_LOOP);
}

static size_t add_note(unsigned char *at, uint32_t type, const void *data, size_t bytes)
{
    const Elf64_Nhdr note = {5, (uint32_t)bytes, type};

    memcpy(at, &note, sizeof note);
    memcpy(at + 12, "CORE", 5);
    memcpy(at + 20, data, bytes);
    return 20 + (bytes + 3) / 4 * 4;
}

static void make_core(unsigned char core[CORE_BYTES])
{
    const struct {
        uint64_t count, page, begin, end, offset;
        char path[8];
    } files = {1, 4096, BASE, BASE + MEMORY_BYTES, 0, "/dev/nu"};
    const uint64_t auxiliary[] = {3, BASE + sizeof(Elf64_Ehdr), 0, 0};
    const struct elf_prstatus status = {.pr_pid = 0};
    unsigned char *notes = core + 0x200;
    size_t n = add_note(notes, NT_PRSTATUS, &status, sizeof status);
    Elf64_Ehdr head = {
        .e_type = ET_CORE,
        .e_phoff = sizeof head,
        .e_phnum = 2,
        .e_phentsize = sizeof(Elf64_Phdr),
#if defined __x86_64__
        .e_machine = EM_X86_64
    };
#else
        .e_machine = EM_AARCH64
    };
#endif
    Elf64_Phdr headers[] = {{.p_type = PT_NOTE, .p_offset = 0x200},
                            {.p_type = PT_LOAD,
                             .p_vaddr = BASE,
                             .p_offset = 0x1000,
                             .p_memsz = MEMORY_BYTES,
                             .p_filesz = MEMORY_BYTES}};

    n += add_note(notes + n, NT_AUXV, auxiliary, sizeof auxiliary);
    n += add_note(notes + n, NT_FILE, &files, sizeof files);
    headers[0].p_filesz = n;
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(core, &head, sizeof head);
    memcpy(core + sizeof head, headers, sizeof headers);
    make_module(core + 0x1000);
    make_table(core + 0x1000);
    make_tasks(core + 0x1000, BASE, TASKS, 3);
}

/* ---- reading ----------------------------------------------------------------------- */

static size_t change_core(unsigned char core[CORE_BYTES], struct fuzz_input *in)
{
    size_t bytes = CORE_BYTES - fuzz_byte(in) * (size_t)CORE_BYTES / 256;

    while (in->left >= 3) {
        size_t at = fuzz_byte(in) * 256u;

        at += fuzz_byte(in);
        core[at % CORE_BYTES] = fuzz_byte(in);
    }
    return bytes;
}

static void read_core(const char *path, bool whole)
{
    const struct snapshot_options options = {.limit_ns = INT64_MAX,
                                             .on_stack = read_stack};
    char why[300] = "";
    struct image *image = image_of_core(path, NULL, why, sizeof why);
    struct snapshot snapshot;
    struct table tables[TABLES_MAX];
    size_t n;

    if (image == NULL) {
        CLAIM(!whole && why[0] != '\0');
        return;
    }
    image_begin(image, INT64_MAX);
    n = table_find(image, true, tables, why, sizeof why);
    for (size_t i = 0; i < n; i++) {
        CLAIM(snapshot_take(image, &tables[i], &options, &snapshot));
        CLAIM(snapshot_finish(&snapshot));
        CLAIM(!whole || (snapshot.task_count == 3 && snapshot.cut == NULL &&
                         strcmp(snapshot.tasks[2].what, "made by hand") == 0));
        claim_snapshot(&snapshot);
        snapshot_free(&snapshot);
        table_free(&tables[i]);
    }
    CLAIM(!whole || n == 1);
    image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char core[CORE_BYTES];
    static int fd = -1;
    struct fuzz_input in = {data, size};
    double begin_seconds = cpu_seconds();
    char path[64];

    if (fd < 0)
        fd = memfd_create("core", 0);
    CLAIM(fd >= 0 && ftruncate(fd, 0) == 0);
    if (fuzz_byte(&in) % 4 == 1) {
        CLAIM(pwrite(fd, in.at, in.left, 0) == (ssize_t)in.left);
    } else {
        size_t bytes;

        memset(core, 0, sizeof core);
        make_core(core);
        bytes = change_core(core, &in);
        CLAIM(pwrite(fd, core, bytes, 0) == (ssize_t)bytes);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_core(path, size == 0);
    CLAIM(cpu_seconds() - begin_seconds < SECONDS_MAX);
    return 0;
}
