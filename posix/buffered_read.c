/*
 * buffered_read.c - fread(3), fgets(3), getline(3), scanf(3) and their relatives.
 *
 * Each function behaves like the C library's, except that posix__fill() fills the buffer
 * and suspends the task. scanf() is an exception: it calls the C library's own function
 * on a FILE made by fopencookie(3), whose callback reads one byte at a time from the
 * caller's FILE.
 */
#include "buffered.h"
#include "receive.h"

#include <limits.h>
#include <stdio_ext.h>
#include <string.h>

#undef fread_unlocked /* glibc's header may also define it as a macro */

/* ---- one byte ---------------------------------------------------------------------- */

static int get_byte(FILE *file)
{
    return posix__fill(file) > 0 ? (unsigned char)*file->_IO_read_ptr++ : EOF;
}

static int get_byte_in_task(FILE *file)
{
    struct posix__use use;
    int c;

    if (!posix__begin_use(&use, file))
        return EOF;
    c = get_byte(file);
    posix__end_use(&use);
    return c;
}

static int get_byte_locked(FILE *file)
{
    int c;

    if (posix__get_at_once(file, &c))
        return c;
    return posix__libc_handles(file) ? NEXT(getc)(file) : get_byte_in_task(file);
}

INTERPOSE int fgetc(FILE *file)
{
    return IN_TASK() ? get_byte_locked(file) : NEXT(fgetc)(file);
}

INTERPOSE int getc(FILE *file)
{
    return IN_TASK() ? get_byte_locked(file) : NEXT(getc)(file);
}

INTERPOSE int getchar(void)
{
    return IN_TASK() ? get_byte_locked(stdin) : NEXT(getchar)();
}

#define GETS_ONE(name)                                                                   \
    INTERPOSE int name(FILE *file)                                                       \
    {                                                                                    \
        if (!IN_TASK() || posix__libc_handles_get(file))                                 \
            return NEXT(name)(file);                                                     \
        return get_byte_in_task(file);                                                   \
    }

GETS_ONE(fgetc_unlocked)
GETS_ONE(getc_unlocked)
GETS_ONE(__uflow) /* called by an inlined getc_unlocked() */

INTERPOSE int getchar_unlocked(void)
{
    if (!IN_TASK() || posix__libc_handles_get(stdin))
        return NEXT(getchar_unlocked)();
    return get_byte_in_task(stdin);
}

INTERPOSE int __underflow(FILE *file)
{
    struct posix__use use;
    int c = EOF;

    if (!IN_TASK() || posix__libc_handles_get(file))
        return NEXT(__underflow)(file);
    if (!posix__begin_use(&use, file))
        return EOF;
    if (posix__fill(file) > 0)
        c = (unsigned char)*file->_IO_read_ptr;
    posix__end_use(&use);
    return c;
}

/* ---- n bytes ----------------------------------------------------------------------- */

static size_t take_from_buffer(FILE *file, char *to, size_t n)
{
    size_t available = posix__available(file);

    if (n > available)
        n = available;
    if (n == 0)
        return 0; /* the buffer may be NULL, which memcpy() does not allow */
    memcpy(to, file->_IO_read_ptr, n);
    file->_IO_read_ptr += n;
    return n;
}

/*
 * Read whole multiples of the buffer's size directly into the caller's memory, and the
 * rest through the buffer.
 */
static size_t get_bytes(FILE *file, char *to, size_t n)
{
    size_t done = take_from_buffer(file, to, n);

    while (done < n) {
        size_t size = (size_t)(file->_IO_buf_end - file->_IO_buf_base);
        ssize_t got = 1;

        if (size > 1 && n - done >= size && posix__reads_past(file)) {
            got = posix__read_past(file, to + done, n - done - (n - done) % size);
            done += got > 0 ? (size_t)got : 0;
        } else if ((got = posix__fill(file)) > 0) {
            done += take_from_buffer(file, to + done, n - done);
        }
        if (got <= 0)
            break;
    }
    return done;
}

