/*
 * coil/path.h - operations on paths, without blocking the loop.
 *
 *     rc = coil_mkdir("archive", 0777);
 *     if (rc == 0 || rc == -EEXIST)
 *         rc = coil_rename("today.log", "archive/today.log", 0);
 *
 * Each is its system call, made by io_uring or by a thread of the file lane: see
 * coil/file.h, which also says how they are cancelled. All return 0 or a negative errno.
 */
#ifndef COIL_PATH_H
#define COIL_PATH_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statx; /* of <sys/stat.h>, with _GNU_SOURCE */

/*
 * statx(2) with STATX_BASIC_STATS | STATX_BTIME. `flags`: 0, or AT_SYMLINK_NOFOLLOW for a
 * symbolic link itself, and what else statx(2) knows.
 */
COIL_SUSPENDS int coil_stat(const char *path, int flags, struct statx *out);

/*
 * renameat2(2). `flags`: 0 replaces what is there; RENAME_NOREPLACE is -EEXIST then;
 * RENAME_EXCHANGE. -EINVAL where the file system does not know the flag.
 */
COIL_SUSPENDS int coil_rename(const char *from, const char *to, unsigned flags);

/* unlink(2), mkdir(2), rmdir(2). */
COIL_SUSPENDS int coil_unlink(const char *path);
COIL_SUSPENDS int coil_mkdir(const char *path, mode_t mode);
COIL_SUSPENDS int coil_rmdir(const char *path);

/*
 * A new directory, mode 0700: `name` ends in six X, which are replaced such that no such
 * name was there. -EINVAL if it does not. (mkdtemp(3))
 */
COIL_SUSPENDS int coil_mkdtemp(char *name);

/* link(2); symlink(2): `path` will lead to `target`. */
COIL_SUSPENDS int coil_link(const char *from, const char *to);
COIL_SUSPENDS int coil_symlink(const char *target, const char *path);

/*
 * Where a symbolic link leads, with a '\0' behind it, into `buf` of `size` bytes; returns
 * its length. -ENAMETOOLONG: it does not fit. -EINVAL: no symbolic link. (readlink(2))
 */
COIL_SUSPENDS ssize_t coil_readlink(const char *path, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
