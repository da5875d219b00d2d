/*
 * thread_echo.c - echo with a POSIX thread for each connection, as servers were written
 * before event loops. Stacks have 64 KiB, which is enough for this program. With the
 * default of 8 MiB, each stack would need a page table.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 4096, BACKLOG = 4096, STACK = 64 * 1024 };

static void *serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char bytes[BUFFER];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0)
        if (send(fd, bytes, (size_t)n, MSG_NOSIGNAL) != n)
            break;
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, client;
    pthread_attr_t detached;
    pthread_t thread;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return 1;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    while ((client = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0 ||
           errno == ECONNABORTED) {
        if (client < 0)
            continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (pthread_create(&thread, &detached, serve, (void *)(intptr_t)client) != 0)
            close(client);
    }
    return 1;
}