static size_t read_in_task(void *to, size_t size, size_t n, FILE *file)
{
    struct posix__use use;
    size_t done;

    if (size == 0 || n == 0 || !posix__begin_use(&use, file))
        return 0;
    done = posix__available(file) < size * n && posix__is_always_ready(file->_fileno)
               ? NEXT(fread_unlocked)(to, 1, size * n, file)
               : get_bytes(file, to, size * n);
    posix__end_use(&use);
    return done == size * n ? n : done / size;
}

INTERPOSE size_t fread(void *restrict to, size_t size, size_t n, FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fread)(to, size, n, file);
    return read_in_task(to, size, n, file);
}

INTERPOSE size_t fread_unlocked(void *restrict to, size_t size, size_t n,
                                FILE *restrict file)
{
    if (!IN_TASK() || posix__libc_handles(file))
        return NEXT(fread_unlocked)(to, size, n, file);
    return read_in_task(to, size, n, file);
}

/*
 * True if the bytes do not fit, in which case the C library's checking function aborts.
 */
static bool exceeds_room(size_t room, size_t size, size_t n)
{
    return size != 0 && n > room / size;
}

INTERPOSE size_t __fread_chk(void *restrict to, size_t room, size_t size, size_t n,
                             FILE *restrict file)
{
    if (!IN_TASK() || exceeds_room(room, size, n) || posix__libc_handles(file))
        return NEXT(__fread_chk)(to, room, size, n, file);
    return read_in_task(to, size, n, file);
}

INTERPOSE size_t __fread_unlocked_chk(void *restrict to, size_t room, size_t size,
                                      size_t n, FILE *restrict file)
{
    if (!IN_TASK() || exceeds_room(room, size, n) || posix__libc_handles(file))
        return NEXT(__fread_unlocked_chk)(to, room, size, n, file);
    return read_in_task(to, size, n, file);
}

/* ---- a line ------------------------------------------------------------------------ */

/* Return the number of bytes in the buffer up to and including the delimiter, or all of
 * them if the buffer does not contain the delimiter. */
static size_t length_of_line(const FILE *file, int delimiter, bool *ends)
{
    size_t n = posix__available(file);
    const char *end = memchr(file->_IO_read_ptr, delimiter, n);

    *ends = end != NULL;
    return end != NULL ? (size_t)(end + 1 - file->_IO_read_ptr) : n;
}

/*
 * Read a line. After EAGAIN, return the part of the line that was read, as glibc does.
 * The next call returns the rest.
 */
static char *get_line(char *to, size_t room, FILE *file)
{
    bool ends = false, failed = false;
    size_t done = 0;
    int got = 0;

    while (done < room && !ends && (got = posix__fill(file)) > 0) {
        size_t n = length_of_line(file, '\n', &ends);

        ends = ends && n <= room - done;
        done += take_from_buffer(file, to + done, n < room - done ? n : room - done);
    }
    failed = done < room && !ends && got < 0;
    if (done == 0 || (failed && errno != EAGAIN))
        return NULL;
    to[done] = '\0';
    return to;
}

static char *gets_in_task(char *to, int size, FILE *file)
{
    struct posix__use use;

    if (!posix__begin_use(&use, file))
        return NULL;
    to = get_line(to, (size_t)size - 1, file);
    posix__end_use(&use);
    return to;
}

/*
 * True if the C library can perform the whole call: either posix__libc_handles() is true,
 * or there is no space for a byte, so nothing is read.
 */
static bool libc_handles_gets(const FILE *file, int size)
{
    return size < 2 || posix__libc_handles(file);
}

INTERPOSE char *fgets(char *restrict to, int size, FILE *restrict file)
{
    if (!IN_TASK() || libc_handles_gets(file, size))
        return NEXT(fgets)(to, size, file);
    return gets_in_task(to, size, file);
}

