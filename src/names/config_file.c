/*
 * config_file.c - opens the files that configure look-ups: hosts(5), resolv.conf(5) and
 * nsswitch.conf(5).
 *
 * As in the C library, a file that does not exist, or that the program must not read, has
 * the same meaning as an empty file. All other failures end the look-up. Suppose that
 * descriptors have run out: with an empty hosts file, coil would send the names in that
 * file to a name server. With an empty resolv.conf, coil would query 127.0.0.1 until the
 * file changes.
 */
#include "resolver.h"

#include "../base/fault.h"

#include <fcntl.h>
#include <unistd.h>

/* The errors for which glibc's __resolv_conf_load() uses its defaults. */
static bool means_no_file(int error)
{
    switch (error) {
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENOENT:
    case ENOTDIR:
    case EPERM:
        return true;
    default:
        return false;
    }
}

int coil__config_file_open(const char *path, FILE **out)
{
    int fd = COIL__CALL(EMFILE, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    int rc;

    *out = NULL;
    if (fd < 0)
        return means_no_file(errno) ? 0 : -errno;
    if (coil__call_fails(ENOMEM, "fdopen") || (*out = fdopen(fd, "r")) == NULL) {
        rc = -errno;
        close(fd);
        return rc;
    }
    return 0;
}

int coil__config_file_close(FILE *file, int rc)
{
    if (file == NULL)
        return rc;
    if (rc == 0 && ferror(file) && !means_no_file(errno))
        rc = -errno;
    fclose(file);
    return rc;
}
