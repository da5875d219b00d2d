/*
 * files.c - makes Linux's own system calls on files.
 */
#include "../files.h"

#include "../../base/fault.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

int coil__files_stat(int fd, const char *path, int flags, unsigned mask,
                     struct statx *out)
{
    return statx(fd, path, flags, mask, out);
}

int coil__files_rename(int fd, const char *path, int fd2, const char *path2,
                       unsigned flags)
{
    return renameat2(fd, path, fd2, path2, flags);
}

int coil__files_allocate(int fd, int flags, int64_t offset, int64_t bytes)
{
    return fallocate(fd, flags, offset, bytes);
}

ssize_t coil__files_copy(int fd, int64_t offset, int fd2, int64_t offset2, size_t n)
{
    return copy_file_range(fd, &offset, fd2, &offset2, n, 0);
}

ssize_t coil__files_splice(int fd, int64_t offset, int fd2, int64_t offset2, size_t n,
                           unsigned flags)
{
    return splice(fd, offset != -1 ? &offset : NULL, fd2, offset2 != -1 ? &offset2 : NULL,
                  n, flags);
}

ssize_t coil__files_list(int fd, void *buf, size_t size)
{
    return syscall(SYS_getdents64, fd, buf, size);
}

ssize_t coil__files_read_cached(int fd, void *buf, size_t n, int64_t offset)
{
    struct iovec part = {buf, n};

    return COIL__CALL(EAGAIN, preadv2(fd, &part, 1, offset, RWF_NOWAIT));
}

/*
 * True for files of memfd_create(2), which do not support RWF_NOWAIT, and never wait for
 * a disk.
 */
bool coil__files_in_memory(int fd)
{
    struct statfs info;

    return fstatfs(fd, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

int coil__files_unnamed(void)
{
    return O_TMPFILE;
}
