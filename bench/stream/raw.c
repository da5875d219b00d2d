/*
 * raw.c - the lower bound: transfers bulk data over one connection, using only system
 * calls.
 *
 *     raw BYTES PIECE [sendfile]
 *
 * The child sends BYTES in writes of PIECE, and the parent receives them into a buffer of
 * 256 KiB, both with blocking calls. The program prints MB/s, and the processor seconds
 * of both ends per GiB.
 */
#include "stream.h"

#include <sys/sendfile.h>

static void send_all(int fd, size_t total, size_t piece, int file)
{
    char *bytes = calloc(1, piece);

    for (size_t left = total; left > 0;) {
        off_t offset = 0;
        ssize_t n = file >= 0 ? sendfile(fd, file, &offset, piece < left ? piece : left)
                              : write(fd, bytes, piece < left ? piece : left);
        if (n <= 0)
            _exit(1);
        left -= (size_t)n;
    }
    _exit(0);
}

int main(int argc, char *argv[])
{
    size_t total = strtoull(argv[1], NULL, 10), piece = strtoull(argv[2], NULL, 10);
    int file = argc > 3 ? make_file(piece) : -1, fds[2];
    char *bytes = malloc(READ_BYTES);
    ssize_t n;

    make_connection(fds);
    begin();
    if (fork() == 0) {
        become_sender();
        close(fds[0]);
        send_all(fds[1], total, piece, file);
    }
    close(fds[1]);
    while ((n = read(fds[0], bytes, READ_BYTES)) > 0)
        total -= (size_t)n;
    wait(NULL);
    if (total != 0)
        return 1;
    report(strtoull(argv[1], NULL, 10));
    return 0;
}
