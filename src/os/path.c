/*
 * path.c - what can be done with names of files.
 */
#include "file.h"

#include <coil/path.h>

#include <fcntl.h>
#include <sys/stat.h>

int coil_stat(const char *path, int flags, struct statx *out)
{
    return (int)coil__file_do(&(struct coil__op){.kind = COIL__OP_STATX,
                                                 .fd = AT_FDCWD,
                                                 .path = path,
                                                 .flags = flags,
                                                 .mode = COIL__STATX_MASK,
                                                 .buf = out});
}

int coil_rename(const char *from, const char *to, unsigned flags)
{
    return (int)coil__file_do(&(struct coil__op){.kind = COIL__OP_RENAME,
                                                 .fd = AT_FDCWD,
                                                 .path = from,
                                                 .fd2 = AT_FDCWD,
                                                 .path2 = to,
                                                 .flags = (int)flags});
}

int coil_unlink(const char *path)
{
    return (int)coil__file_do(
        &(struct coil__op){.kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = path});
}

int coil_rmdir(const char *path)
{
    return (int)coil__file_do(&(struct coil__op){
        .kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = path, .flags = AT_REMOVEDIR});
}

int coil_mkdir(const char *path, mode_t mode)
{
    return (int)coil__file_do(&(struct coil__op){
        .kind = COIL__OP_MKDIR, .fd = AT_FDCWD, .path = path, .mode = mode});
}

static int make_directory(const char *name, void *arg)
{
    (void)arg;
    return coil_mkdir(name, 0700);
}

int coil_mkdtemp(char *name)
{
    return coil__path_make(name, make_directory, NULL);
}

int coil_link(const char *from, const char *to)
{
    return (int)coil__file_do(&(struct coil__op){.kind = COIL__OP_LINK,
                                                 .fd = AT_FDCWD,
                                                 .path = from,
                                                 .fd2 = AT_FDCWD,
                                                 .path2 = to});
}

int coil_symlink(const char *target, const char *path)
{
    return (int)coil__file_do(&(struct coil__op){
        .kind = COIL__OP_SYMLINK, .path = target, .fd2 = AT_FDCWD, .path2 = path});
}

ssize_t coil_readlink(const char *path, char *buf, size_t size)
{
    ssize_t n = coil__file_do(&(struct coil__op){.kind = COIL__OP_READLINK,
                                                 .fd = AT_FDCWD,
                                                 .path = path,
                                                 .buf = buf,
                                                 .len = size});

    /* Of a longer one the kernel gives as much as fits, and does not say so. */
    if (n >= 0 && (size_t)n == size)
        return -ENAMETOOLONG;
    if (n >= 0)
        buf[n] = '\0';
    return n;
}
