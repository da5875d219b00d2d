/*
 * st_echo.c - echo with State Threads: a thread for each connection, on epoll if State
 * Threads was built with epoll.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <st.h>
#include <stdio.h>
#include <sys/socket.h>

enum { BUFFER = 4096, BACKLOG = 4096, STACK = 64 * 1024 };

static void *serve(void *arg)
{
    st_netfd_t client = arg;
    char bytes[BUFFER];
    ssize_t n;

    while ((n = st_read(client, bytes, sizeof bytes, ST_UTIME_NO_TIMEOUT)) > 0)
        if (st_write(client, bytes, (size_t)n, ST_UTIME_NO_TIMEOUT) != n)
            break;
    st_netfd_close(client);
    return NULL;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    st_netfd_t listener, client;

    signal(SIGPIPE, SIG_IGN); /* a client may disconnect before it gets its answer */
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return 1;
    st_set_eventsys(ST_EVENTSYS_ALT); /* succeeds even without epoll, as in Debian */
    if (st_get_eventsys() != ST_EVENTSYS_ALT)
        st_set_eventsys(ST_EVENTSYS_POLL);
    if (st_init() < 0 || (listener = st_netfd_open_socket(fd)) == NULL)
        return 1;
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    while ((client = st_accept(listener, NULL, NULL, ST_UTIME_NO_TIMEOUT)) != NULL) {
        setsockopt(st_netfd_fileno(client), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (st_thread_create(serve, client, 0, STACK) == NULL)
            st_netfd_close(client);
    }
    return 1;
}
