/*
 * buffered_write.c - fwrite(3), fputs(3), printf(3) and their relatives, flushing,
 * closing, and pclose(3).
 *
 * printf() formats its text in memory with the C library's vsnprintf(), and then puts the
 * whole text into the FILE.
 */
#include "buffered.h"

#include <coil/poll.h>

#include <limits.h>
#include <string.h>

#undef fwrite_unlocked /* glibc's header may also define it as a macro */

/* ---- one byte ---------------------------------------------------------------------- */

static size_t put_in_task(const void *from, size_t n, FILE *file)
{
    struct posix__use use;
    size_t done;

    if (n == 0 || !posix__begin_use(&use, file))
        return 0;
    done = posix__put(file, from, n);
    posix__end_use(&use);
    return done;
}

static int put_byte(int c, FILE *file)
{
    unsigned char byte = (unsigned char)c;

    return put_in_task(&byte, 1, file) == 1 ? byte : EOF;
}

static int put_byte_locked(int c, FILE *file)
{
    if (posix__put_at_once(file, c))
        return (unsigned char)c;
    return posix__libc_handles(file) ? NEXT(putc)(c, file) : put_byte(c, file);
}

INTERPOSE int fputc(int c, FILE *file)
{
    return IN_TASK() ? put_byte_locked(c, file) : NEXT(fputc)(c, file);
}

INTERPOSE int putc(int c, FILE *file)
{
    return IN_TASK() ? put_byte_locked(c, file) : NEXT(putc)(c, file);
}

INTERPOSE int putchar(int c)
{
    return IN_TASK() ? put_byte_locked(c, stdout) : NEXT(putchar)(c);
}

#define PUTS_ONE(name)                                                                   \
    INTERPOSE int name(int c, FILE *file)                                                \
    {                                                                                    \
        if (!IN_TASK() || posix__libc_handles_put(file))                                 \
            return NEXT(name)(c, file);                                                  \
        return put_byte(c, file);                                                        \
    }

PUTS_ONE(fputc_unlocked)
PUTS_ONE(putc_unlocked)

INTERPOSE int putchar_unlocked(int c)
{
    if (!IN_TASK() || posix__libc_handles_put(stdout))
        return NEXT(putchar_unlocked)(c);
    return put_byte(c, stdout);
}

/* called by an inlined putc_unlocked() */
INTERPOSE int __overflow(FILE *file, int c)
{
    if (!IN_TASK() || c == EOF || posix__libc_handles(file))
        return NEXT(__overflow)(file, c);
    return put_byte(c, file);
}

/* ---- n bytes ----------------------------------------------------------------------- */

static size_t write_in_task(const void *from, size_t size, size_t n, FILE *file)
{
    size_t done = put_in_task(from, size * n, file);

    return size == 0 ? 0 : done == size * n ? n : done / size;
}

INTERPOSE size_t fwrite(const void *restrict from, size_t size, size_t n,
                        FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fwrite)(from, size, n, file);
    return write_in_task(from, size, n, file);
}

INTERPOSE size_t fwrite_unlocked(const void *restrict from, size_t size, size_t n,
                                 FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fwrite_unlocked)(from, size, n, file);
    return write_in_task(from, size, n, file);
}

static int puts_in_task(const char *text, FILE *file)
{
    size_t n = strlen(text);

    return put_in_task(text, n, file) == n ? 1 : EOF;
}

INTERPOSE int fputs(const char *restrict text, FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fputs)(text, file);
    return puts_in_task(text, file);
}

INTERPOSE int fputs_unlocked(const char *restrict text, FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fputs_unlocked)(text, file);
    return puts_in_task(text, file);
}

/*
 * Write a line and its newline during a single use of the FILE, so that no other task can
 * write between the two.
 */
static int put_line(const char *text)
{
    struct posix__use use;
    size_t n = strlen(text);
    bool all;

    if (!posix__begin_use(&use, stdout))
        return EOF;
    all = posix__put(stdout, text, n) == n && posix__put(stdout, "\n", 1) == 1;
    posix__end_use(&use);
    if (!all)
        return EOF;
    return n < INT_MAX ? (int)n + 1 : INT_MAX;
}

INTERPOSE int puts(const char *text)
{
    if (!IN_TASK() || posix__libc_handles(stdout))
        return NEXT(puts)(text);
    return put_line(text);
}

/* ---- printf() ---------------------------------------------------------------------- */

#define USUAL 512 /* longest text, in bytes, that is formatted on the stack */

