/* path.c - operations on paths: stat, rename, unlink, directories, links. */
#include "file.h"

#include "../task/failure.h"

#include <coil/path.h>

#include <fcntl.h>
#include <sys/stat.h>

int coil_stat(const char *path, int flags, struct statx *out)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE(out, "an output pointer");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_STATX,
                                                               .fd = AT_FDCWD,
                                                               .path = path,
                                                               .flags = flags,
                                                               .mode = COIL__STATX_MASK,
                                                               .buf = out}),
                         "cannot read the attributes of '%s'", path);
}

int coil_rename(const char *from, const char *to, unsigned flags)
{
    COIL__REQUIRE(from, "a path");
    COIL__REQUIRE(to, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_RENAME,
                                                               .fd = AT_FDCWD,
                                                               .path = from,
                                                               .fd2 = AT_FDCWD,
                                                               .path2 = to,
                                                               .flags = (int)flags}),
                         "cannot rename '%s' to '%s'", from, to);
}

int coil_unlink(const char *path)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){
                             .kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = path}),
                         "cannot unlink '%s'", path);
}

int coil_rmdir(const char *path)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_UNLINK,
                                                               .fd = AT_FDCWD,
                                                               .path = path,
                                                               .flags = AT_REMOVEDIR}),
                         "cannot remove directory '%s'", path);
}

int coil_mkdir(const char *path, mode_t mode)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain(
        (int)coil__file_do(&(struct coil__op){
            .kind = COIL__OP_MKDIR, .fd = AT_FDCWD, .path = path, .mode = mode}),
        "cannot make directory '%s'", path);
}

int coil_chmod(const char *path, mode_t mode)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain(
        (int)coil__file_do(&(struct coil__op){
            .kind = COIL__OP_CHMOD, .fd = AT_FDCWD, .path = path, .mode = mode}),
        "cannot change the mode of '%s'", path);
}

int coil_chown(const char *path, uid_t user, gid_t group, int flags)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_CHOWN,
                                                               .fd = AT_FDCWD,
                                                               .path = path,
                                                               .offset = user,
                                                               .offset2 = group,
                                                               .flags = flags}),
                         "cannot change the owner of '%s'", path);
}

int coil_utimens(const char *path, const struct timespec times[2], int flags)
{
    COIL__REQUIRE(path, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_UTIMENS,
                                                               .fd = AT_FDCWD,
                                                               .path = path,
                                                               .buf = (void *)times,
                                                               .flags = flags}),
                         "cannot set the times of '%s'", path);
}

static int make_directory(const char *name, void *arg)
{
    (void)arg;
    return coil_mkdir(name, 0700);
}

int coil_mkdtemp(char *name)
{
    COIL__REQUIRE(name, "a name");
    return coil__path_make(name, make_directory, NULL);
}

int coil_link(const char *from, const char *to)
{
    COIL__REQUIRE(from, "a path");
    COIL__REQUIRE(to, "a path");
    return coil__explain((int)coil__file_do(&(struct coil__op){.kind = COIL__OP_LINK,
                                                               .fd = AT_FDCWD,
                                                               .path = from,
                                                               .fd2 = AT_FDCWD,
                                                               .path2 = to}),
                         "cannot link '%s' as '%s'", from, to);
}

int coil_symlink(const char *target, const char *path)
{
    COIL__REQUIRE(target, "a path");
    COIL__REQUIRE(path, "a path");
    return coil__explain(
        (int)coil__file_do(&(struct coil__op){
            .kind = COIL__OP_SYMLINK, .path = target, .fd2 = AT_FDCWD, .path2 = path}),
        "cannot make symbolic link '%s'", path);
}

ssize_t coil_readlink(const char *path, char *buf, size_t size)
{
    COIL__REQUIRE(path, "a path");
    COIL__REQUIRE_IF(size > 0, buf, "a buffer");
    ssize_t n = coil__file_do(&(struct coil__op){.kind = COIL__OP_READLINK,
                                                 .fd = AT_FDCWD,
                                                 .path = path,
                                                 .buf = buf,
                                                 .len = size});

    if (n < 0)
        return coil__explain((int)n, "cannot read symbolic link '%s'", path);
    /*
     * If the buffer is full, the target may have been truncated: readlink(2) reports no
     * error.
     */
    if ((size_t)n == size)
        return coil__failed(-ENAMETOOLONG);
    buf[n] = '\0';
    return n;
}
