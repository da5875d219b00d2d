/*
 * server.c - a name server for bench/names: every name has the address 192.0.2.1 (A) and
 * no IPv6 address (AAAA). The program prints its port.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define BATCH 64

/*
 * Overwrite the query with its answer. Returns the length of the answer, or 0 if the
 * query is invalid.
 */
static size_t answer(unsigned char *m, size_t n)
{
    static const unsigned char address[] = {0xc0, 12, 0, 1, 0,   1, 0, 0,
                                            1,    0,  0, 4, 192, 0, 2, 1};
    size_t end = 12;

    while (end < n && m[end] != 0)
        end += m[end] + 1u;
    if (end + 5 > n)
        return 0;
    m[2] = 0x81;
    m[3] = 0x80;
    memset(m + 8, 0, 4);
    m[6] = 0;
    m[7] = m[end + 2] == 1;
    if (m[7] == 0)
        return end + 5;
    memcpy(m + end + 5, address, sizeof address);
    return end + 5 + sizeof address;
}

int main(void)
{
    static unsigned char data[BATCH][512];
    static struct sockaddr_in from[BATCH];
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = 4 << 20;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    if (bind(fd, (struct sockaddr *)&name, length) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &length) < 0)
        return 1;
    printf("%u\n", ntohs(name.sin_port));
    fflush(stdout);
    for (;;) {
        struct mmsghdr messages[BATCH];
        struct iovec parts[BATCH];
        int n;

        for (int i = 0; i < BATCH; i++) {
            parts[i] = (struct iovec){data[i], sizeof data[i]};
            messages[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                                  .msg_namelen = sizeof from[i],
                                                  .msg_iov = &parts[i],
                                                  .msg_iovlen = 1};
        }
        n = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL);
        for (int i = 0; i < n; i++)
            parts[i].iov_len = answer(data[i], messages[i].msg_len);
        if (n > 0)
            sendmmsg(fd, messages, (unsigned)n, 0);
    }
}
