/*
 * raw_epoll.c - the lower bound: an echo server that calls the kernel directly.
 *
 * The server is edge-triggered, so no descriptor is checked twice for one request. A
 * request takes one recv() and one send(), because a short read has emptied the socket
 * (epoll(7)). One epoll_wait() returns all requests that have arrived. If a client reads
 * slowly, the server stores its answers, and reads nothing from this client until they
 * are sent.
 *
 * `raw_epoll N` runs N such loops, each on its own thread. These loops share the port
 * with SO_REUSEPORT.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 4096, BATCH = 256, BACKLOG = 4096 };

struct client {
    int fd;
    size_t kept_from, kept_to; /* the part of `kept` that is not sent yet */
    char *kept;
};

static __thread int epoll_fd, listen_fd;

static void drop(struct client *client)
{
    close(client->fd);
    free(client->kept);
    free(client);
}

/*
 * Send the bytes, and store the rest for later. Returns 1 if all bytes were sent, 0 if
 * some were stored, -1 if the connection failed.
 */
static int send_or_keep(struct client *client, const char *bytes, size_t n)
{
    ssize_t sent = send(client->fd, bytes, n, MSG_NOSIGNAL);

    if (sent == (ssize_t)n)
        return 1;
    if (sent < 0 && errno != EAGAIN)
        return -1;
    if (sent < 0)
        sent = 0;
    if (client->kept == NULL && (client->kept = malloc(BUFFER)) == NULL)
        return -1;
    memmove(client->kept, bytes + sent, n - (size_t)sent);
    client->kept_from = 0;
    client->kept_to = n - (size_t)sent;
    return 0;
}

static int send_kept(struct client *client)
{
    size_t n = client->kept_to - client->kept_from;
    int rc = n > 0 ? send_or_keep(client, client->kept + client->kept_from, n) : 1;

    if (rc == 1)
        client->kept_from = client->kept_to = 0;
    return rc;
}

static bool serve(struct client *client, uint32_t events)
{
    char bytes[BUFFER];
    ssize_t n;
    int rc = send_kept(client);

    while (rc == 1) {
        n = recv(client->fd, bytes, sizeof bytes, 0);
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        rc = send_or_keep(client, bytes, (size_t)n);
        if (rc == 1 && n < BUFFER && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
            return true;
    }
    return rc == 0;
}

static void accept_all(void)
{
    int fd, yes = 1;

    while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct client *client = calloc(1, sizeof *client);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};

        if (client == NULL) {
            close(fd);
            continue;
        }
        client->fd = fd;
        event.data.ptr = client;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
            drop(client);
    }
}

/* Listen on *port. If *port is 0, the kernel chooses a port, which is stored in *port. */
static bool listen_on(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    int yes = 1;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    socklen_t length = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listen_fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    if (bind(listen_fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listen_fd, BACKLOG) < 0 ||
        getsockname(listen_fd, (struct sockaddr *)&address, &length) < 0 ||
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &event) < 0)
        return false;
    *port = ntohs(address.sin_port);
    return true;
}

static void *run(void *fds)
{
    struct epoll_event events[BATCH];

    epoll_fd = ((int *)fds)[0];
    listen_fd = ((int *)fds)[1];
    for (;;) {
        int n = epoll_wait(epoll_fd, events, BATCH, -1);

        for (int i = 0; i < n; i++) {
            struct client *client = events[i].data.ptr;

            if (client == NULL)
                accept_all();
            else if (!serve(client, events[i].events))
                drop(client);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1, (*fds)[2] = calloc((size_t)n, sizeof *fds);
    uint16_t port = 0;
    pthread_t thread;

    for (int i = 0; i < n; i++) {
        if (!listen_on(&port)) {
            perror("raw_epoll");
            return 1;
        }
        fds[i][0] = epoll_fd;
        fds[i][1] = listen_fd;
    }
    printf("%u\n", port);
    fflush(stdout);
    for (int i = 1; i < n; i++)
        pthread_create(&thread, NULL, run, fds[i]);
    run(fds[0]);
}
