/*
 * test_names.c - name lookups, which have the same results in a task and outside tasks.
 * No query leaves the machine.
 */
#include "differential.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

static void look_up(const char *host, const char *service, int flags, int family)
{
    struct addrinfo hints = {
        .ai_flags = flags, .ai_family = family, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int eai = getaddrinfo(host, service, &hints, &list);

    record("%s %s: %s", host != NULL ? host : "-", service != NULL ? service : "-",
           eai == 0 ? "found" : gai_strerror(eai));
    if (eai != 0)
        return;
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        char text[64] = "", port[16] = "";

        RECORD(getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, port,
                           sizeof port, NI_NUMERICHOST | NI_NUMERICSERV));
        record("%d %s %s", a->ai_socktype, text, port);
    }
    freeaddrinfo(list);
}

SAME(look_up_addresses, false)
{
    look_up("127.0.0.1", "80", 0, AF_UNSPEC);
    look_up("::1", "http", 0, AF_UNSPEC);
    look_up("localhost", "80", 0, AF_INET);
    look_up("localhost", NULL, AI_CANONNAME, AF_UNSPEC);
    look_up("localhost", "no-such-service", 0, AF_INET);
    look_up("localhost", "80", AI_NUMERICHOST, AF_INET);
    look_up("::1", "80", 0, AF_INET);
    look_up(NULL, "80", AI_PASSIVE, AF_INET);
    look_up(NULL, NULL, 0, AF_INET);
    look_up("localhost", "80", 0x40000000, AF_INET);
    look_up("localhost", "80", 0, 12345);
    look_up("", "80", 0, AF_INET);
    look_up("two..dots", "80", 0, AF_INET);
}

SAME(look_up_names, false)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons(80),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr *address = (const struct sockaddr *)&in;
    char host[64] = "", service[16] = "";

    RECORD(
        getnameinfo(address, sizeof in, host, sizeof host, service, sizeof service, 0));
    record("%s %s", host, service);
    RECORD(getnameinfo(address, sizeof in, host, 2, NULL, 0, 0));
    RECORD(getnameinfo(address, sizeof in, NULL, 0, service, sizeof service, 0));
    RECORD(getnameinfo(address, 3, host, sizeof host, NULL, 0, 0));
    RECORD(getnameinfo(address, sizeof in, NULL, 0, NULL, 0, 0));
}

static void record_entry(const struct hostent *entry)
{
    char text[64] = "";

    if (entry == NULL) {
        record("h_errno %d", h_errno);
        return;
    }
    inet_ntop(entry->h_addrtype, entry->h_addr_list[0], text, sizeof text);
    record("%s %d %s", entry->h_name, entry->h_length, text);
}

SAME(look_up_hosts, false)
{
    struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
    struct hostent entry, *found;
    char buf[1024], few[8];
    int host_error = 0;

    record_entry(gethostbyname("localhost"));
    record_entry(gethostbyname("127.0.0.1"));
    record_entry(gethostbyname2("::1", AF_INET6));
    record_entry(gethostbyname(""));
    record_entry(gethostbyname2("localhost", 12345));
    record_entry(gethostbyaddr(&loopback, sizeof loopback, AF_INET));
    RECORD(gethostbyname_r("localhost", &entry, buf, sizeof buf, &found, &host_error));
    record_entry(found);
    RECORD(gethostbyname_r("localhost", &entry, few, sizeof few, &found, &host_error));
    RECORD(gethostbyname2_r("localhost", AF_INET, &entry, buf, sizeof buf, &found,
                            &host_error));
    RECORD(gethostbyaddr_r(&loopback, sizeof loopback, AF_INET, &entry, buf, sizeof buf,
                           &found, &host_error));
    record_entry(found);
}

/*
 * Look up another name, which must not overwrite the result that the other task is
 * reading.
 */
static int ask_again(void *arg)
{
    (void)arg;
    CHECK(gethostbyname2("::1", AF_INET6) != NULL);
    return 0;
}

IO_TEST(look_up_hosts_in_two_tasks)
{
    coil_task *other = start_task(ask_again, NULL);
    const struct hostent *entry = gethostbyname("localhost");

    CHECK(entry != NULL);
    CHECK_STR(entry->h_name, "localhost");
    finish_task(other);
}

static int read_to_the_end(void *fd)
{
    char byte;

    return (int)read(*(int *)fd, &byte, 1);
}

static int keep_lane_busy(void *fd)
{
    return coil_blocking(COIL_LANE_DNS, read_to_the_end, fd);
}

/*
 * The lookup is cancelled before it begins, because the only thread for lookups is busy.
 */
IO_TEST(look_up_in_a_cancelled_task)
{
    struct addrinfo *list = NULL;
    coil_task *busy;
    int ends[2];

    make_pipe(ends);
    CHECK_INT(coil_executor_set_limit(COIL_LANE_DNS, 1), 0);
    busy = start_task(keep_lane_busy, &ends[0]);
    settle();
    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(getaddrinfo("localhost", "80", NULL, &list), EAI_SYSTEM);
    CHECK_INT(errno, ECANCELED);
    CHECK_INT(getaddrinfo("127.0.0.1", "80", NULL, &list), 0); /* needs no wait */
    freeaddrinfo(list);
    coil_uncancel();
    coil_cancel_caught();
    close(ends[1]);
    finish_task(busy);
    close(ends[0]);
}

/* ---- requests for several names ---------------------------------------------------- */

#define REQUESTS 300

/*
 * The task has to wait: the name is in the hosts file, but there are too many requests to
 * finish immediately.
 */
SAME(requests_for_names_are_waited_for, true)
{
    struct timespec wrong = {0, -1};
    struct gaicb *requests = calloc(REQUESTS, sizeof *requests), *list[REQUESTS + 1];
    const struct gaicb *last[2];
    int done = 0, rc;

    for (int i = 0; i < REQUESTS; i++) {
        requests[i].ar_name = i % 2 == 0 ? "localhost" : "127.0.0.1";
        list[i] = &requests[i];
    }
    list[REQUESTS] = NULL;
    RECORD(getaddrinfo_a(GAI_WAIT, list, REQUESTS + 1, NULL));
    for (int i = 0; i < REQUESTS; i++) {
        done += gai_error(list[i]) == 0;
        freeaddrinfo(list[i]->ar_result);
        list[i]->ar_result = NULL;
    }
    record("%d", done);
    RECORD(getaddrinfo_a(GAI_NOWAIT, list, REQUESTS, NULL));
    last[0] = NULL;
    last[1] = list[REQUESTS - 1];
    rc = gai_suspend(last, 2, NULL);
    record("%d", rc == 0 || rc == EAI_ALLDONE); /* the result depends on the timing */
    RECORD(gai_error(list[REQUESTS - 1]));
    RECORD(gai_suspend(last, 2, NULL) == EAI_ALLDONE);
    RECORD(gai_suspend(last, 1, NULL) == EAI_ALLDONE);
    for (int i = 0; i < REQUESTS; i++) {
        last[0] = list[i];
        while (gai_error(list[i]) == EAI_INPROGRESS)
            gai_suspend(last, 1, NULL);
        freeaddrinfo(list[i]->ar_result);
    }
    RECORD(gai_suspend(last, 0, &wrong) == EAI_ALLDONE);
    free(requests);
}
