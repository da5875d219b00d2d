/*
 * terminal.c - opens and resizes pseudo-terminals.
 *
 * The terminal is opened through its other end, with TIOCGPTPEER (Linux 4.13), because in
 * a container its path in /dev/pts may refer to another terminal (ioctl_tty(2)).
 */
#include "../terminal.h"

#include "../../base/base.h"
#include "../../base/fault.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

int coil__terminal_open(int fds[2])
{
    int unlock = 0, error;

    fds[0] = COIL__CALL(ENOSPC, posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (fds[0] < 0)
        return coil__failed(-errno);
    if (COIL__CALL(EIO, ioctl(fds[0], TIOCSPTLCK, &unlock)) == 0) {
        fds[1] =
            COIL__CALL(EMFILE, ioctl(fds[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
        if (fds[1] >= 0)
            return 0;
    }
    error = errno;
    close(fds[0]);
    return coil__failed(-error);
}

int coil__terminal_resize(int fd, unsigned short rows, unsigned short columns)
{
    struct winsize size = {.ws_row = rows, .ws_col = columns};

    return COIL__CALL(EIO, ioctl(fd, TIOCSWINSZ, &size)) < 0 ? coil__failed(-errno) : 0;
}
