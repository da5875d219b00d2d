/*
 * buffered.c - FILEs of the C library in a task.
 *
 * When a FILE's buffer is empty or full, the C library calls its own read() or write().
 * These internal calls cannot be interposed, and would block the thread. Therefore this
 * file first fills or flushes the buffer, with posix__read() and posix__write(), which
 * suspend the task. After that, the C library needs only the buffer. The pointers into
 * the buffer are members of glibc's public struct _IO_FILE:
 *
 *     read_base .. read_ptr .. read_end     already taken .. still to be taken
 *     write_base .. write_ptr               still to be written
 *     buf_base .. buf_end                   the whole buffer; NULL before the first use
 *
 * A FILE has a recursive lock, which a thread owns. While a task uses the FILE, its
 * thread holds this lock, so other threads wait as they would without coil. The list
 * `uses` prevents other tasks of the same thread from using the FILE at the same time.
 * The list does not stop callbacks on the same thread, but neither would a mutex.
 *
 * Only the C library handles FILEs without a descriptor (open_memstream(),
 * fopencookie()), FILEs of wide characters, and regular files, which never wait when they
 * are read.
 */
#include "buffered.h"

#include "receive.h"

#include <coil/scope.h>
#include <coil/task.h>

#include <stdio_ext.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <wchar.h>

#undef fwrite_unlocked

/* FILE._flags, from glibc's libio.h, which is not installed. The values are unchanged
 * since glibc 2.0. */
#define UNBUFFERED 0x0002
#define EOF_SEEN 0x0010
#define ERROR_SEEN 0x0020
#define IN_BACKUP 0x0100
#define LINE_BUFFERED 0x0200
#define PUTTING 0x0800

/* glibc exports this for old programs, but no header declares it. */
void _IO_doallocbuf(FILE *file);
int _IO_switch_to_get_mode(FILE *file);

/* ---- the use of a FILE by one task ------------------------------------------------- */

struct waiter {
    FILE *file;
    coil_task *task;
    struct waiter *next;
};

static THREAD_LOCAL struct posix__use *uses;
static THREAD_LOCAL struct waiter *waiters; /* oldest first */

static struct posix__use *use_of(const FILE *file)
{
    struct posix__use *use = uses;

    while (use != NULL && use->file != file)
        use = use->next;
    return use;
}

static bool is_another_tasks(const FILE *file)
{
    const struct posix__use *use = use_of(file);

    return use != NULL && use->task != coil_task_current();
}

static void wake_first(const FILE *file)
{
    for (struct waiter *w = waiters; w != NULL; w = w->next) {
        if (w->file != file)
            continue;
        coil_unpark(w->task, 0);
        return;
    }
}

static void add_waiter(struct waiter *waiter)
{
    struct waiter **end = &waiters;

    while (*end != NULL)
        end = &(*end)->next;
    *end = waiter;
}

