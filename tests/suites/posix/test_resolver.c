/*
 * test_resolver.c - res_query() and related functions. These functions query the test's
 * own server, because the test sets the thread's resolver state `_res`.
 */
#include "differential.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>
#include <sys/wait.h>

static int server;

/*
 * Make the thread send its queries to the test's server on loopback, whatever resolv.conf
 * contains.
 */
static void ask_here(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof here;

    CHECK_INT(res_init(), 0);
    server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(server, (struct sockaddr *)&here, bytes), 0);
    CHECK_INT(getsockname(server, (struct sockaddr *)&here, &bytes), 0);
    _res.nscount = 1;
    _res.nsaddr_list[0] = here;
    _res.retrans = 30;
    _res.retry = 1;
    strcpy(_res.defdname, "example");
    _res.dnsrch[0] = _res.defdname;
    _res.dnsrch[1] = NULL;
    _res.ndots = 1;
}

/* Reset `_res` to its state before the thread's first query. */
static void ask_elsewhere(void)
{
    res_nclose(&_res);
    memset(&_res, 0, sizeof _res);
    close(server);
}

/* Answer one query with 127.1.2.3, or with the error `code` (the flags' second byte). */
static void answer_one(int code)
{
    static const unsigned char address_record[] = {0xc0, 12, 0, 1, 0,   1, 0, 0,
                                                   0,    9,  0, 4, 127, 1, 2, 3};
    unsigned char message[600];
    struct sockaddr_in from;
    socklen_t bytes = sizeof from;
    ssize_t n = recvfrom(server, message, sizeof message - sizeof address_record, 0,
                         (struct sockaddr *)&from, &bytes);

    CHECK(n > 12);
    message[2] |= 0x80;
    message[3] = (unsigned char)(0x80 | code);
    message[7] = code == 0;
    message[11] = 0;
    memcpy(message + n, address_record, sizeof address_record);
    n += code == 0 ? (ssize_t)sizeof address_record : 0;
    CHECK_INT(sendto(server, message, (size_t)n, 0, (struct sockaddr *)&from, bytes), n);
}

static void record_answer(int n, const unsigned char *answer)
{
    char text[INET_ADDRSTRLEN] = "none";

    if (n > 16 && answer[7] == 1)
        inet_ntop(AF_INET, answer + n - 4, text, sizeof text);
    record("%d bytes, %s; %d", n, text, n < 0 ? h_errno : 0);
}

SAME(ask_a_name_server, true)
{
    unsigned char answer[512], query[512];
    int n;

    ask_here();
    later(20, answer_one, 0);
    record_answer(res_query("host.example", C_IN, T_A, answer, sizeof answer), answer);
    later(20, answer_one, 0);
    record_answer(res_search("host", C_IN, T_A, answer, sizeof answer), answer);
    later(20, answer_one, 0);
    n = res_querydomain("host", "example", C_IN, T_A, answer, sizeof answer);
    record_answer(n, answer);
    later(20, answer_one, 3);
    record_answer(res_query("nobody.example", C_IN, T_A, answer, sizeof answer), answer);
    n = res_mkquery(QUERY, "host.example", C_IN, T_A, NULL, 0, NULL, query, sizeof query);
    later(20, answer_one, 0);
    record_answer(res_send(query, n, answer, sizeof answer), answer);
    finish_later();
    ask_elsewhere();
}

SAME(ask_a_name_server_by_a_state_of_ones_own, true)
{
    unsigned char answer[512], query[512];
    struct __res_state *state = &_res;
    int n;

    ask_here();
    later(20, answer_one, 0);
    n = res_nquery(state, "host.example", C_IN, T_A, answer, sizeof answer);
    record_answer(n, answer);
    later(20, answer_one, 0);
    n = res_nsearch(state, "host", C_IN, T_A, answer, sizeof answer);
    record_answer(n, answer);
    later(20, answer_one, 0);
    n = res_nquerydomain(state, "host", "example", C_IN, T_A, answer, sizeof answer);
    record_answer(n, answer);
    n = res_mkquery(QUERY, "host.example", C_IN, T_A, NULL, 0, NULL, query, sizeof query);
    later(20, answer_one, 0);
    record_answer(res_nsend(state, query, n, answer, sizeof answer), answer);
    finish_later();
    ask_elsewhere();
}

