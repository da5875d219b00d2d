/*
 * coil/file.h - open, read, write and copy files without blocking the loop.
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
 * poll(2) always reports a disk file as ready, but read(2) may still block. So coil
 * submits calls on files to io_uring or, with any other backend, makes them on a thread
 * of the file lane (coil/executor.h). Only the calling task waits. Any number of tasks
 * may use one file at the same time. Calls with an offset (pread, pwrite) run
 * concurrently. Calls at the file's position run one after the other, in the order in
 * which they were made.
 *
 * A cancelled call still waits for its operation, because the kernel may be using its
 * buffer. The cancelled call returns the operation's result, and the next call that would
 * wait returns -ECANCELED. Calls on files always wait. If no thread has begun the
 * operation yet, the operation is withdrawn and the call returns -ECANCELED. If the task
 * is already cancelled, a call returns -ECANCELED without beginning an operation.
 *
 * A coil_file does not belong to a loop, and may be passed to another thread while no
 * call is in progress. Use a coil_file for regular files and block devices. For a FIFO, a
 * terminal or a socket, use coil_stream_adopt(). A coil_file works for a FIFO or
 * terminal, too, but each call occupies one of the 8 threads of the file lane, and cannot
 * be cancelled.
 *
 * All functions fail like their system calls, or with -ECANCELED, -ENOMEM, or, after
 * coil_file_close(), with -EBADF. All functions also fail with -EAGAIN if no thread could
 * be started, or if an O_NONBLOCK descriptor is not ready.
 */
#ifndef COIL_FILE_H
#define COIL_FILE_H

#include <coil/base.h>

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_file coil_file;

struct statx; /* declared in <sys/stat.h> with _GNU_SOURCE */

/*
 * Open a file like open(2), with O_CLOEXEC. `mode` applies only with O_CREAT. The caller
 * owns *out.
 *
 * Opening a FIFO waits for the other end, unless O_NONBLOCK is given. Except on io_uring,
 * neither a deadline nor a cancellation ends that wait. For a FIFO use open(2) with
 * O_NONBLOCK, which does not block, and coil_stream_adopt().
 */
COIL_SUSPENDS COIL_CHECKED int coil_file_open(const char *path, int flags, mode_t mode,
                                              coil_file **out);

/*
 * Make a coil_file from a descriptor, which the coil_file then owns. After a failure
 * (-EBADF or -ENOMEM) the caller still owns the descriptor.
 */
COIL_API COIL_CHECKED int coil_file_adopt(int fd, coil_file **out);

/*
 * Create a file without a name, open for reading and writing. The system deletes the file
 * when its last descriptor is closed. `directory` is the directory of the file; NULL
 * means $TMPDIR, or /tmp. (Python: tempfile.TemporaryFile)
 */
COIL_SUSPENDS COIL_CHECKED int coil_file_open_temporary(const char *directory,
                                                        coil_file **out);

/*
 * Create a new file with mode 0600, open for reading and writing. `name` must end in six
 * X, which are replaced to make the name unique; otherwise the call fails with -EINVAL.
 * (mkstemp(3))
 */
COIL_SUSPENDS COIL_CHECKED int coil_mkstemp(char *name, coil_file **out);

/*
 * Close the file, and return 0 or the error of close(2). This is the last opportunity to
 * detect a write error.
 *
 * Waits until the calls in progress have ended. A call in progress that consists of many
 * steps fails with -EBADF after its current step. Closing a closed file has no effect.
 * Fails with -EBUSY if another task is closing the file. If the task is cancelled while
 * it waits for other calls, the result is -ECANCELED, and the call may be repeated. Once
 * close(2) has begun, it always completes.
 */
COIL_SUSPENDS int coil_file_close(coil_file *file);

/*
 * Free the file; NULL is accepted. Never suspends.
 *
 * An open file is closed by close(2): immediately, or when the last call in progress
 * ends. On a network file system close(2) may block while it sends written data. So call
 * coil_file_close() first for such files, and wherever errors matter.
 */