static void remove_waiter(struct waiter *waiter)
{
    struct waiter **at = &waiters;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* Wait for tasks that use the FILE. A waiter that is woken and has to park again keeps
 * its position in the queue. */
static int wait_for_tasks(FILE *file)
{
    struct waiter waiter = {.file = file, .task = coil_task_current()};
    coil_scope scope;
    bool held;
    int rc = 0;

    if (!is_another_tasks(file))
        return 0;
    add_waiter(&waiter);
    held = posix__hold_cancel(&scope);
    while (rc == 0 && is_another_tasks(file))
        rc = coil_park();
    posix__release_cancel(&scope, held);
    remove_waiter(&waiter);
    return rc;
}

static int wait_for_threads(FILE *file)
{
    int64_t nap = 0;

    while (NEXT(ftrylockfile)(file) != 0)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            return -errno;
    return 0;
}

/*
 * Wait until no other task or thread uses the FILE. While this task waits for a thread,
 * another task may begin to use the FILE, so check for tasks again afterwards. If this
 * task gives up, it may already have been woken, so it wakes the next waiter.
 */
static int wait_for_all(FILE *file)
{
    int rc;

    do {
        rc = wait_for_tasks(file);
        if (rc == 0)
            rc = wait_for_threads(file);
        if (rc < 0 && use_of(file) == NULL)
            wake_first(file);
        if (rc < 0 || !is_another_tasks(file))
            return rc;
        NEXT(funlockfile)(file);
    } while (true);
}

bool posix__begin_use(struct posix__use *use, FILE *file)
{
    struct posix__use *own;
    int rc, saved = errno;

    rc = wait_for_all(file);
    errno = rc < 0 ? -rc : saved;
    if (rc < 0)
        return false;
    own = use_of(file);
    *use = (struct posix__use){.file = file, .task = coil_task_current(), .outer = own};
    if (own != NULL) {
        own->depth++;
    } else {
        use->next = uses;
        uses = use;
    }
    return true;
}

static void remove_use(struct posix__use *use)
{
    struct posix__use **at = &uses;

    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    wake_first(use->file);
}

void posix__end_use(struct posix__use *use)
{
    FILE *file = use->file;

    if (use->outer != NULL)
        use->outer->depth--;
    else
        remove_use(use);
    NEXT(funlockfile)(file);
}

/*
 * Empty the lists in a child of fork(2), where the tasks that use or await FILEs do not
 * exist.
 */
static void forget_uses(void)
{
    static struct posix__use *parents_uses; /* reachable, so no leak is reported */

    for (struct posix__use *use = uses; use != NULL; use = uses) {
        uses = use->next;
        use->next = parents_uses;
        parents_uses = use;
    }
    waiters = NULL;
}

__attribute__((constructor)) static void forget_uses_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_uses);
}

/* ---- flockfile(): a use that lasts longer than a call ------------------------------ */

static struct posix__use *own_use(const FILE *file)
{
    struct posix__use *use = use_of(file);

    return use != NULL && use->task == coil_task_current() ? use : NULL;
}

/*
 * Lock the FILE, even if the task is cancelled, because flockfile(3) cannot fail. A later
 * call reports the cancellation. Returns false if memory ran out.
 */
static bool begin_use_shielded(struct posix__use *use, FILE *file)
{
    coil_scope scope;
    bool begun;

    if (coil_scope_enter_shielded(&scope, COIL_NEVER) < 0)
        return false;
    begun = posix__begin_use(use, file);
    coil_scope_exit(&scope, 0);
    return begun;
}

INTERPOSE void flockfile(FILE *file)
{
    struct posix__use *use, *own;

    if (!IN_TASK() || posix__libc_handles(file)) {
        NEXT(flockfile)(file);
        return;
    }
    own = own_use(file);
    use = own == NULL ? malloc(sizeof *use) : NULL;
    if (use != NULL && begin_use_shielded(use, file))
        return;
    free(use);
    if (own != NULL)
        own->depth++;
    NEXT(flockfile)(file); /* flockfile(3) cannot fail */
}

INTERPOSE int ftrylockfile(FILE *file)
{
    struct posix__use *use, *own;
    int rc;

    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(ftrylockfile)(file);
    if (is_another_tasks(file))
        return EBUSY;
    rc = NEXT(ftrylockfile)(file);
    own = own_use(file);
    if (rc != 0)
        return rc;
    if (own != NULL) {
        own->depth++;
        return 0;
    }
    use = malloc(sizeof *use);
    if (use != NULL) {
        *use =
            (struct posix__use){.file = file, .task = coil_task_current(), .next = uses};
        uses = use;
    }
    return 0;
}

INTERPOSE void funlockfile(FILE *file)
{
    struct posix__use *own = uses != NULL && IN_TASK() ? own_use(file) : NULL;

    if (own != NULL && own->depth > 0) {
        own->depth--;
    } else if (own != NULL) {
        remove_use(own);
        free(own);
    }
    NEXT(funlockfile)(file);
}

void posix__forget(FILE *file)
{
    struct posix__use *own = uses != NULL ? own_use(file) : NULL;

    if (own == NULL)
        return;
    remove_use(own);
    free(own);
}

