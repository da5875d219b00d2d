/*
 * sockets.c - pairs of connected streams for the tests.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <coil/testing.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

void make_tcp_pair(int fds[2])
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(listening, (struct sockaddr *)&name, length), 0);
    CHECK_INT(listen(listening, 1), 0);
    CHECK_INT(getsockname(listening, (struct sockaddr *)&name, &length), 0);
    CHECK_INT(connect(fds[0], (struct sockaddr *)&name, length), 0);
    fds[1] = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fds[1] >= 0);
    close(listening);
}

coil_stream *make_stream_and_peer(int *peer)
{
    coil_stream *stream = NULL;
    int fds[2];

    make_tcp_pair(fds);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    *peer = fds[1];
    return stream;
}

void make_stream_pair(coil_stream *ends[2])
{
    int peer;

    ends[0] = make_stream_and_peer(&peer);
    CHECK_INT(coil_stream_adopt(peer, &ends[1]), 0);
}

void connect_streams(coil_stream *ends[2])
{
    coil_listener *listener = NULL;
    char port[8];

    ends[0] = ends[1] = NULL;
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    CHECK_INT(coil_connect("127.0.0.1", port, &ends[0]), 0);
    CHECK_INT(coil_accept(listener, &ends[1]), 0);
    coil_listener_destroy(listener);
}

void destroy_streams(coil_stream *ends[2])
{
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

void check_talk(coil_stream *from, coil_stream *to, const char *text)
{
    char buf[64] = "";
    size_t n = strlen(text);

    CHECK_INT(coil_write(from, text, n), n);
    CHECK_INT(coil_read_exact(to, buf, n), n);
    CHECK_STR(buf, text);
}

int echo_all(coil_stream *stream, void *unused)
{
    char bytes[256];
    ssize_t n;

    (void)unused;
    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if ((n = coil_write(stream, bytes, (size_t)n)) < 0)
            break;
    return (int)n;
}

unsigned take_refusing_port(int *fd)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(*fd, (struct sockaddr *)&name, length), 0);
    CHECK_INT(getsockname(*fd, (struct sockaddr *)&name, &length), 0);
    return ntohs(name.sin_port);
}

void settle(void)
{
    CHECK_INT(coil_wait_all_blocked(), 0);
}

void finish(coil_task *task)
{
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
}

void finish_cancelled(coil_task *task)
{
    int rc = coil_task_await(task);

    CHECK(rc == 0 || rc == -ECANCELED);
    coil_task_release(task);
}

unsigned char pattern_byte(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 13 ^ i);
}

int limit_descriptors(int more)
{
    struct rlimit limit;
    int first_free = fcntl(STDIN_FILENO, F_DUPFD, 0);
    int before;

    close(first_free);
    getrlimit(RLIMIT_NOFILE, &limit);
    before = (int)limit.rlim_cur;
    limit.rlim_cur = (rlim_t)(first_free + more);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

void restore_descriptors(int before)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)before;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
