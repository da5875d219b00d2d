/* libssh2.c - opens a session with a real sshd, runs a command, and reads its output. */
#include "foreign.h"

#include <arpa/inet.h>
#include <libssh2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool start(void)
{
    return libssh2_init(0) == 0;
}

static int connect_to_server(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)foreign_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    perror("connect");
    return -1;
}

static bool run(LIBSSH2_SESSION *session, int number)
{
    LIBSSH2_CHANNEL *channel = libssh2_channel_open_session(session);
    char command[60], expected[20], printed[100] = "";
    ssize_t n = 0, total = 0;

    if (channel == NULL)
        return foreign_failed("no channel");
    snprintf(command, sizeof command, "sleep 0.1; expr %d '*' 7", number);
    snprintf(expected, sizeof expected, "%d\n", number * 7);
    if (libssh2_channel_exec(channel, command) == 0)
        while ((n = libssh2_channel_read(channel, printed + total,
                                         sizeof printed - 1 - (size_t)total)) > 0)
            total += n;
    libssh2_channel_close(channel);
    libssh2_channel_free(channel);
    return n >= 0 && strcmp(printed, expected) == 0;
}

static bool use(int number)
{
    int fd = connect_to_server();
    LIBSSH2_SESSION *session = libssh2_session_init();
    bool right = false;
    char *error;

    if (fd >= 0 && libssh2_session_handshake(session, fd) == 0 &&
        libssh2_userauth_publickey_fromfile(session, getenv("SSH_USER"), NULL,
                                            getenv("SSH_KEY"), NULL) == 0)
        right = run(session, number);
    if (!right) {
        libssh2_session_last_error(session, &error, NULL, 0);
        foreign_failed("%s", error);
    }
    libssh2_session_disconnect(session, "done");
    libssh2_session_free(session);
    close(fd);
    return right;
}

static bool stop(void)
{
    libssh2_exit();
    return true;
}

const struct foreign foreign = {.name = "libssh2",
                                .tested = "sessions, commands",
                                .server = true,
                                .start = start,
                                .use = use,
                                .stop = stop};