/* ---- which calls the C library may do ---------------------------------------------- */

/* glibc's flag _IO_IS_FILEBUF, which is not set for streams in memory. */
#define IS_OF_A_DESCRIPTOR 0x2000

bool posix__has_descriptor(const FILE *file)
{
    return file != NULL && (file->_flags & IS_OF_A_DESCRIPTOR) != 0 && file->_fileno >= 0;
}

/* True for FILEs that only the C library handles: FILEs without a descriptor, and FILEs
 * of wide characters. */
static bool is_libc_only(const FILE *file)
{
    return !posix__has_descriptor(file) || file->_mode > 0;
}

bool posix__libc_handles(const FILE *file)
{
    return is_libc_only(file) || !posix__may_wait();
}

bool posix__libc_handles_get(const FILE *file)
{
    if (is_libc_only(file))
        return true;
    if (file->_IO_read_ptr < file->_IO_read_end && !is_another_tasks(file))
        return true;
    return !posix__may_wait();
}

bool posix__libc_handles_put(const FILE *file)
{
    if (is_libc_only(file))
        return true;
    if (file->_IO_write_ptr < file->_IO_write_end && !is_another_tasks(file))
        return true;
    return !posix__may_wait();
}

/* ---- one byte, under the lock ------------------------------------------------------ */

static inline bool has_byte(const FILE *file)
{
    return file->_IO_read_ptr < file->_IO_read_end && !is_libc_only(file) &&
           !is_another_tasks(file);
}

static inline bool has_room(const FILE *file)
{
    return file->_IO_write_ptr < file->_IO_write_end && !is_libc_only(file) &&
           !is_another_tasks(file);
}

/*
 * Lock the FILE unless another thread has locked it. In a single-threaded process no lock
 * is needed, and locking would take longer than the rest of the call.
 */
static inline bool lock_at_once(FILE *file)
{
    return __libc_single_threaded || NEXT(ftrylockfile)(file) == 0;
}

static inline void unlock_at_once(FILE *file)
{
    if (!__libc_single_threaded)
        NEXT(funlockfile)(file);
}

/* Another thread may have used the FILE before it was locked, so check the buffer
   again. */

bool posix__get_at_once(FILE *file, int *c)
{
    bool has;

    if (!has_byte(file) || !lock_at_once(file))
        return false;
    has = has_byte(file);
    if (has)
        *c = (unsigned char)*file->_IO_read_ptr++;
    unlock_at_once(file);
    return has;
}

bool posix__put_at_once(FILE *file, int c)
{
    bool has;

    if (!has_room(file) || !lock_at_once(file))
        return false;
    has = has_room(file);
    if (has)
        *file->_IO_write_ptr++ = (char)c;
    unlock_at_once(file);
    return has;
}

/* ---- reading ----------------------------------------------------------------------- */

size_t posix__available(const FILE *file)
{
    return (size_t)(file->_IO_read_end - file->_IO_read_ptr);
}

/* Like the C library, flush a line-buffered stdout before reading from a FILE that is
 * line buffered or unbuffered: the user must see the prompt before answering it. */
static void flush_prompt(const FILE *file)
{
    struct posix__use use;
    int saved = errno;

    if (!(file->_flags & (UNBUFFERED | LINE_BUFFERED)) ||
        !(stdout->_flags & LINE_BUFFERED) || stdout == file || is_libc_only(stdout) ||
        is_another_tasks(stdout) || !posix__begin_use(&use, stdout))
        return;
    posix__drain(stdout);
    posix__end_use(&use);
    errno = saved;
}

/*
 * Empty the buffer, so that it can be used for reading. Returns false if bytes in the
 * buffer could not be written.
 */
static bool turn_to_reading(FILE *file)
{
    if (file->_flags & PUTTING) {
        if (posix__drain(file) < 0)
            return false;
        _IO_switch_to_get_mode(file);
    }
    if (file->_IO_buf_base == NULL)
        _IO_doallocbuf(file);
    if (file->_mode == 0)
        fwide(file, -1);
    flush_prompt(file);
    file->_IO_read_base = file->_IO_read_ptr = file->_IO_read_end = file->_IO_buf_base;
    file->_IO_write_base = file->_IO_write_ptr = file->_IO_write_end = file->_IO_buf_base;
    return true;
}

