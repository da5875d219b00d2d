/*
 * memory.c - maps, discards, guards and reads memory.
 */
#include "../memory.h"

#include "../../base/fault.h"
#include "constants.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *coil__memory_map(size_t bytes)
{
    void *base;

    if (coil__call_fails(ENOMEM, "mmap"))
        return NULL;
    base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return base != MAP_FAILED ? base : NULL;
}

/* A kernel without huge pages fails with EINVAL, which is ignored. */
void coil__memory_keep_pages_small(void *low, size_t bytes)
{
    madvise(low, bytes, MADV_NOHUGEPAGE);
}

bool coil__memory_discard(void *low, size_t bytes)
{
    return madvise(low, bytes, MADV_DONTNEED) == 0;
}

bool coil__memory_guard(void *low, size_t bytes)
{
    return COIL__CALL(ENOMEM, madvise(low, bytes, MADV_GUARD_INSTALL)) == 0;
}

/* Removing guards cannot fail, because it only changes page tables. */
void coil__memory_unguard(void *low, size_t bytes)
{
    madvise(low, bytes, MADV_GUARD_REMOVE);
}

/*
 * Give the same advice for several ranges. process_madvise(2) accepts such advice for the
 * calling process since Linux 6.13, and COIL__PIDFD_SELF since 6.14. If the kernel does
 * not support process_madvise(2), or stops at a range, call madvise(2) for the next
 * range.
 */
static size_t advise_all(const struct iovec *ranges, size_t n, int advice)
{
    static atomic_bool lacking;
    size_t done = 0;

    while (done < n) {
        ssize_t bytes = -1;

        if (n - done > 1 && !atomic_load_explicit(&lacking, memory_order_relaxed)) {
            bytes = syscall(SYS_process_madvise, COIL__PIDFD_SELF, ranges + done,
                            n - done, advice, 0);
            if (bytes < 0 && (errno == EBADF || errno == ENOSYS || errno == EPERM))
                atomic_store_explicit(&lacking, true, memory_order_relaxed);
        }
        for (; done < n && bytes >= (ssize_t)ranges[done].iov_len; done++)
            bytes -= (ssize_t)ranges[done].iov_len;
        if (bytes > 0 || done == n)
            continue;
        if (madvise(ranges[done].iov_base, ranges[done].iov_len, advice) != 0)
            return done;
        done++;
    }
    return done;
}

size_t coil__memory_discard_all(const struct iovec *ranges, size_t n)
{
    return advise_all(ranges, n, MADV_DONTNEED);
}

size_t coil__memory_guard_all(const struct iovec *ranges, size_t n)
{
    return coil__call_fails(ENOMEM, "madvise")
               ? 0
               : advise_all(ranges, n, MADV_GUARD_INSTALL);
}

void coil__memory_unguard_all(const struct iovec *ranges, size_t n)
{
    advise_all(ranges, n, MADV_GUARD_REMOVE);
}

/*
 * Emulators such as qemu-user accept any advice and ignore it. So test the guard by
 * making the kernel read the page: nanosleep(2) fails with EFAULT if the page is a guard,
 * and returns immediately if the page contains zeros.
 */
bool coil__memory_has_guards(void *page, size_t page_bytes)
{
    return COIL__CALL(EINVAL, madvise(page, page_bytes, MADV_GUARD_INSTALL)) == 0 &&
           nanosleep(page, NULL) != 0 && errno == EFAULT;
}

/* If /proc cannot be read, return the kernel's default. */
long coil__memory_mapping_limit(void)
{
    char text[32];
    int fd = COIL__CALL(ENOENT, open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 65530;
    text[n] = '\0';
    return atol(text);
}

int coil__memory_open(void)
{
    int fd = COIL__CALL(EMFILE, open("/proc/self/mem", O_RDONLY | O_CLOEXEC));

    return fd < 0 ? -errno : fd;
}

ssize_t coil__memory_read(int fd, void *to, uintptr_t address, size_t bytes)
{
    return pread(fd, to, bytes, (off_t)address);
}