COIL_API void coil_file_destroy(coil_file *file);

/* Return the descriptor, borrowed; -1 when closed. */
COIL_API int coil_file_fd(const coil_file *file);

/* ---- reading and writing ----------------------------------------------------------- */

/*
 * Read at most n bytes, at the file's position (coil_file_read), or at `offset` without
 * moving the position (coil_file_pread). (read(2), pread(2))
 *
 * Returns the number of bytes, which may be less than n; 0 at the end. Reading at an
 * offset fails with -ESPIPE for pipes and similar files.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_file_read(coil_file *file, void *buf, size_t n);
COIL_SUSPENDS COIL_CHECKED ssize_t coil_file_pread(coil_file *file, void *buf, size_t n,
                                                   int64_t offset);

/*
 * Read exactly n bytes. Returns n. Fails with -ENODATA if the file ends earlier, or like
 * coil_file_read(). After a failure, coil_file_transferred() returns how many bytes were
 * read.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_file_read_exact(coil_file *file, void *buf,
                                                        size_t n);
COIL_SUSPENDS COIL_CHECKED ssize_t coil_file_pread_exact(coil_file *file, void *buf,
                                                         size_t n, int64_t offset);

/*
 * Read a line at the file's position, and move the position past it. (Python:
 * file.readline)
 *
 * Returns the line's length. `line` receives the line without the '\n', and with a '\0'
 * at the end. A '\r' is not removed. coil_read_line() does the same for streams.
 *
 * Fails with -EMSGSIZE if the line and its '\0' do not fit into `size` bytes; in that
 * case the position does not move. Fails with -ENODATA at the end of the file: `line`
 * holds the bytes after the last '\n', and coil_file_transferred() returns how many.
 * Fails with -EINVAL if size is 0. Fails with -ESPIPE for a FIFO or terminal: use
 * coil_stream_adopt() for those. Otherwise fails like coil_file_read(), without consuming
 * anything.
 *
 * The file is read in pieces of 64 KiB, so most calls do not wait. A call that does not
 * wait may still let other tasks run. Writes through this coil_file are visible to later
 * reads. Any other change to a piece that was already read, including truncation of the
 * file, might not become visible until the position is moved elsewhere.
 */
COIL_SUSPENDS COIL_CHECKED ssize_t coil_file_read_line(coil_file *file, char *line,
                                                       size_t size);

/*
 * Write all n bytes, with as many system calls as necessary. Returns n, or the error of a
 * system call. After an error, coil_file_transferred() returns how many bytes were
 * written. (write(2), pwrite(2): both append to a file opened with O_APPEND.)
 */
COIL_SUSPENDS ssize_t coil_file_write(coil_file *file, const void *buf, size_t n);
COIL_SUSPENDS ssize_t coil_file_pwrite(coil_file *file, const void *buf, size_t n,
                                       int64_t offset);

/*
 * Return how many bytes the latest completed call on this file transferred. Call this
 * function before any other call that may suspend, because other tasks may then use the
 * file.
 */
COIL_API size_t coil_file_transferred(const coil_file *file);

/* ---- other operations -------------------------------------------------------------- */

/*
 * Move the position and return it. `whence` is as in lseek(2), including SEEK_DATA and
 * SEEK_HOLE. Waits until reads and writes in progress at the file's position have ended.
 */
COIL_SUSPENDS int64_t coil_file_seek(coil_file *file, int64_t offset, int whence);

/*
 * Flush written data to the disk, like fsync(2), or like fdatasync(2) if data_only is
 * set.
 */
COIL_SUSPENDS int coil_file_sync(coil_file *file, bool data_only);

/* Query attributes, as statx(2) with STATX_BASIC_STATS | STATX_BTIME. */
COIL_SUSPENDS int coil_file_stat(coil_file *file, struct statx *out);

