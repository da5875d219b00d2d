/*
 * idle.c - opens idle connections to an echo server.
 *
 *     idle PORT COUNT [talk]
 *
 * The program opens COUNT connections to an echo server, prints "ready" when the server
 * has accepted all of them, and holds them until its input ends. Every 250th connection
 * waits for the echo of a byte, so at most 250 connections are waiting to be accepted.
 * With `talk`, each connection then makes three requests, one connection after another.
 * Each local address is used for only 5,000 connections: an address has about 28,000
 * ports, but finding the last free ones takes long.
 */
#include "claims.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#define IN_FLIGHT 250
#define PER_ADDRESS 5000

static void give_up(const char *what)
{
    fprintf(stderr, "idle: %s: %s\n", what, strerror(errno));
    exit(1);
}

/*
 * Open a connection that will be closed with a reset, so that no port is left in
 * TIME_WAIT.
 */
static int open_connection(uint16_t port, long number)
{
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct linger reset = {.l_onoff = 1};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        give_up("socket");
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)(number / PER_ADDRESS));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0)
        give_up("bind");
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        give_up("connect");
    return fd;
}

static void ask_for_echo(int fd)
{
    char byte = 'x';

    if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
        give_up("an echo");
}

int main(int argc, char **argv)
{
    uint16_t port = (uint16_t)argument(argc, argv, 1);
    long count = argument(argc, argv, 2);
    int *fds = calloc((size_t)count, sizeof *fds);
    bool talk = argc > 3;
    char end;

    if (fds == NULL)
        give_up("memory");

    for (long i = 0; i < count; i++) {
        fds[i] = open_connection(port, i);
        if (i % IN_FLIGHT == IN_FLIGHT - 1 || i == count - 1)
            ask_for_echo(fds[i]);
    }
    for (long i = 0; talk && i < 3 * count; i++)
        ask_for_echo(fds[i % count]);
    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &end, 1) > 0)
        ;
    return 0;
}
