/*
 * process.c - reads the memory of a running process with process_vm_readv(2).
 */
#include "freeze.h"
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

struct process {
    struct image image;
    pid_t pid;
};

static bool read_process(struct image *image, const struct piece *pieces, size_t count)
{
    const struct process *p = (const struct process *)image;
    struct iovec local[PIECES_MAX], remote[PIECES_MAX];
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){pieces[i].to, pieces[i].bytes};
        remote[i] = (struct iovec){(void *)(uintptr_t)pieces[i].address, pieces[i].bytes};
        total += pieces[i].bytes;
    }
    return process_vm_readv(p->pid, local, count, remote, count, 0) == (ssize_t)total;
}

#define BATCH 1024 /* UIO_MAXIOV */

/*
 * Copy the pieces. The kernel stops at an unreadable piece, so continue with the piece
 * after it.
 */
static void read_many(struct image *image, struct piece *pieces, size_t count)
{
    const struct process *p = (const struct process *)image;
    struct iovec local[BATCH], remote[BATCH];

    for (size_t i = 0; i < count;) {
        size_t n = count - i < BATCH ? count - i : BATCH;
        ssize_t bytes;

        for (size_t k = 0; k < n; k++) {
            const struct piece *piece = &pieces[i + k];

            local[k] = (struct iovec){piece->to, piece->bytes};
            remote[k] = (struct iovec){(void *)(uintptr_t)piece->address, piece->bytes};
        }
        bytes = process_vm_readv(p->pid, local, n, remote, n, 0);
        for (; n > 0 && bytes >= (ssize_t)pieces[i].bytes; n--)
            bytes -= (ssize_t)pieces[i++].bytes;
        if (n > 0)
            pieces[i++].bytes = 0;
    }
}

static bool read_registers(struct image *image, int thread, struct registers *out)
{
    struct user_regs_struct regs;
    struct iovec iov = {&regs, sizeof regs};

    for (size_t i = 0; i < image->frozen_count; i++)
        if (image->frozen[i].thread == thread &&
            ptrace(PTRACE_GETREGSET, image->frozen[i].id, (void *)NT_PRSTATUS, &iov) ==
                0) {
            registers_set(out, &regs);
            return true;
        }
    return false;
}

/*
 * Record where modules may begin: at each readable mapping whose offset in its file is 0.
 */
static bool find_starts(struct process *p)
{
    char path[64], line[4400];
    FILE *maps;
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)p->pid);
    maps = fopen(path, "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long long begin, end, offset;
        char mode[5];

        if (sscanf(line, "%llx-%llx %4s %llx", &begin, &end, mode, &offset) == 4 &&
            offset == 0 && mode[0] == 'r')
            found |= image_add_start(&p->image, begin);
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

uint64_t process_memory_bytes(int pid)
{
    char path[64], line[256];
    uint64_t total = 0;
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0 || strncmp(line, "VmSwap:", 7) == 0)
            total += strtoull(strchr(line, ':') + 1, NULL, 10) * 1024;
    if (status != NULL)
        fclose(status);
    return total;
}

/* ---- permissions ------------------------------------------------------------------- */

static int yama_scope(void)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%d", &scope) != 1)
        scope = 0;
    fclose(file);
    return scope;
}

/* Return true for zombies and kernel threads, whose lists of mappings are empty. */
static bool has_no_memory(pid_t pid)
{
    char path[64];
    bool is_empty = false;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    if (maps != NULL) {
        is_empty = fgetc(maps) == EOF && ferror(maps) == 0;
        fclose(maps);
    }
    return is_empty;
}

/* Return true if this program has CAP_SYS_PTRACE. */
static bool may_trace(void)
{
    char line[256];
    bool may = false;
    FILE *status = fopen("/proc/self/status", "re");

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "CapEff:", 7) == 0)
            may = (strtoull(line + 7, NULL, 16) >> CAP_SYS_PTRACE & 1) != 0;
    if (status != NULL)
        fclose(status);
    return may;
}

static void explain_yama(pid_t pid, int scope, char *why, size_t size)
{
    if (scope >= 3)
        snprintf(
            why, size,
            "the kernel lets no program read process %d, not even as root, until the "
            "next boot (/proc/sys/kernel/yama/ptrace_scope is %d)",
            (int)pid, scope);
    else
        snprintf(why, size,
                 "the kernel lets only %s read process %d "
                 "(/proc/sys/kernel/yama/ptrace_scope is %d): run this as root, or with "
                 "CAP_SYS_PTRACE",
                 scope == 2 ? "root" : "a parent", (int)pid, scope);
}

static void explain_refusal(pid_t pid, char *why, size_t size)
{
    char path[64];
    struct stat status;
    int scope = yama_scope();

    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &status) < 0)
        snprintf(why, size, "there is no process %d", (int)pid);
    else if (has_no_memory(pid))
        snprintf(why, size, "process %d has no memory: it has ended, or is the kernel's",
                 (int)pid);
    else if (scope >= 3)
        explain_yama(pid, scope, why, size);
    else if (may_trace())
        snprintf(
            why, size,
            "the kernel refuses to show process %d: a security module forbids it, or "
            "the process is in a user namespace where this program has no rights",
            (int)pid);
    else if (status.st_uid != geteuid())
        snprintf(
            why, size,
            "process %d belongs to user %u: run this as that user or as root, or with "
            "CAP_SYS_PTRACE",
            (int)pid, (unsigned)status.st_uid);
    else if (scope > 0)
        explain_yama(pid, scope, why, size);
    else
        snprintf(
            why, size,
            "the kernel refuses to show process %d: it is not dumpable (prctl(2), or "
            "it has changed its user), or CAP_SYS_PTRACE is missing, as in a "
            "container without --cap-add SYS_PTRACE",
            (int)pid);
}

static bool has_begun(struct process *p)
{
    char magic[4];

    for (size_t i = 0; i < p->image.start_count; i++)
        if (image_read(&p->image, p->image.starts[i], magic, sizeof magic))
            return true;
    return false;
}

struct image *image_of_process(int pid, char *why, size_t size)
{
    struct process *p = calloc(1, sizeof *p);

    if (p == NULL) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return NULL;
    }
    p->image.read = read_process;
    p->image.read_many = read_many;
    p->image.registers = read_registers;
    p->image.bytes = process_memory_bytes(pid);
    p->pid = pid;
    image_begin(&p->image, INT64_MAX);
    if (find_starts(p) && has_begun(p))
        return &p->image;
    explain_refusal(pid, why, size);
    image_close(&p->image);
    return NULL;
}