INTERPOSE char *fgets_unlocked(char *restrict to, int size, FILE *restrict file)
{
    if (!IN_TASK() || libc_handles_gets(file, size))
        return NEXT(fgets_unlocked)(to, size, file);
    return gets_in_task(to, size, file);
}

INTERPOSE char *__fgets_chk(char *restrict to, size_t room, int size, FILE *restrict file)
{
    if (!IN_TASK() || libc_handles_gets(file, size) || (size_t)size > room)
        return NEXT(__fgets_chk)(to, room, size, file);
    return gets_in_task(to, size, file);
}

INTERPOSE char *__fgets_unlocked_chk(char *restrict to, size_t room, int size,
                                     FILE *restrict file)
{
    if (!IN_TASK() || libc_handles_gets(file, size) || (size_t)size > room)
        return NEXT(__fgets_unlocked_chk)(to, room, size, file);
    return gets_in_task(to, size, file);
}

/* Make space for `n` bytes and the terminating NUL, as getline(3) does. `*line` is NULL,
 * or memory that the caller got from malloc(). */
static bool grow_line(char **line, size_t *room, size_t n)
{
    size_t wanted = n + 1 > 2 * *room ? n + 1 : 2 * *room;
    char *larger;

    if (n < *room && *line != NULL)
        return true;
    larger = realloc(*line, wanted < 120 ? 120 : wanted);
    if (larger == NULL)
        return false;
    *room = wanted < 120 ? 120 : wanted;
    *line = larger;
    return true;
}

/*
 * Read a line, which ends at a delimiter, at the end of the file or at a failure. Returns
 * the line's length, or -1 if nothing was read, the line is too long or memory ran out.
 */
static ssize_t get_delimited(char **line, size_t *room, int delimiter, FILE *file)
{
    bool ends = false;
    size_t done = 0;

    if (*line == NULL)
        *room = 0;
    while (!ends && posix__fill(file) > 0) {
        size_t n = length_of_line(file, delimiter, &ends);

        if (n >= SSIZE_MAX - done) {
            errno = EOVERFLOW;
            return -1;
        }
        if (!grow_line(line, room, done + n))
            return -1;
        done += take_from_buffer(file, *line + done, n);
    }
    if (done == 0)
        return -1;
    (*line)[done] = '\0';
    return (ssize_t)done;
}

static ssize_t line_in_task(char **line, size_t *room, int delimiter, FILE *file)
{
    struct posix__use use;
    ssize_t n;

    if (!posix__begin_use(&use, file))
        return -1;
    n = get_delimited(line, room, delimiter, file);
    posix__end_use(&use);
    return n;
}

INTERPOSE ssize_t getdelim(char **restrict line, size_t *restrict room, int delimiter,
                           FILE *restrict file)
{
    if (!IN_TASK() || line == NULL || room == NULL || posix__libc_handles(file))
        return NEXT(getdelim)(line, room, delimiter, file);
    return line_in_task(line, room, delimiter, file);
}

INTERPOSE ssize_t __getdelim(char **restrict line, size_t *restrict room, int delimiter,
                             FILE *restrict file)
{
    if (!IN_TASK() || line == NULL || room == NULL || posix__libc_handles(file))
        return NEXT(__getdelim)(line, room, delimiter, file);
    return line_in_task(line, room, delimiter, file);
}

INTERPOSE ssize_t getline(char **restrict line, size_t *restrict room,
                          FILE *restrict file)
{
    if (!IN_TASK() || line == NULL || room == NULL || posix__libc_handles(file))
        return NEXT(getline)(line, room, file);
    return line_in_task(line, room, '\n', file);
}

/* ---- scanf() ----------------------------------------------------------------------- */

/*
 * The cookie's read callback, which returns one byte at a time, because more bytes could
 * not be pushed back to the caller's FILE.
 */
static ssize_t read_one_byte(void *file, char *to, size_t n)
{
    int c = n > 0 ? get_byte(file) : EOF;

    if (c != EOF)
        *to = (char)c;
    return c != EOF ? 1 : ferror_unlocked((FILE *)file) ? -1 : 0;
}