/* Read, and update the FILE's flags and offset like the C library. At the end of the file
 * errno is unchanged, because many callers use it to distinguish the end from a
 * failure. */
static ssize_t read_and_note(FILE *file, void *to, size_t n)
{
    int saved = errno;
    ssize_t got = posix__read(file->_fileno, to, n);

    if (got >= 0)
        errno = saved;
    if (got == 0)
        file->_flags |= EOF_SEEN;
    else if (got < 0)
        file->_flags |= ERROR_SEEN;
    else if (file->_offset >= 0)
        file->_offset += got;
    return got;
}

/* True if ungetc() has switched the FILE to a backup buffer. In that case the main buffer
 * may contain more bytes, and only the C library can switch back to it. */
static bool has_backup(const FILE *file)
{
    return file->_flags & IN_BACKUP || file->_markers != NULL ||
           file->_IO_save_base != NULL;
}

bool posix__reads_past(const FILE *file)
{
    return __freadable((FILE *)file) && !has_backup(file) &&
           !posix__is_always_ready(file->_fileno);
}

ssize_t posix__read_past(FILE *file, void *to, size_t n)
{
    if (!turn_to_reading(file))
        return -1;
    return read_and_note(file, to, n);
}

static int refill_buffer(FILE *file)
{
    ssize_t n;

    if (!turn_to_reading(file))
        return -1;
    n = read_and_note(file, file->_IO_buf_base,
                      (size_t)(file->_IO_buf_end - file->_IO_buf_base));
    if (n > 0)
        file->_IO_read_end += n;
    return n > 0 ? 1 : (int)n;
}

static int fill_by_libc(FILE *file)
{
    if (NEXT(__underflow)(file) != EOF)
        return 1;
    return file->_flags & ERROR_SEEN ? -1 : 0;
}

int posix__fill(FILE *file)
{
    struct posix__waiting w = {.fd = file->_fileno, .events = POLLIN};
    bool main_is_empty =
        !(file->_flags & IN_BACKUP) || file->_IO_save_base == file->_IO_save_end;

    if (file->_IO_read_ptr < file->_IO_read_end)
        return 1;
    posix__fairly();
    if (file->_flags & EOF_SEEN || !__freadable(file) || !main_is_empty ||
        posix__is_always_ready(file->_fileno))
        return fill_by_libc(file);
    if (!has_backup(file))
        return refill_buffer(file);
    if (posix__blocks(file->_fileno) && posix__await(&w) < 0) {
        file->_flags |= ERROR_SEEN;
        return -1;
    }
    return fill_by_libc(file);
}

/* ---- writing ----------------------------------------------------------------------- */

/* Set the pointers as the C library does after it has written the buffer. */
static void empty_buffer(FILE *file)
{
    bool one_by_one = file->_flags & (UNBUFFERED | LINE_BUFFERED);

    file->_IO_read_base = file->_IO_read_ptr = file->_IO_read_end = file->_IO_buf_base;
    file->_IO_write_base = file->_IO_write_ptr = file->_IO_buf_base;
    file->_IO_write_end = one_by_one ? file->_IO_buf_base : file->_IO_buf_end;
}

void posix__discard(FILE *file)
{
    if (file->_flags & PUTTING && file->_IO_write_ptr > file->_IO_write_base)
        empty_buffer(file);
}

/* As in the C library, the buffered data is lost after a failure. After a cancellation,
 * the data stays in the buffer for the next flush. */
