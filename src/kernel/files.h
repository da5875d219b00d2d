/*
 * files.h (internal) - file operations that are not in POSIX.
 *
 * Like a system call, each function returns a count or 0, or -1 with errno. ENOSYS,
 * EOPNOTSUPP and EINVAL mean that the kernel or the file does not support the operation;
 * callers may then use other calls instead.
 */
#ifndef COIL_KERNEL_FILES_H
#define COIL_KERNEL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct statx;

/* Like statx(2), whose struct is part of the public headers. */
int coil__files_stat(int fd, const char *path, int flags, unsigned mask,
                     struct statx *out);

/* Like renameat2(2). The flags are RENAME_NOREPLACE and RENAME_EXCHANGE. */
int coil__files_rename(int fd, const char *path, int fd2, const char *path2,
                       unsigned flags);

/*
 * Allocate space for a file, like fallocate(2). The flags are FALLOC_FL_KEEP_SIZE and
 * others.
 */
int coil__files_allocate(int fd, int flags, int64_t offset, int64_t bytes);

/* Copy up to `n` bytes from one file to another in the kernel, without changing the
   files' own positions. (copy_file_range(2)) */
ssize_t coil__files_copy(int fd, int64_t offset, int fd2, int64_t offset2, size_t n);

/* Like coil__files_copy(), but at least one of the two files must be a pipe. An offset of
 * -1 means the file's own position, and is required for a pipe. (splice(2)) */
ssize_t coil__files_splice(int fd, int64_t offset, int fd2, int64_t offset2, size_t n,
                           unsigned flags);

/* Read as many of the directory's next entries as fit into `buf`. Each is a struct dirent
   of d_reclen bytes. Returns 0 at the end. (getdents64(2)) */
ssize_t coil__files_list(int fd, void *buf, size_t size);

/* Like pread(2), but fail with EAGAIN instead of waiting for a disk. */
ssize_t coil__files_read_cached(int fd, void *buf, size_t n, int64_t offset);

/*
 * True if the file is always in memory (memfd). coil__files_read_cached() might not
 * support such a file.
 */
bool coil__files_in_memory(int fd);

/* Return the flag of open(2) that creates an unnamed file in a directory (O_TMPFILE). */
int coil__files_unnamed(void);

#endif