/* ftruncate(2) and fallocate(2). */
COIL_SUSPENDS int coil_file_truncate(coil_file *file, int64_t length);
COIL_SUSPENDS int coil_file_allocate(coil_file *file, int mode, int64_t offset,
                                     int64_t n);

/* fchmod(2). */
COIL_SUSPENDS int coil_file_chmod(coil_file *file, mode_t mode);

/* fchown(2). -1 leaves the user or the group unchanged. */
COIL_SUSPENDS int coil_file_chown(coil_file *file, uid_t user, gid_t group);

/*
 * futimens(3): set the times of the last access and the last modification, in this order.
 * NULL sets both to the current time. A tv_nsec may be UTIME_NOW or UTIME_OMIT
 * (<sys/stat.h>).
 */
COIL_SUSPENDS int coil_file_utimens(coil_file *file, const struct timespec times[2]);

/* ---- whole files ------------------------------------------------------------------- */

/*
 * Read a whole file. (Python: Path.read_bytes)
 *
 * The caller frees *data with coil_free(). A '\0' follows the *n bytes, so the contents
 * of a text file can be used as a C string. Fails with -EFBIG if the file has more than
 * `max` bytes (0: no limit).
 */
COIL_SUSPENDS COIL_CHECKED int coil_read_file(const char *path, size_t max, void **data,
                                              size_t *n);

/* Flags of coil_write_file() and coil_copy_file(). */
enum {
    /*
     * Replace the file atomically: write a new file in the same directory, fsync(2) it,
     * and rename(2) it to `path`. Readers of `path` find either the old content or the
     * new content, even after a crash. A failure or cancellation leaves the old file in
     * place. A symbolic link is replaced, not followed. With COIL_FILE_SYNC the directory
     * is synced last. If that sync fails, for example with -EIO on a broken disk, `path`
     * has the new content, but may have the old content again after a crash.
     */
    COIL_FILE_ATOMIC = 1,
    COIL_FILE_EXCLUSIVE = 2, /* fail with -EEXIST if the file exists */
    COIL_FILE_SYNC = 4,      /* return once the file and its name are on the disk */
    COIL_FILE_APPEND = 8     /* for coil_write_file() only, without COIL_FILE_ATOMIC */
};

/*
 * Replace the content of the file at `path` with the n bytes at `data`, or append them if
 * COIL_FILE_APPEND is set. (Python: Path.write_bytes)
 *
 * A new file gets the mode `mode`, modified by the umask; an existing file keeps its
 * mode. Without COIL_FILE_ATOMIC, a failure may leave a part of the data in the file.
 * Fails with -EINVAL for flags that cannot be combined.
 */
COIL_SUSPENDS int coil_write_file(const char *path, const void *data, size_t n,
                                  mode_t mode, unsigned flags);

typedef struct coil_copy_opts {
    unsigned flags; /* COIL_FILE_ATOMIC, COIL_FILE_EXCLUSIVE, COIL_FILE_SYNC */
    /*
     * Called every few megabytes and at the end of the copy, in the copying task, to
     * report progress. May suspend. `total` is the size of the file at the beginning.
     */
    void (*progress)(int64_t done, int64_t total, void *arg);
    void *arg;
} coil_copy_opts;

/*
 * Copy a regular file and its permission bits. The set-user-ID, set-group-ID and sticky
 * bits are not copied. If the file system allows it (reflinks), the two files share their
 * data, and nothing is copied. Holes remain holes. `opts` may be NULL.
 * (copy_file_range(2); Python: shutil.copy)
 *
 * Fails with -EINVAL if `from` is not a regular file (-EISDIR for a directory), or `to`
 * is the same file. Without COIL_FILE_ATOMIC a failure may leave a partial copy.
 */
COIL_SUSPENDS int coil_copy_file(const char *from, const char *to,
                                 const coil_copy_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