/* Print to the FILE, or to the descriptor if `file` is NULL. */
static bool put_text(FILE *file, int fd, const char *text, size_t n)
{
    if (file != NULL)
        return n == 0 || put_in_task(text, n, file) == n;
    while (n > 0) {
        ssize_t done = write(fd, text, n);

        if (done < 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

/* Like vsnprintf(). `flag` is the argument of the functions that _FORTIFY_SOURCE calls,
 * or -1. */
static int format_text(char *to, size_t room, int flag, const char *format, va_list args)
{
    va_list copy;
    int n;

    va_copy(copy, args);
    n = flag < 0 ? vsnprintf(to, room, format, copy)
                 : __vsnprintf_chk(to, room, flag, room, format, copy);
    va_end(copy);
    return n;
}

static int print_in_task(FILE *file, int fd, int flag, const char *format, va_list args)
{
    char usual[USUAL], *text = usual;
    int n = format_text(usual, sizeof usual, flag, format, args), saved;

    if (n >= USUAL) {
        text = malloc((size_t)n + 1);
        if (text == NULL)
            return -1;
        n = format_text(text, (size_t)n + 1, flag, format, args);
    }
    if (n >= 0 && !put_text(file, fd, text, (size_t)n))
        n = -1;
    saved = errno;
    if (text != usual)
        free(text);
    errno = saved;
    return n;
}

#define PRINTS(file) (IN_TASK() && !posix__libc_handles(file))

#define WITH_ARGS(last, call)                                                            \
    __extension__({                                                                      \
        va_list args;                                                                    \
        int n;                                                                           \
                                                                                         \
        va_start(args, last);                                                            \
        n = (call);                                                                      \
        va_end(args);                                                                    \
        n;                                                                               \
    })

INTERPOSE int vfprintf(FILE *restrict file, const char *restrict format, va_list args)
{
    if (!PRINTS(file))
        return NEXT(vfprintf)(file, format, args);
    return print_in_task(file, -1, -1, format, args);
}

INTERPOSE int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    return WITH_ARGS(format, PRINTS(file) ? print_in_task(file, -1, -1, format, args)
                                          : NEXT(vfprintf)(file, format, args));
}

INTERPOSE int vprintf(const char *restrict format, va_list args)
{
    if (!PRINTS(stdout))
        return NEXT(vfprintf)(stdout, format, args);
    return print_in_task(stdout, -1, -1, format, args);
}

INTERPOSE int printf(const char *restrict format, ...)
{
    return WITH_ARGS(format, PRINTS(stdout) ? print_in_task(stdout, -1, -1, format, args)
                                            : NEXT(vfprintf)(stdout, format, args));
}

INTERPOSE int __vfprintf_chk(FILE *restrict file, int flag, const char *restrict format,
                             va_list args)
{
    if (!PRINTS(file))
        return NEXT(__vfprintf_chk)(file, flag, format, args);
    return print_in_task(file, -1, flag, format, args);
}

INTERPOSE int __fprintf_chk(FILE *restrict file, int flag, const char *restrict format,
                            ...)
{
    return WITH_ARGS(format, PRINTS(file)
                                 ? print_in_task(file, -1, flag, format, args)
                                 : NEXT(__vfprintf_chk)(file, flag, format, args));
}

INTERPOSE int __vprintf_chk(int flag, const char *restrict format, va_list args)
{
    if (!PRINTS(stdout))
        return NEXT(__vfprintf_chk)(stdout, flag, format, args);
    return print_in_task(stdout, -1, flag, format, args);
}

INTERPOSE int __printf_chk(int flag, const char *restrict format, ...)
{
    return WITH_ARGS(format, PRINTS(stdout)
                                 ? print_in_task(stdout, -1, flag, format, args)
                                 : NEXT(__vfprintf_chk)(stdout, flag, format, args));
}

INTERPOSE int vdprintf(int fd, const char *restrict format, va_list args)
{
    if (!IN_TASK())
        return NEXT(vdprintf)(fd, format, args);
    return print_in_task(NULL, fd, -1, format, args);
}

INTERPOSE int dprintf(int fd, const char *restrict format, ...)
{
    return WITH_ARGS(format, IN_TASK() ? print_in_task(NULL, fd, -1, format, args)
                                       : NEXT(vdprintf)(fd, format, args));
}

INTERPOSE int __vdprintf_chk(int fd, int flag, const char *restrict format, va_list args)
{
    if (!IN_TASK())
        return NEXT(__vdprintf_chk)(fd, flag, format, args);
    return print_in_task(NULL, fd, flag, format, args);
}

INTERPOSE int __dprintf_chk(int fd, int flag, const char *restrict format, ...)
{
    return WITH_ARGS(format, IN_TASK() ? print_in_task(NULL, fd, flag, format, args)
                                       : NEXT(__vdprintf_chk)(fd, flag, format, args));
}

/* ---- flushing and closing ---------------------------------------------------------- */

static int flush_in_task(FILE *file)
{
    struct posix__use use;
    int rc;

    if (!posix__begin_use(&use, file))
        return EOF;
    rc = posix__drain(file) < 0 ? EOF : NEXT(fflush_unlocked)(file);
    posix__end_use(&use);
    return rc;
}

/*
 * fflush(NULL). Flush stdout and stderr in the task. The list of all other FILEs is
 * private to the C library, so the C library flushes those, and may block.
 */
static int flush_all(void)
{
    int rc = 0;

    if (!posix__libc_handles(stdout) && flush_in_task(stdout) < 0)
        rc = EOF;
    if (!posix__libc_handles(stderr) && flush_in_task(stderr) < 0)
        rc = EOF;
    return rc < 0 ? rc : NEXT(fflush)(NULL);
}

INTERPOSE int fflush(FILE *file)
{
    if (!IN_TASK())
        return NEXT(fflush)(file);
    if (file == NULL)
        return flush_all();
    return posix__libc_handles(file) ? NEXT(fflush)(file) : flush_in_task(file);
}

INTERPOSE int fflush_unlocked(FILE *file)
{
    if (!IN_TASK())
        return NEXT(fflush_unlocked)(file);
    if (file == NULL)
        return flush_all();
    return posix__libc_handles(file) ? NEXT(fflush_unlocked)(file) : flush_in_task(file);
}

/*
 * Flush the FILE before fclose(). Drop the bytes that cannot be written, because the C
 * library would otherwise try again and block. Returns 0, or the errno that fclose() has
 * to report.
 */
static int flush_for_close(FILE *file)
{
    struct posix__use use;
    int error = 0;

    if (!posix__begin_use(&use, file))
        return errno;
    if (posix__drain(file) < 0)
        error = errno;
    posix__discard(file);
    posix__end_use(&use);
    return error;
}

INTERPOSE int fclose(FILE *file)
{
    int error = 0, rc;

    if (posix__has_descriptor(file))
        coil_poll_end(file->_fileno);
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fclose)(file);
    error = flush_for_close(file);
    posix__forget(file);
    rc = NEXT(fclose)(file);
    if (error != 0)
        errno = error;
    return error != 0 ? EOF : rc;
}

/* ---- pclose() ---------------------------------------------------------------------- */

/*
 * A pclose() on a thread of the waiting lane (posix__waiting_lane()). Only the C
 * library's pclose() can wait for the child, because the C library has recorded which
 * child popen() started for the FILE.
 */
struct command {
    FILE *stream;
    int status, error;
    bool begun;
};

static int pclose_on_lane(void *arg)
{
    struct command *c = arg;

    c->begun = true;
    c->status = NEXT(pclose)(c->stream);
    c->error = errno;
    return 0;
}

static void *pclose_on_own_thread(void *stream)
{
    NEXT(pclose)(stream);
    return NULL;
}

/*
 * Called after a cancellation. If no thread of the lane has begun the pclose(), start a
 * separate thread that closes the stream, so that the child does not remain a zombie.
 */
static void abandon_command(void *arg)
{
    struct command *c = arg;
    pthread_t thread;

    if (!c->begun && pthread_create(&thread, NULL, pclose_on_own_thread, c->stream) == 0)
        pthread_detach(thread);
    free(c);
}

static int pclose_in_task(FILE *file)
{
    struct command *c = malloc(sizeof *c);
    int rc = -ENOMEM, status;
    coil_lane lane;

    if (c != NULL && posix__waiting_lane(&lane)) {
        *c = (struct command){.stream = file};
        rc = posix__blocking_abandonable(lane, pclose_on_lane, c, abandon_command);
    }
    if (rc == -ECANCELED) {
        errno = ECANCELED; /* abandon_command() owns `c` now */
        return -1;
    }
    if (rc < 0) {
        free(c);
        return NEXT(pclose)(file); /* without a thread or a lane, block this thread */
    }
    status = c->status;
    errno = c->error;
    free(c);
    return status;
}

INTERPOSE int pclose(FILE *file)
{
    if (posix__has_descriptor(file))
        coil_poll_end(file->_fileno);
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(pclose)(file);
    posix__forget(file);
    return pclose_in_task(file);
}
