/*
 * coil/path.h - rename, remove and query files by path, without blocking the loop.
 *
 *     rc = coil_mkdir("archive", 0777);
 *     if (rc == 0 || rc == -EEXIST)
 *         rc = coil_rename("today.log", "archive/today.log", 0);
 *
 * Each function makes the system call of the same name, with io_uring or on a thread of
 * the file lane. coil/file.h describes these two methods and the cancellation of calls.
 * All functions except coil_readlink() return 0 or a negative errno.
 */
#ifndef COIL_PATH_H
#define COIL_PATH_H

#include <coil/base.h>

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statx; /* declared in <sys/stat.h> with _GNU_SOURCE */

/*
 * Query attributes, as statx(2) with STATX_BASIC_STATS | STATX_BTIME. `flags` is 0,
 * AT_SYMLINK_NOFOLLOW to query a symbolic link itself, or another flag of statx(2).
 */
COIL_SUSPENDS int coil_stat(const char *path, int flags, struct statx *out);

/*
 * Rename a file, like renameat2(2). An existing `to` is replaced if `flags` is 0. With
 * RENAME_NOREPLACE the call fails with -EEXIST instead, and with RENAME_EXCHANGE it swaps
 * the two files. Fails with -EINVAL if the file system does not support the flag.
 */
COIL_SUSPENDS int coil_rename(const char *from, const char *to, unsigned flags);

/* Like unlink(2), mkdir(2) and rmdir(2). */
COIL_SUSPENDS int coil_unlink(const char *path);
COIL_SUSPENDS int coil_mkdir(const char *path, mode_t mode);
COIL_SUSPENDS int coil_rmdir(const char *path);

/* Like chmod(2), which follows symbolic links. */
COIL_SUSPENDS int coil_chmod(const char *path, mode_t mode);

/*
 * Change the owner, like fchownat(2). `flags` is 0, or AT_SYMLINK_NOFOLLOW to change a
 * symbolic link itself (lchown(2)). -1 leaves the user or the group unchanged. (Python:
 * os.chown)
 */
COIL_SUSPENDS int coil_chown(const char *path, uid_t user, gid_t group, int flags);

/*
 * Set the times of the last access and the last modification, like utimensat(2). `flags`
 * has the same meaning as in coil_chown(), and `times` as in coil_file_utimens().
 * (Python: os.utime)
 */
COIL_SUSPENDS int coil_utimens(const char *path, const struct timespec times[2],
                               int flags);

/*
 * Create a new directory with mode 0700. `name` must end in six X, which are replaced to
 * make the name unique; otherwise the call fails with -EINVAL. (mkdtemp(3))
 */
COIL_SUSPENDS int coil_mkdtemp(char *name);

/* link(2), and symlink(2): `path` becomes a link to `target`. */
COIL_SUSPENDS int coil_link(const char *from, const char *to);
COIL_SUSPENDS int coil_symlink(const char *target, const char *path);

/*
 * Read the target of a symbolic link, with a '\0' at the end, into the `size` bytes at
 * `buf`, and return its length. Fails with -ENAMETOOLONG if the target does not fit, or
 * with -EINVAL if `path` is not a symbolic link. (readlink(2))
 */
COIL_SUSPENDS ssize_t coil_readlink(const char *path, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
