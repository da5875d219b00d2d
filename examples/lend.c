/*
 * lend.c - lend an open file to other processes of the same user, through a local socket.
 *
 *     lend SOCKET FILE           lends FILE until Ctrl-C
 *     lend SOCKET                borrows it, and prints its first line
 *
 * The borrower needs no permission to open the file, only the descriptor. In this way, a
 * privileged process can open files or ports for an unprivileged process.
 */
#include <coil.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int lend(coil_stream *borrower, void *arg)
{
    const int *file = arg;
    pid_t pid;
    uid_t user;
    gid_t group;
    int rc = coil_stream_credentials(borrower, &pid, &user, &group);

    if (rc < 0)
        return rc;
    printf("process %d of user %u asks\n", (int)pid, (unsigned)user);
    fflush(stdout);
    if (user != getuid())
        return -EACCES;
    return (int)coil_send_fds(borrower, "f", 1, file, 1); // at least one byte is required
}

static int borrow(const char *path)
{
    COIL_AUTO(coil_stream) lender = NULL;
    COIL_AUTO(coil_file) file = NULL;
    char byte, line[200];
    int fd, rc = coil_connect_unix(path, &lender);
    size_t count = 1;
    ssize_t n;

    if (rc < 0)
        return rc;
    n = coil_receive_fds(lender, &byte, 1, &fd, &count);
    if (n < 0 || count == 0)
        return n < 0 ? (int)n : -EACCES;
    rc = coil_file_adopt(fd, &file);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    n = coil_file_read_line(file, line, sizeof line);
    return n < 0 ? (int)n : puts(line) < 0;
}

static int app(void *arg)
{
    char **argv = arg;
    COIL_AUTO(coil_listener) listener = NULL;
    int fd, rc;

    if (argv[2] == NULL)
        return borrow(argv[1]);
    fd = open(argv[2], O_RDONLY | O_CLOEXEC);
    rc = fd < 0 ? -errno : coil_listen_unix(argv[1], 0, &listener);
    if (rc == 0)
        rc = coil_serve(listener, lend, &fd, NULL);
    close(fd);
    return rc;
}

int main(int argc, char **argv)
{
    return argc < 2 || coil_run(app, argv, NULL) < 0;
}
