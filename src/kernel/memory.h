/*
 * memory.h (internal) - pages for stacks, and reading memory without faults.
 *
 * Sizes and addresses are multiples of a page, except for coil__memory_read().
 */
#ifndef COIL_KERNEL_MEMORY_H
#define COIL_KERNEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Map `bytes` of zeros. A page uses no memory until its first access. The caller unmaps
 * the memory with munmap(2). NULL: no memory or address space.
 */
void *coil__memory_map(size_t bytes);

/* Prevent huge pages in the range: they would use more memory than is accessed. */
void coil__memory_keep_pages_small(void *low, size_t bytes);

/*
 * Return the memory to the system: the pages are zero at their next access. False if the
 * system refuses.
 */
bool coil__memory_discard(void *low, size_t bytes);

/*
 * Make each access to the pages fault, until they are unmapped. Unlike mprotect(2), this
 * needs no further mapping. Returns false if the pages cannot be guarded: an older
 * kernel, locked memory, or lack of memory. coil__memory_discard() does not change such
 * pages.
 */
bool coil__memory_guard(void *low, size_t bytes);

/* Remove guards: the pages are zero at their next access. */
void coil__memory_unguard(void *low, size_t bytes);

/*
 * Discard or guard several ranges, at most 1024, with one system call if the kernel
 * supports that. The functions stop at the first range that fails, and return the number
 * of ranges done.
 */
size_t coil__memory_discard_all(const struct iovec *ranges, size_t n);
size_t coil__memory_guard_all(const struct iovec *ranges, size_t n);
void coil__memory_unguard_all(const struct iovec *ranges, size_t n);

/*
 * True if the kernel supports guards. The test uses `page`, which must not be used
 * afterwards.
 */
bool coil__memory_has_guards(void *page, size_t page_bytes);

/* Return the maximum number of mappings of a process. */
long coil__memory_mapping_limit(void);

/*
 * Open a descriptor for coil__memory_read(), owned by the caller. Returns the descriptor,
 * or a negative errno.
 */
int coil__memory_open(void);

/*
 * Copy up to `bytes` from `address` on, fewer if an unmapped page follows. Returns the
 * count, or -1 with errno. Async-signal-safe.
 */
ssize_t coil__memory_read(int fd, void *to, uintptr_t address, size_t bytes);

#endif