static int ask(void *arg)
{
    unsigned char answer[512];
    int n = res_query("host.example", C_IN, T_A, answer, sizeof answer);

    *(int *)arg = n > 0 ? answer[n - 1] : -errno;
    return 0;
}

/*
 * Several tasks share the resolver state of their thread. All of them send their queries
 * before the first answer arrives.
 */
IO_TEST(ask_a_name_server_in_several_tasks)
{
    struct pollfd asked = {.events = POLLIN};
    coil_task *tasks[5];
    int answers[5];

    ask_here();
    asked.fd = server;
    for (int i = 0; i < 5; i++)
        tasks[i] = start_task(ask, &answers[i]);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(coil_poll(&asked, 1, COIL_NEVER), 1);
        answer_one(0);
    }
    for (int i = 0; i < 5; i++) {
        finish_task(tasks[i]);
        CHECK_INT(answers[i], 3);
    }
    ask_elsewhere();
}

IO_TEST(ask_a_name_server_in_a_cancelled_task)
{
    struct pollfd asked = {.events = POLLIN};
    int answer = 0;
    coil_task *task;

    ask_here();
    asked.fd = server;
    task = start_task(ask, &answer);
    CHECK_INT(coil_poll(&asked, 1, COIL_NEVER), 1);
    coil_task_cancel(task, NULL);
    finish_task(task);
    CHECK_INT(answer, -ECANCELED);
    answer_one(0); /* answers the query of the thread, which is still waiting */
    ask_elsewhere();
}

/* ---- getaddrinfo() and its relatives ----------------------------------------------- */

/*
 * Return true if getaddrinfo() queries the server. On some systems, getaddrinfo() does
 * not use DNS.
 */
static bool asks_servers(void)
{
    struct pollfd asked = {.fd = server, .events = POLLIN};
    unsigned char answer[512];
    pid_t pid = fork();
    bool asks;

    if (pid == 0) {
        struct addrinfo hints = {.ai_family = AF_INET}, *list;

        alarm(60);
        getaddrinfo("host.example", NULL, &hints, &list);
        _exit(0);
    }
    asks = poll(&asked, 1, 3000) == 1;
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    while (recv(server, answer, sizeof answer, MSG_DONTWAIT) > 0)
        continue;
    return asks;
}

static void record_address(const void *address)
{
    char text[INET_ADDRSTRLEN];

    record("%s", inet_ntop(AF_INET, address, text, sizeof text));
}

SAME(look_up_by_the_servers_of_the_thread, false)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
    struct sockaddr_in where = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(0x7f010203)};
    struct hostent entry, *found = NULL;
    char buf[4096];
    int error = 0;

    ask_here();
    if (!asks_servers()) {
        ask_elsewhere();
        return;
    }
    later(20, answer_one, 0);
    if (getaddrinfo("host.example", "80", &hints, &list) == 0) {
        record_address(&((struct sockaddr_in *)(void *)list->ai_addr)->sin_addr);
        freeaddrinfo(list);
    }
    later(20, answer_one, 0);
    RECORD(gethostbyname2_r("host.example", AF_INET, &entry, buf, sizeof buf, &found,
                            &error));
    if (found != NULL)
        record_address(found->h_addr_list[0]);
    later(20, answer_one, 3);
    RECORD(getnameinfo((struct sockaddr *)&where, sizeof where, buf, sizeof buf, NULL, 0,
                       NI_NAMEREQD));
    finish_later();
    ask_elsewhere();
}
