/*
 * coil/file.h - files, without blocking the loop.
 *
 *     #include <fcntl.h>
 *
 *     coil_file *f;
 *     rc = coil_file_open("report", O_WRONLY | O_CREAT | O_TRUNC, 0666, &f);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_file_write(f, text, n);
 *     if (rc >= 0)
 *         rc = coil_file_close(f);                  // its failure is a lost write
 *     coil_file_destroy(f);
 *
 * poll(2) calls a disk file always ready, and read(2) then blocks. So calls on files are
 * submitted to io_uring, or with another backend made by a thread of the file lane
 * (coil/executor.h). Only the task waits. Any number of tasks may call on one file at the
 * same time: calls with an offset (pread, pwrite) run concurrently, calls at the file's
 * position one after the other, first come, first served.
 *
 * A call that is cancelled while it waits still waits for its operation, because the
 * kernel may be using its buffer. It returns its result, and the next call that would wait
 * returns -ECANCELED. Calls on files always wait. An operation that no thread has begun is
 * withdrawn, and a task that is cancelled already begins none: -ECANCELED.
 *
 * A coil_file belongs to no loop: while no call is in progress it may be passed to
 * another thread. It is meant for regular files and block devices. A FIFO or terminal
 * works, but its calls occupy one of the 8 threads of the file lane, and cannot be
 * cancelled: use coil_stream_adopt() for those, and for sockets.
 *
 * All functions fail as their system calls do, and with -ECANCELED, -ENOMEM, -EAGAIN (no
 * thread could be started; or O_NONBLOCK), -EBADF (coil_file_close() was called).
 */
#ifndef COIL_FILE_H
#define COIL_FILE_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_file coil_file;

struct statx; /* of <sys/stat.h>, with _GNU_SOURCE */

/*
 * open(2), close-on-exec. `mode` is for O_CREAT. *out is the caller's. Opening a FIFO
 * waits for the other end, unless O_NONBLOCK is given. Except on io_uring, no deadline
 * and no cancellation ends that wait: open it with open(2) and O_NONBLOCK, which does not
 * block, and give it to coil_stream_adopt().
 */
COIL_SUSPENDS int coil_file_open(const char *path, int flags, mode_t mode,
                                 coil_file **out);

/* Make a file of a descriptor, which it then owns. -EBADF, -ENOMEM: it does not. */
COIL_API int coil_file_adopt(int fd, coil_file **out);

/*
 * A file without a name, open for reading and writing, that goes with its last
 * descriptor. It lies in `directory`; NULL: $TMPDIR, or /tmp. (Python:
 * tempfile.TemporaryFile)
 */
COIL_SUSPENDS int coil_file_open_temporary(const char *directory, coil_file **out);

/*
 * A new file, mode 0600, open for reading and writing: `name` ends in six X, which are
 * replaced such that no such file was there. -EINVAL if it does not. (mkstemp(3))
 */
COIL_SUSPENDS int coil_mkstemp(char *name, coil_file **out);

/*
 * Close it, and tell what close(2) failed with: for a file that was written that is the
 * last moment to learn of an error. Waits until the calls in it have ended, whose next
 * step, if they have one, is -EBADF. Nothing happens the second time. -EBUSY: another
 * task is closing it. Cancelled while it waits for calls: -ECANCELED, and it may be
 * called again; the closing itself is finished in any case.
 */
COIL_SUSPENDS int coil_file_close(coil_file *file);

/*
 * Free it; NULL is accepted. Never suspends. What was not closed is closed by close(2)
 * here and now, or as the last call in it ends. That takes no time, but on a network file
 * system, which may send what was written: there, and where errors matter,
 * coil_file_close() comes first.
 */
COIL_API void coil_file_destroy(coil_file *file);

/* The descriptor, borrowed; -1 when closed. */
COIL_API int coil_file_fd(const coil_file *file);

/* ---- reading and writing ----------------------------------------------------------- */

/*
 * Read at most n bytes at the file's position, or at `offset`, which leaves the position
 * alone. Returns how many, perhaps fewer; 0 at the end. -ESPIPE for an offset in what has
 * none, a pipe. (read(2), pread(2))
 */
