/*
 * own_errors.c - find out whether a failure was caused by the task's cancellation. A
 * library's own error codes do not show this, but coil_cancel_result() does.
 *
 *     cc own_errors.c $(pkg-config --cflags --libs coil-posix)
 */
#include <coil.h>
#include <coil/posix.h>
#include <stdio.h>
#include <unistd.h>

enum { LIBRARY_OK, LIBRARY_FAILED };

/* The library makes blocking calls, and does not use coil. */
static int library_query(int fd)
{
    char answer;

    return read(fd, &answer, 1) == 1 ? LIBRARY_OK : LIBRARY_FAILED;
}

/* Translate the library's error, unless the task was cancelled. */
static int query(int fd)
{
    return library_query(fd) == LIBRARY_OK ? 0 : coil_cancel_result(-EIO);
}

static int app(void *arg)
{
    int ends[2], rc;

    (void)arg;
    if (pipe(ends) < 0)
        return -errno;
    COIL_WITH_DEADLINE(COIL_MSEC(50), rc)
    rc = query(ends[0]); // nothing has been written, so the deadline cancels the read
    puts(rc == -ETIMEDOUT ? "too late" : "wrong");
    close(ends[1]);
    COIL_WITH_DEADLINE(COIL_SEC(10), rc)
    rc = query(ends[0]); // fails at the end of the pipe
    puts(rc == -EIO ? "failed" : "wrong");
    close(ends[0]);
    return 0;
}

int main(void)
{
    return !coil_posix_active() || coil_run(app, NULL, NULL) < 0;
}