int posix__drain(FILE *file)
{
    if (!(file->_flags & PUTTING) || file->_IO_write_ptr == file->_IO_write_base)
        return 0;
    if (posix__is_always_ready(file->_fileno) ||
        file->_IO_read_end != file->_IO_write_base) /* the C library must seek first */
        return NEXT(fflush_unlocked)(file) == 0 ? 0 : -1;
    while (file->_IO_write_ptr > file->_IO_write_base) {
        size_t buffered = (size_t)(file->_IO_write_ptr - file->_IO_write_base);
        ssize_t n = posix__write(file->_fileno, file->_IO_write_base, buffered);

        if (n < 0) {
            file->_flags |= ERROR_SEEN;
            if (errno != ECANCELED)
                empty_buffer(file);
            return -1;
        }
        memmove(file->_IO_write_base, file->_IO_write_base + n, buffered - (size_t)n);
        file->_IO_write_ptr -= n;
        if (file->_offset >= 0)
            file->_offset += n;
    }
    empty_buffer(file);
    return 0;
}

/*
 * Switch the FILE to writing. __overflow() does this, and writes no byte if its argument
 * is EOF.
 */
static bool turn_to_writing(FILE *file)
{
    if (file->_flags & PUTTING && file->_IO_write_base != NULL)
        return true;
    return NEXT(__overflow)(file, EOF) != EOF;
}

/* Write directly from the caller's memory. The buffer must be empty. Returns the number
 * of bytes written. */
static size_t write_past(FILE *file, const char *from, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t written = posix__write(file->_fileno, from + done, n - done);

        if (written < 0) {
            file->_flags |= ERROR_SEEN;
            break;
        }
        done += (size_t)written;
        if (file->_offset >= 0)
            file->_offset += written;
    }
    return done;
}

static size_t copy_to_buffer(FILE *file, const char *from, size_t n)
{
    size_t room = (size_t)(file->_IO_buf_end - file->_IO_write_ptr);
    size_t taken = n < room ? n : room;

    memcpy(file->_IO_write_ptr, from, taken);
    file->_IO_write_ptr += taken;
    return taken;
}

/*
 * Fill the buffer and write it, write as many whole buffers as possible directly from the
 * caller's memory, and store the rest in the buffer. Returns the number of bytes written
 * or stored.
 */
static size_t put_buffered(FILE *file, const char *from, size_t n)
{
    size_t size = (size_t)(file->_IO_buf_end - file->_IO_buf_base), done;

    done = copy_to_buffer(file, from, n);
    if (done == n)
        return n;
    if (posix__drain(file) < 0)
        return done;
    if (n - done >= size) {
        size_t whole = (n - done) - (n - done) % size;
        size_t written = write_past(file, from + done, whole);

        done += written;
        if (written < whole)
            return done;
    }
    return done + copy_to_buffer(file, from + done, n - done);
}

/* Return how many bytes must be written now. Depending on the buffering mode, these are
 * all bytes, the bytes up to the last newline, or none. */
static size_t bytes_to_flush(const FILE *file, const char *from, size_t n)
{
    const char *end;

    if (file->_flags & UNBUFFERED)
        return n;
    if (!(file->_flags & LINE_BUFFERED))
        return 0;
    end = memrchr(from, '\n', n);
    return end != NULL ? (size_t)(end + 1 - from) : 0;
}

static size_t put_by_mode(FILE *file, const char *from, size_t n)
{
    size_t now, done;
    bool fits;

    if (!turn_to_writing(file))
        return 0;
    now = bytes_to_flush(file, from, n);
    fits = now == 0 && n <= (size_t)(file->_IO_buf_end - file->_IO_write_ptr);
    if (!fits && posix__is_always_ready(file->_fileno))
        return NEXT(fwrite_unlocked)(from, 1, n, file);
    posix__fairly();
    if (file->_flags & UNBUFFERED)
        return posix__drain(file) < 0 ? 0 : write_past(file, from, n);
    done = put_buffered(file, from, now);
    if (done < now || (now > 0 && posix__drain(file) < 0))
        return done < now ? done : 0;
    return done + put_buffered(file, from + done, n - now);
}

size_t posix__put(FILE *file, const void *from, size_t n)
{
    int saved = errno;
    size_t done = put_by_mode(file, from, n);

    if (done == n)
        errno = saved;
    return done;
}