COIL_SUSPENDS ssize_t coil_file_read(coil_file *file, void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_file_pread(coil_file *file, void *buf, size_t n,
                                      int64_t offset);

/*
 * Read exactly n bytes. Returns n; -ENODATA if the end comes before; or fails as
 * coil_file_read(). How many were read, coil_file_transferred() says.
 */
COIL_SUSPENDS ssize_t coil_file_read_exact(coil_file *file, void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_file_pread_exact(coil_file *file, void *buf, size_t n,
                                            int64_t offset);

/*
 * Read a line at the file's position, which moves behind it. Returns its length; it
 * stands in `line` without its '\n' and with a '\0' behind it (a '\r' is left to you), as
 * coil_read_line() has it for streams.
 *
 * -EMSGSIZE if the line does not fit `size` bytes, its '\0' counted: it is still there,
 * and the position too. -ENODATA at the end: what came after the last '\n' is in `line`,
 * and coil_file_transferred() says how much that is. Else fails as coil_file_read(),
 * having taken nothing, or with -EINVAL for a size of 0, -ESPIPE for what has no
 * position: coil_stream_adopt() is for a FIFO or terminal.
 *
 * The file is read 64 KiB at a time, so most lines wait for nothing; a call that did not
 * wait may let others run all the same. What this coil_file writes is seen; what others
 * write into a piece that was read already, or cut off, may not be, until the position is
 * moved elsewhere. (Python: file.readline)
 */
COIL_SUSPENDS ssize_t coil_file_read_line(coil_file *file, char *line, size_t size);

/*
 * Write all n bytes, in as many steps as it takes. Returns n, or what a step failed with;
 * how many were written before that, coil_file_transferred() says. (write(2), pwrite(2):
 * a file of O_APPEND is written at its end by both.)
 */
COIL_SUSPENDS ssize_t coil_file_write(coil_file *file, const void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_file_pwrite(coil_file *file, const void *buf, size_t n,
                                       int64_t offset);

/*
 * The bytes moved by the latest call on this file that returned. Right after a call it is
 * that call's, whoever else uses the file: no other task runs in between.
 */
COIL_API size_t coil_file_transferred(const coil_file *file);

/* ---- the rest ---------------------------------------------------------------------- */

/*
 * Move the position; returns it. `whence` as in lseek(2), SEEK_DATA and SEEK_HOLE too.
 * Like reads and writes at the position it waits for those that are under way.
 */
COIL_SUSPENDS int64_t coil_file_seek(coil_file *file, int64_t offset, int whence);

/* Have everything that was written reach the disk; with data_only as fdatasync(2). */
COIL_SUSPENDS int coil_file_sync(coil_file *file, bool data_only);

/* As statx(2) with STATX_BASIC_STATS | STATX_BTIME. */
COIL_SUSPENDS int coil_file_stat(coil_file *file, struct statx *out);

/* ftruncate(2); fallocate(2). */
COIL_SUSPENDS int coil_file_truncate(coil_file *file, int64_t length);
COIL_SUSPENDS int coil_file_allocate(coil_file *file, int mode, int64_t offset,
                                     int64_t n);

/* fchmod(2). */
COIL_SUSPENDS int coil_file_chmod(coil_file *file, mode_t mode);

/* ---- whole files ------------------------------------------------------------------- */

/*
 * Read a file to its end. *data is the caller's, for coil_free(); a '\0' stands behind
 * the *n bytes, so text is a string. -EFBIG: it has more than `max` bytes (0: no limit).
 * (Python: Path.read_bytes)
 */
COIL_SUSPENDS int coil_read_file(const char *path, size_t max, void **data, size_t *n);

/* How a file is written by the two below: */
enum {
    /*
     * All or nothing: write a new file beside it, fsync(2), and rename(2) it. Who opens
     * `path` finds the old content or the new, also after a crash, and a failure or
     * cancellation leaves what was there. A symbolic link is replaced, not followed. With
     * COIL_FILE_SYNC the directory is synced last: if that fails, as on a broken disk
     * (-EIO), `path` has the new content, but after a crash perhaps the old.
     */
    COIL_FILE_ATOMIC = 1,
    COIL_FILE_EXCLUSIVE = 2, /* -EEXIST if it is there */
    COIL_FILE_SYNC = 4,      /* return when it is on the disk, its name included */
    COIL_FILE_APPEND = 8     /* coil_write_file() alone, not with COIL_FILE_ATOMIC */
};

/*
 * Have the file at `path` contain these n bytes and nothing else. One that is made gets
 * `mode`, less the umask; one that is there keeps its own. Without COIL_FILE_ATOMIC a
 * failure leaves what was written until then. -EINVAL: flags that do not go together.
 * (Python: Path.write_bytes)
 */
COIL_SUSPENDS int coil_write_file(const char *path, const void *data, size_t n,
                                  mode_t mode, unsigned flags);

typedef struct coil_copy_opts {
    unsigned flags; /* COIL_FILE_ATOMIC, COIL_FILE_EXCLUSIVE, COIL_FILE_SYNC */
    /* Called in the copying task after each some megabytes, and at the end; may suspend.
       `total` is the size that the file had at the beginning. */
    void (*progress)(int64_t done, int64_t total, void *arg);
    void *arg;
} coil_copy_opts;

/*
 * Copy a regular file, its permission bits included (not set-user-ID and the like). Where
 * the file system can share the data, nothing is copied; holes stay holes. `opts` may be
 * NULL.
 *
 * -EINVAL: not a regular file (a directory: -EISDIR), or `to` is the same file. Without
 * COIL_FILE_ATOMIC a failure leaves what was copied until then. (copy_file_range(2);
 * Python: shutil.copy)
 */
COIL_SUSPENDS int coil_copy_file(const char *from, const char *to,
                                 const coil_copy_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
