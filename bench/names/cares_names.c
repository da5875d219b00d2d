/*
 * cares_names.c - the lower bound: only c-ares and epoll, with 100 queries at a time.
 *
 * cares_names SERVER N: prints the microseconds for each name.
 */
#include <ares.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#define AT_ONCE 100

static int names, next_name, open_questions, failures, poller;
static ares_channel channel;

static void watch(void *arg, int fd, int in, int out)
{
    struct epoll_event event = {.events = (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u),
                                .data.fd = fd};

    (void)arg;
    if (!in && !out)
        epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL);
    else if (epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event) < 0)
        epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

static void answered(void *arg, int status, int timeouts, unsigned char *data, int n)
{
    struct hostent *host;

    (void)arg;
    (void)timeouts;
    open_questions--;
    if (status == ARES_SUCCESS && ares_parse_a_reply(data, n, &host, NULL, NULL) == 0)
        ares_free_hostent(host);
    else
        failures++;
}

static void ask_more(void)
{
    char name[32];

    while (open_questions < AT_ONCE && next_name < names) {
        snprintf(name, sizeof name, "host%d.bench.", next_name++);
        open_questions++;
        ares_search(channel, name, 1, 1, answered, NULL);
    }
}

int main(int argc, char **argv)
{
    struct ares_options options = {.sock_state_cb = watch};
    struct epoll_event events[16];
    struct timespec a, b;

    if (argc != 3)
        return 2;
    names = atoi(argv[2]);
    poller = epoll_create1(EPOLL_CLOEXEC);
    ares_library_init(ARES_LIB_INIT_ALL);
    if (ares_init_options(&channel, &options, ARES_OPT_SOCK_STATE_CB) != 0 ||
        ares_set_servers_ports_csv(channel, argv[1]) != 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (ask_more(); open_questions > 0; ask_more()) {
        int n = epoll_wait(poller, events, 16, 1000);

        for (int i = 0; i < n; i++)
            ares_process_fd(channel, events[i].events & EPOLLIN ? events[i].data.fd : -1,
                            events[i].events & EPOLLOUT ? events[i].data.fd : -1);
        if (n == 0)
            ares_process_fd(channel, -1, -1);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    ares_destroy(channel);
    printf("%.3f\n",
           ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) /
               names);
    return failures != 0;
}