typedef int scan_fn(FILE *restrict file, const char *restrict format, va_list args);

/*
 * Call a scanf() function on the cookie's FILE. If a byte does not match, the function
 * leaves it in that FILE, so push the byte back to the caller's FILE.
 */
static int scan_through_cookie(scan_fn *fn, FILE *file, const char *format, va_list args)
{
    cookie_io_functions_t functions = {.read = read_one_byte};
    FILE *through = fopencookie(file, "r", functions);
    int count, saved;

    if (through == NULL)
        return EOF;
    setvbuf(through, NULL, _IONBF, 0);
    count = fn(through, format, args);
    saved = errno;
    if (posix__available(through) > 0)
        ungetc(NEXT(getc_unlocked)(through), file);
    NEXT(fclose)(through);
    errno = saved;
    return count;
}

static int scan_in_task(scan_fn *fn, FILE *file, const char *format, va_list args)
{
    struct posix__use use;
    int count;

    if (!posix__begin_use(&use, file))
        return EOF;
    count = scan_through_cookie(fn, file, format, args);
    posix__end_use(&use);
    return count;
}

/* Each scanf() calls the vfscanf() of the same C standard, which takes a va_list. */
#define SCAN(fn, file, format)                                                           \
    __extension__({                                                                      \
        va_list args;                                                                    \
        int count;                                                                       \
                                                                                         \
        va_start(args, format);                                                          \
        count = !IN_TASK() || posix__libc_handles(file)                                  \
                    ? NEXT(fn)(file, format, args)                                       \
                    : scan_in_task(NEXT(fn), file, format, args);                        \
        va_end(args);                                                                    \
        count;                                                                           \
    })

#define SCAN_ARGS(fn, file, format, args)                                                \
    (!IN_TASK() || posix__libc_handles(file)                                             \
         ? NEXT(fn)(file, format, args)                                                  \
         : scan_in_task(NEXT(fn), file, format, args))

/*
 * glibc's headers redirect scanf() and its relatives to the names of a C standard, so the
 * plain symbols are defined with assembler names.
 */
int gnu_fscanf(FILE *restrict file, const char *restrict format, ...) __asm__("fscanf");
int gnu_scanf(const char *restrict format, ...) __asm__("scanf");
int gnu_vfscanf(FILE *restrict file, const char *restrict format,
                va_list args) __asm__("vfscanf");
int gnu_vscanf(const char *restrict format, va_list args) __asm__("vscanf");

/*
 * Define the four functions of one C standard. `fn` is the C library's vfscanf() for that
 * standard.
 */
#define SCANNERS(fscanf_, scanf_, vfscanf_, vscanf_, fn)                                 \
    INTERPOSE int fscanf_(FILE *restrict file, const char *restrict format, ...)         \
    {                                                                                    \
        return SCAN(fn, file, format);                                                   \
    }                                                                                    \
    INTERPOSE int scanf_(const char *restrict format, ...)                               \
    {                                                                                    \
        return SCAN(fn, stdin, format);                                                  \
    }                                                                                    \
    INTERPOSE int vfscanf_(FILE *restrict file, const char *restrict format,             \
                           va_list args)                                                 \
    {                                                                                    \
        return SCAN_ARGS(fn, file, format, args);                                        \
    }                                                                                    \
    INTERPOSE int vscanf_(const char *restrict format, va_list args)                     \
    {                                                                                    \
        return SCAN_ARGS(fn, stdin, format, args);                                       \
    }

/* clang-format off */
SCANNERS(gnu_fscanf, gnu_scanf, gnu_vfscanf, gnu_vscanf, vfscanf)
SCANNERS(__isoc99_fscanf, __isoc99_scanf, __isoc99_vfscanf, __isoc99_vscanf,
         __isoc99_vfscanf)
SCANNERS(__isoc23_fscanf, __isoc23_scanf, __isoc23_vfscanf, __isoc23_vscanf,
         __isoc23_vfscanf)
/* clang-format on */
