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
 * Map `bytes` of zeros. A page takes memory from its first access on, and does not count
 * as used before. The caller unmaps it with munmap(2). NULL: no memory or address space.
 */
void *coil__memory_map(size_t bytes);

/* Use no huge pages for it: they would take more memory than is accessed. */
void coil__memory_keep_pages_small(void *low, size_t bytes);

/* Return the memory to the system: the pages are zero at their next access. False if that
   fails. */
bool coil__memory_discard(void *low, size_t bytes);

/*
 * Make each access to the pages fault, until they are unmapped. Needs no further mapping,
 * as mprotect(2) would. False if it is not possible: an older kernel, locked memory, no
 * memory. coil__memory_discard() does not change such pages.
 */
bool coil__memory_guard(void *low, size_t bytes);

/* Remove such guards: the pages are zero at their next access. */
void coil__memory_unguard(void *low, size_t bytes);

/*
 * The same for several ranges, at most 1024, by one system call where the kernel has it.
 * They return how many of them, the first ones, were done.
 */
size_t coil__memory_discard_all(const struct iovec *ranges, size_t n);
size_t coil__memory_guard_all(const struct iovec *ranges, size_t n);
void coil__memory_unguard_all(const struct iovec *ranges, size_t n);

/* Does the kernel support such guards? Tests it on `page`, which must not be used
   afterwards. */
bool coil__memory_has_guards(void *page, size_t page_bytes);

/* The greatest number of mappings that a process may have. */
long coil__memory_mapping_limit(void);

/* Open a descriptor for coil__memory_read(), owned by the caller. Returns it, or a
   negative errno. */
int coil__memory_open(void);

/*
 * Copy up to `bytes` from `address` on, fewer if an unmapped page follows. Returns the
 * count, or -1 with errno. Async-signal-safe.
 */
ssize_t coil__memory_read(int fd, void *to, uintptr_t address, size_t bytes);

#endif
