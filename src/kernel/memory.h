/*
 * memory.h (internal) - maps and guards pages for stacks, and reads memory without
 * faults.
 *
 * Sizes and addresses are multiples of the page size, except for coil__memory_read().
 */
#ifndef COIL_KERNEL_MEMORY_H
#define COIL_KERNEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Map `bytes` bytes of zeros. A page uses no memory until it is first accessed. The
 * caller unmaps the memory with munmap(2). Returns NULL if there is no memory or address
 * space.
 */
void *coil__memory_map(size_t bytes);

/*
 * Prevent huge pages in the range, because they would use more memory than is accessed.
 */
void coil__memory_keep_pages_small(void *low, size_t bytes);

/*
 * Return the pages' memory to the system, after which the pages contain zeros. Returns
 * false if the system refuses.
 */
bool coil__memory_discard(void *low, size_t bytes);

/*
 * Make each access to the pages fault until they are unmapped or unguarded. Unlike
 * mprotect(2), this function does not split the mapping. Returns false if the pages
 * cannot be guarded, because the kernel is too old, the memory is locked, or memory ran
 * out. coil__memory_discard() does not remove a guard.
 */
bool coil__memory_guard(void *low, size_t bytes);

/* Remove guards, after which the pages contain zeros. */
void coil__memory_unguard(void *low, size_t bytes);

/*
 * Discard or guard at most 1024 ranges, with one system call if the kernel supports that.
 * Both functions stop at the first range that fails, and return the number of ranges that
 * were discarded or guarded.
 */
size_t coil__memory_discard_all(const struct iovec *ranges, size_t n);
size_t coil__memory_guard_all(const struct iovec *ranges, size_t n);
void coil__memory_unguard_all(const struct iovec *ranges, size_t n);

/*
 * True if the kernel supports guards. `page` is used for a test, and must not be accessed
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
 * Copy up to `bytes` from `address`, but stop at an unmapped page. Returns the number of
 * bytes, or -1 with errno. Async-signal-safe.
 */
ssize_t coil__memory_read(int fd, void *to, uintptr_t address, size_t bytes);

#endif
