/*
 * test_resolver.c - look-ups with a name server whose answers the tests define.
 */
#include "../../harness/harness.h"

#include "name_server.h"
#include "../socket/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct addrinfo v4 = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
static const struct addrinfo v6 = {.ai_family = AF_INET6, .ai_socktype = SOCK_STREAM};
static const struct addrinfo tcp = {.ai_socktype = SOCK_STREAM};

static const struct name_rule rules[] = {
    {"one.test", 'A', "192.0.2.1", .ttl = 60},
    {"two.test", 'A', "192.0.2.2", .ttl = 60},
    {"two.test", '6', "2001:db8::2", .ttl = 60},
    {"alias.test", 'A', "192.0.2.3", .cname = "proper.test", .ttl = 60},
    {"no-six.test", 'A', "192.0.2.4", .ttl = 60},
    {"no-six.test", '6', .soa_minimum = 20},
    {"servfail.test", 0, .rcode = NAME_SERVFAIL},
    {"refused.test", 0, .rcode = NAME_REFUSED},
    {"format.test", 0, .rcode = NAME_FORMAT_ERROR},
    {"lost.test", 'A', "192.0.2.5", .ttl = 60, .drops = 1},
    {"silent.test", 0, .silent = true},
    {"long.test", 'A', "192.0.2.6", .ttl = 60, .truncated = true, .filler = 99},
    {"slow.test", 'A', "192.0.2.7", .ttl = 60, .held = true},
    {"no-keep.test", 'A', "192.0.2.8", .ttl = 0},
    {"far.sub.test", 'A', "192.0.2.9", .ttl = 60},
    {"other.test", 0, .rcode = NAME_NXDOMAIN, .soa_minimum = 20},
};

static struct name_server server;

static void begin(const coil_resolver_opts *opts)
{
    static const coil_resolver_opts quick = {.timeout_ns = COIL_SEC(5)};

    name_server_start(&server, rules, COUNT(rules));
    name_server_use(&server, opts != NULL ? opts : &quick);
}

/* Return the addresses, such as "192.0.2.1 2001:db8::1", or the error. */
static const char *addresses_of(const struct addrinfo *list)
{
    static char text[8192];
    size_t used = 0;

    text[0] = '\0';
    for (; list != NULL; list = list->ai_next) {
        char host[NI_MAXHOST];

        getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof host, NULL, 0,
                    NI_NUMERICHOST);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 used > 0 ? " " : "", host);
    }
    return text;
}

static const char *look_up(const char *host, const struct addrinfo *hints)
{
    struct addrinfo *list;
    int rc = coil_getaddrinfo(host, "80", hints, &list);
    const char *text;

    if (rc < 0)
        return strerrorname_np(-rc);
    text = addresses_of(list);
    freeaddrinfo(list);
    return text;
}

/* ---- answers ----------------------------------------------------------------------- */

IO_TEST(resolver_asks_a_name_server)
{
    begin(NULL);
    CHECK_STR(coil_resolver_name(), "c-ares");
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_INT(server.questions, 1);
    CHECK_STR(look_up("two.test", &v6), "2001:db8::2");
    CHECK_INT(server.questions, 2);
    name_server_stop(&server);
}

TASK_TEST(resolver_asks_for_both_families_at_once)
{
    struct addrinfo *list;

    begin(NULL);
    CHECK_INT(coil_getaddrinfo("two.test", "80", &tcp, &list), 0);
    CHECK(strcmp(addresses_of(list), "2001:db8::2 192.0.2.2") == 0 ||
          strcmp(addresses_of(list), "192.0.2.2 2001:db8::2") == 0);
    freeaddrinfo(list);
    CHECK_STR(look_up("no-six.test", &tcp), "192.0.2.4");
    CHECK_STR(look_up("one.test", &tcp), "192.0.2.1");
    CHECK_INT(server.questions, 6);
    name_server_stop(&server);
}

TASK_TEST(resolver_makes_the_list_that_getaddrinfo_makes)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_CANONNAME};
    struct addrinfo *list, *theirs, *a, *b;

    begin(NULL);
    CHECK_INT(coil_getaddrinfo("alias.test", "80", &hints, &list), 0);
    CHECK_STR(list->ai_canonname, "proper.test");
    CHECK_INT(getaddrinfo("192.0.2.3", "80", &hints, &theirs), 0);
    for (a = list, b = theirs; a != NULL && b != NULL; a = a->ai_next, b = b->ai_next) {
        CHECK_INT(a->ai_flags, hints.ai_flags);
        CHECK_INT(a->ai_family, b->ai_family);
        CHECK_INT(a->ai_socktype, b->ai_socktype);
        CHECK_INT(a->ai_protocol, b->ai_protocol);
        CHECK_INT(a->ai_addrlen, b->ai_addrlen);
        CHECK(memcmp(a->ai_addr, b->ai_addr, a->ai_addrlen) == 0);
        CHECK(a == list || a->ai_canonname == NULL);
    }
    CHECK(a == NULL && b == NULL);
    freeaddrinfo(list);
    freeaddrinfo(theirs);
    name_server_stop(&server);
}

TASK_TEST(resolver_knows_services_by_name)
{
    struct addrinfo *list;

    if (test_under_valgrind())
        test_skip("valgrind reports memory that glibc keeps per thread as leaked");
    begin(NULL);
    CHECK_INT(coil_getaddrinfo("one.test", "http", &v4, &list), 0);
    CHECK_INT(ntohs(((struct sockaddr_in *)(void *)list->ai_addr)->sin_port), 80);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("one.test", "no-such-service", &v4, &list), -ENOENT);
    name_server_stop(&server);
}

TASK_TEST(resolver_fails_with_errnos_and_sentences)
{
    begin(NULL);
    CHECK_STR(look_up("nobody.test", &tcp), "ENOENT");
    CHECK(strstr(coil_error_message(coil_last_error()),
                 "look-up of nobody.test: there is no such name (queried: 127.0.0.1:"));
    CHECK_STR(look_up("one.test", &v6), "ENOENT");
    CHECK(strstr(coil_error_message(coil_last_error()), "no address of this kind"));
    CHECK_STR(look_up("servfail.test", &tcp), "EAGAIN");
    CHECK(strstr(coil_error_message(coil_last_error()), "all have failed"));
    CHECK_STR(look_up("refused.test", &tcp), "EAGAIN");
    CHECK_STR(look_up("format.test", &tcp), "EIO");
    CHECK_STR(look_up("a..b", &v4), "ENOENT");
    name_server_use(&server, &(coil_resolver_opts){.timeout_ns = COIL_MSEC(20)});
    CHECK_STR(look_up("silent.test", &v4), "EAGAIN");
    CHECK(strstr(coil_error_message(coil_last_error()), "no name server answers"));
    name_server_stop(&server);
}

TASK_TEST(resolver_asks_again_when_a_packet_was_lost)
{
    begin(&(coil_resolver_opts){.timeout_ns = COIL_MSEC(500)});
    CHECK_STR(look_up("lost.test", &v4), "192.0.2.5");
    CHECK(server.questions >= 2); /* on a slow machine there may be more retries */
    name_server_stop(&server);
}

IO_TEST(resolver_asks_by_tcp_for_what_does_not_fit)
{
    struct addrinfo *list, *a;
    int count = 0;

    begin(NULL);
    CHECK_INT(coil_getaddrinfo("long.test", "80", &v4, &list), 0);
    for (a = list; a != NULL; a = a->ai_next)
        count++;
    CHECK_INT(count, 100);
    freeaddrinfo(list);
    CHECK_INT(server.tcp_questions, 1);
    name_server_stop(&server);
}

/*
 * The first server's port belongs to a socket that is connected to itself, so queries to
 * it are refused.
 */
TASK_TEST(resolver_asks_the_next_server_when_the_first_is_dead)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int dead = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char servers[64];

    begin(NULL);
    bind(dead, (struct sockaddr *)&name, length);
    getsockname(dead, (struct sockaddr *)&name, &length);
    CHECK_INT(connect(dead, (struct sockaddr *)&name, length), 0);
    snprintf(servers, sizeof servers, "127.0.0.1:%u,127.0.0.1:%u", ntohs(name.sin_port),
             server.port);
    name_server_use(&server, &(coil_resolver_opts){.servers = servers});
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    close(dead);
    name_server_stop(&server);
}

/* ---- what is kept ------------------------------------------------------------------ */

TASK_TEST(resolver_keeps_answers_for_their_time)
{
    begin(NULL);
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_STR(look_up("ONE.test", &v4), "192.0.2.1");
    coil_sleep(COIL_SEC(59));
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_INT(server.questions, 1);
    coil_sleep(COIL_SEC(2));
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_INT(server.questions, 2);
    coil_resolver_flush();
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_INT(server.questions, 3);
    name_server_stop(&server);
}

TASK_TEST(resolver_caches_negative_answers)
{
    begin(NULL);
    for (int i = 0; i < 3; i++)
        CHECK_STR(look_up("other.test", &v4), "ENOENT");
    CHECK_INT(server.questions, 1);
    coil_sleep(COIL_SEC(21)); /* the SOA record specifies 20 s */
    CHECK_STR(look_up("other.test", &v4), "ENOENT");
    CHECK_INT(server.questions, 2);
    for (int i = 0; i < 3; i++)
        CHECK_STR(look_up("nobody.test", &v4), "ENOENT");
    CHECK_INT(server.questions, 3);
    coil_sleep(COIL_SEC(6)); /* without a SOA record: 5 s */
    CHECK_STR(look_up("nobody.test", &v4), "ENOENT");
    CHECK_INT(server.questions, 4);
    name_server_stop(&server);
}

TASK_TEST(resolver_caches_neither_failures_nor_answers_with_a_ttl_of_0)
{
    unsigned before;

    begin(NULL);
    CHECK_STR(look_up("servfail.test", &v4), "EAGAIN");
    before = server.questions;
    CHECK_STR(look_up("servfail.test", &v4), "EAGAIN");
    CHECK(server.questions > before);
    before = server.questions;
    CHECK_STR(look_up("no-keep.test", &v4), "192.0.2.8");
    CHECK_STR(look_up("no-keep.test", &v4), "192.0.2.8");
    CHECK_INT(server.questions, before + 2);
    name_server_stop(&server);
}

TASK_TEST(resolver_cache_has_a_maximum_size)
{
    begin(&(coil_resolver_opts){.cache_entries = 2});
    look_up("one.test", &v4);
    look_up("two.test", &v4);
    look_up("one.test", &v4);
    look_up("alias.test", &v4); /* two.test is removed */
    CHECK_INT(server.questions, 3);
    look_up("one.test", &v4);
    CHECK_INT(server.questions, 3);
    look_up("two.test", &v4);
    CHECK_INT(server.questions, 4);
    name_server_use(&server, &(coil_resolver_opts){.no_cache = true});
    look_up("one.test", &v4);
    look_up("one.test", &v4);
    CHECK_INT(server.questions, 6);
    name_server_stop(&server);
}

enum { HOSTS = 24 };

/* Write a host of `length` bytes, such as "aaaaa.aaa.test". */
static char *long_host(char *host, size_t length, char letter)
{
    for (size_t i = 0; i < length; i++)
        host[i] = i % 40 == 39 ? '.' : letter;
    memcpy(host + length - 5, ".test", 6);
    return host;
}

/*
 * Short questions with one address and all others have different memory, some of which is
 * reused. Check that each has its own answer.
 */
TASK_TEST(resolver_answers_hosts_of_any_length)
{
    static char hosts[HOSTS][256], addresses[HOSTS][16];
    static struct name_rule many[HOSTS];
    struct addrinfo hints = v4, *list;

    hints.ai_flags = AI_CANONNAME;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(addresses[i], sizeof addresses[i], "192.0.2.%d", i + 1);
        many[i] = (struct name_rule){
            .name = long_host(hosts[i], 7 + (size_t)i * 8, (char)('a' + i)),
            .type = 'A',
            .address = addresses[i],
            .filler = i % 3 == 0 ? 2 : 0,
            .ttl = 60};
    }
    name_server_start(&server, many, HOSTS);
    name_server_use(&server, &(coil_resolver_opts){.cache_entries = 7});
    for (int i = 0; i < 4 * HOSTS; i++) {
        int k = i * 7 % HOSTS;

        CHECK_INT(coil_getaddrinfo(hosts[k], "80", &hints, &list), 0);
        CHECK_STR(list->ai_canonname, hosts[k]);
        CHECK(strstr(addresses_of(list), addresses[k]) != NULL);
        CHECK((list->ai_next != NULL) == (many[k].filler > 0));
        freeaddrinfo(list);
        if (i == 2 * HOSTS)
            coil_resolver_flush();
    }
    name_server_stop(&server);
}

/* ---- concurrent look-ups ----------------------------------------------------------- */

static int look_up_task(void *arg)
{
    struct addrinfo *list;
    int rc = coil_getaddrinfo(arg, "80", &v4, &list);

    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

TASK_TEST(resolver_shares_one_query_among_look_ups)
{
    coil_task *tasks[10];

    begin(NULL);
    for (int i = 0; i < 10; i++)
        CHECK_INT(coil_spawn(look_up_task, (void *)"slow.test", NULL, &tasks[i]), 0);
    settle();
    for (int i = 0; i < 10; i += 2)
        coil_task_cancel(tasks[i], NULL);
    name_server_release(&server);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(coil_task_await(tasks[i]), i % 2 == 0 ? -ECANCELED : 0);
        coil_task_release(tasks[i]);
    }
    CHECK_INT(server.questions, 1);
    name_server_stop(&server);
}

/* An answer is cached even if no task is waiting for it any more. */
TASK_TEST(resolver_caches_answers_for_which_no_task_waits)
{
    coil_task *task;

    begin(NULL);
    CHECK_INT(coil_spawn(look_up_task, (void *)"slow.test", NULL, &task), 0);
    settle();
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    name_server_release(&server);
    CHECK_STR(look_up("slow.test", &v4), "192.0.2.7");
    CHECK_INT(server.questions, 1);
    name_server_stop(&server);
}

/*
 * The queries are still open at the end of the test, so the loop must cancel them when it
 * closes.
 */
IO_TEST(resolver_may_be_closed_with_questions_open)
{
    coil_task *task;

    begin(NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_spawn(look_up_task, (void *)(i ? "silent.test" : "slow.test"),
                             NULL, &task),
                  0);
        settle();
        coil_task_cancel(task, NULL);
        CHECK_INT(coil_task_await(task), -ECANCELED);
        coil_task_release(task);
    }
    name_server_stop(&server);
}

TASK_TEST(resolver_may_be_configured_with_questions_open)
{
    coil_task *task;

    begin(NULL);
    CHECK_INT(coil_spawn(look_up_task, (void *)"slow.test", NULL, &task), 0);
    settle();
    name_server_use(&server, NULL);
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    name_server_release(&server);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    CHECK_STR(look_up("slow.test", &v4), "192.0.2.7"); /* queried again */
    CHECK_INT(server.questions, 3);
    name_server_stop(&server);
}

static int look_up_numbered(void *arg)
{
    char name[32];

    snprintf(name, sizeof name, "host%zu.test", (size_t)arg);
    return look_up_task(name);
}

TASK_TEST(resolver_asks_for_a_thousand_names_at_once)
{
    static struct name_rule many[1000];
    static char names[1000][16];
    static coil_task *tasks[1000];

    for (size_t i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "host%zu.test", i);
        many[i] = (struct name_rule){names[i], 'A', "192.0.2.1", .ttl = 60};
    }
    name_server_start(&server, many, 1000);
    name_server_use(&server,
                    &(coil_resolver_opts){.timeout_ns = COIL_MSEC(500), .tries = 5});
    for (size_t i = 0; i < 1000; i++)
        CHECK_INT(coil_spawn(look_up_numbered, (void *)i, NULL, &tasks[i]), 0);
    for (size_t i = 0; i < 1000; i++) {
        CHECK_INT(coil_task_await(tasks[i]), 0);
        coil_task_release(tasks[i]);
    }
    CHECK(server.questions >= 1000);
    name_server_stop(&server);
}

/* ---- files ------------------------------------------------------------------------- */

/* Write `text` to a new file, and set `path`, which ends with XXXXXX, to its name. */
static void make_file(char *path, const char *text)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

TASK_TEST(resolver_reads_the_hosts_file)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct addrinfo canonical = {
        .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME};
    struct addrinfo *list;

    make_file(path, "# comment\n192.0.2.50 Proper.example alias # and more\n\n"
                    "\t192.0.2.51\talias\n::ffff one two\n2001:db8::50 alias\n"
                    "not-an-address strange\n192.0.2.52 last");
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_STR(look_up("alias", &v4), "192.0.2.50 192.0.2.51");
    CHECK_STR(look_up("ALIAS", &v6), "2001:db8::50");
    CHECK_STR(look_up("last", &v4), "192.0.2.52");
    CHECK_STR(look_up("last", &v6), "ENOENT");
    CHECK_STR(look_up("strange", &v4), "ENOENT");
    CHECK_INT(coil_getaddrinfo("alias", NULL, &canonical, &list), 0);
    CHECK_STR(list->ai_canonname, "proper.example");
    freeaddrinfo(list);
    CHECK_INT(server.questions, 0);
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    unlink(path);
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up("last", &v4), "ENOENT"); /* the changed file was read */
    CHECK(server.questions > 1);
    name_server_stop(&server);
}

/*
 * If a file or a socket cannot be opened for lack of descriptors, nothing is known about
 * the name, and the next look-up tries again.
 */
IO_TEST(resolver_reports_a_lack_of_descriptors)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";
    int before;

    make_file(path, "192.0.2.50 listed\n");
    begin(&(coil_resolver_opts){.hosts_file = path});
    before = limit_descriptors(0);
    CHECK_STR(look_up("listed", &v4), "EMFILE");
    restore_descriptors(before);
    CHECK_STR(look_up("listed", &v4), "192.0.2.50");
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    before = limit_descriptors(0);
    CHECK_STR(look_up("two.test", &v4), "EMFILE");
    CHECK(strstr(coil_error_message(coil_last_error()), "no descriptor") != NULL);
    restore_descriptors(before);
    CHECK_STR(look_up("two.test", &v4), "192.0.2.2");
    unlink(path);
    name_server_stop(&server);
}

/*
 * The hosts file may have a hundred thousand lines, to block hosts, so it is read again
 * only if it has changed.
 */
TASK_TEST(resolver_reads_the_hosts_file_only_when_it_has_changed)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct timespec times[2];
    struct stat before;

    make_file(path, "192.0.2.50 first\n");
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_STR(look_up("first", &v4), "192.0.2.50");
    CHECK_INT(stat(path, &before), 0);
    write_file(path, "192.0.2.51 first\n");
    times[0] = before.st_atim;
    times[1] = before.st_mtim;
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up("first", &v4), "192.0.2.50");
    times[1].tv_sec++;
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up("first", &v4), "192.0.2.51");
    CHECK_INT(server.questions, 0);
    name_server_stop(&server);
    unlink(path);
}

static const char *look_up_without_descriptors(const char *host)
{
    int before = limit_descriptors(0);
    const char *text = look_up(host, &v4);

    restore_descriptors(before);
    return text;
}

/*
 * If descriptors have run out, the hosts file is not taken for an empty file: no name of
 * that file is sent to the server. The search list is not lost either.
 */
TASK_TEST(resolver_reads_its_files_later_if_descriptors_have_run_out)
{
    char hosts[] = "/tmp/coil-hosts-XXXXXX", conf[] = "/tmp/coil-resolv-XXXXXX";
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    make_file(hosts, "192.0.2.50 one.test\n");
    make_file(conf, "search sub.test\n");
    begin(&(coil_resolver_opts){.hosts_file = hosts, .resolv_conf_file = conf});
    CHECK_STR(look_up_without_descriptors("one.test"), "EMFILE");
    CHECK_STR(look_up("one.test", &v4), "192.0.2.50");
    CHECK_STR(look_up("far", &v4), "192.0.2.9");
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up_without_descriptors("one.test"), "192.0.2.50"); /* not changed */
    write_file(hosts, "192.0.2.51 one.test\n");
    utimensat(AT_FDCWD, hosts, times, 0);
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up_without_descriptors("one.test"), "EMFILE");
    CHECK_STR(look_up("one.test", &v4), "192.0.2.51");
    CHECK_INT(server.questions, 1);
    name_server_stop(&server);
    unlink(hosts);
    unlink(conf);
}

/* nsswitch.conf(5) chooses the engine, so it must be read. */
TASK_TEST(resolver_chooses_no_engine_without_descriptors)
{
    int before;

    begin(NULL);
    unsetenv("COIL_RESOLVER");
    before = limit_descriptors(0);
    CHECK_INT(coil_resolver_configure(NULL), -EMFILE);
    restore_descriptors(before);
    CHECK_STR(coil_error_message(coil_last_error()),
              "cannot read /etc/nsswitch.conf: Too many open files");
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1"); /* nothing has changed */
    name_server_stop(&server);
}

TASK_TEST(resolver_takes_zones_of_the_hosts_file)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";
    struct addrinfo *list = NULL;

    if (if_nametoindex("lo") == 0)
        test_skip("there is no interface 'lo'");
    make_file(path, "fe80::7%lo near.test\n");
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_INT(coil_getaddrinfo("near.test", "80", &v6, &list), 0);
    CHECK_INT(((struct sockaddr_in6 *)(void *)list->ai_addr)->sin6_scope_id,
              if_nametoindex("lo"));
    freeaddrinfo(list);
    CHECK_INT(server.questions, 0);
    name_server_stop(&server);
    unlink(path);
}

TASK_TEST(resolver_asks_no_server_for_the_other_family_of_a_host_in_the_file)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";

    make_file(path, "192.0.2.50 two.test\n");
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_STR(look_up("two.test", &tcp), "192.0.2.50");
    CHECK_STR(look_up("two.test", &v6), "ENOENT");
    CHECK_INT(server.questions, 0);
    name_server_stop(&server);
    unlink(path);
}

TASK_TEST(resolver_reads_a_hosts_file_beyond_a_nul)
{
    static const char text[] = "192.0.2.50 first\0 hidden\n192.0.2.51 second\n";
    char path[] = "/tmp/coil-hosts-XXXXXX";
    int fd = mkstemp(path);

    CHECK_INT(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_STR(look_up("first", &v4), "192.0.2.50");
    CHECK_STR(look_up("hidden", &v4), "ENOENT");
    CHECK_STR(look_up("second", &v4), "192.0.2.51");
    name_server_stop(&server);
    unlink(path);
}

TASK_TEST(resolver_ignores_answers_that_are_marked_as_queries)
{
    static const struct name_rule asking[] = {
        {"one.test", 'A', .address = "192.0.2.1", .ttl = 60, .asks_back = true},
        {"none.test", 0, .rcode = 3, .asks_back = true},
    };
    coil_resolver_opts opts = {.timeout_ns = COIL_MSEC(100), .tries = 1};

    name_server_start(&server, asking, 2);
    name_server_use(&server, &opts);
    CHECK(strcmp(look_up("one.test", &v4), "192.0.2.1") != 0);
    CHECK(strcmp(look_up("none.test", &v4), "ENOENT") != 0);
    name_server_stop(&server);
}

TASK_TEST(resolver_searches_the_domains_of_resolv_conf)
{
    char path[] = "/tmp/coil-resolv-XXXXXX";

    make_file(path, "search nowhere.test sub.test\noptions ndots:1\n");
    begin(&(coil_resolver_opts){.resolv_conf_file = path});
    CHECK_STR(look_up("far", &v4), "192.0.2.9");
    CHECK_INT(server.questions, 2);
    CHECK_STR(look_up("far.", &v4), "ENOENT");
    name_server_stop(&server);
    unlink(path);
}

/* Without a domain, systemd-resolved writes "search .". */
TASK_TEST(resolver_searches_the_root)
{
    static const struct name_rule root[] = {
        {"host", 'A', "192.0.2.10", .ttl = 60},
        {"host.sub.test", 'A', "192.0.2.11", .ttl = 60},
        {"far.sub.test", 'A', "192.0.2.12", .ttl = 60},
    };
    static const char *const texts[] = {"search .\n", "domain .\n", "",
                                        "search . sub.test\n", "search sub.test .\n"};
    static const char *const hosts[] = {"192.0.2.10", "192.0.2.10", "192.0.2.10",
                                        "192.0.2.10", "192.0.2.11"};
    char path[] = "/tmp/coil-resolv-XXXXXX";

    /* otherwise a search list would be derived from the machine's host name */
    setenv("LOCALDOMAIN", "", 1);
    make_file(path, "");
    name_server_start(&server, root, COUNT(root));
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_file(path, texts[i]);
        name_server_use(&server, &(coil_resolver_opts){.resolv_conf_file = path});
        CHECK_STR(look_up("host", &v4), hosts[i]);
        CHECK_STR(look_up("far.sub.test", &v4), "192.0.2.12");
        CHECK_STR(look_up("far", &v4), i < 3 ? "ENOENT" : "192.0.2.12");
        CHECK_STR(look_up("nowhere", &v4), "ENOENT");
        CHECK_STR(look_up("nowhere.", &v4), "ENOENT");
    }
    name_server_stop(&server);
    unlink(path);
}

/*
 * If a server fails, the search continues with the next name. If no later name is found,
 * the result is the server's failure, not "not found". (res_search(3))
 */
TASK_TEST(resolver_searches_on_after_a_failure)
{
    static const struct name_rule failing[] = {
        {"near.broken.test", 0, .rcode = NAME_SERVFAIL},
        {"far.broken.test", 0, .rcode = NAME_SERVFAIL},
        {"far.sub.test", 'A', "192.0.2.9", .ttl = 60},
        {"empty.sub.test", 'A', .ttl = 60},
    };
    struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_CANONNAME}, *list;
    char path[] = "/tmp/coil-resolv-XXXXXX";

    make_file(path, "search broken.test sub.test\n");
    name_server_start(&server, failing, COUNT(failing));
    name_server_use(&server, &(coil_resolver_opts){.resolv_conf_file = path});
    CHECK_INT(coil_getaddrinfo("far", "80", &hints, &list), 0);
    CHECK_STR(list->ai_canonname, "far.sub.test");
    freeaddrinfo(list);
    CHECK_STR(look_up("near", &v4), "EAGAIN");
    CHECK_STR(look_up("empty", &v4), "ENOENT");
    name_server_stop(&server);
    unlink(path);
}

/* ---- servers with a zone ----------------------------------------------------------- */

/*
 * A name server on ::1 that forwards queries to the other server, and returns the
 * answers.
 */
static int relay(void *arg)
{
    coil_datagram *front = arg, *back = NULL;
    char port[16], bytes[512];
    coil_address from;
    ssize_t n;

    snprintf(port, sizeof port, "%u", server.port);
    CHECK_INT(coil_datagram_connect("127.0.0.1", port, &back), 0);
    while ((n = coil_receive_from(front, bytes, sizeof bytes, &from)) >= 0) {
        CHECK_INT(coil_send(back, bytes, (size_t)n), n);
        n = coil_receive(back, bytes, sizeof bytes);
        if (n < 0)
            break;
        CHECK_INT(coil_send_to(front, bytes, (size_t)n, &from.any, from.length), n);
    }
    coil_datagram_destroy(back);
    return (int)n;
}

/*
 * A server's address may have a zone, such as "fe80::1%eth0" in resolv.conf. coil allows
 * a zone in any address, here ::1.
 */
IO_TEST(resolver_asks_a_server_with_a_zone)
{
    char servers[128];
    coil_datagram *front;
    coil_address name;
    coil_task *task;

    if (coil_datagram_open("::1", "0", 0, &front) < 0)
        test_skip("this machine has no IPv6");
    CHECK_INT(coil_datagram_name(front, &name), 0);
    snprintf(servers, sizeof servers, "[fe80::7%%lo]:9, [::1%%lo]:%u",
             coil_address_port(&name));
    begin(&(coil_resolver_opts){.servers = servers, .timeout_ns = COIL_MSEC(300)});
    CHECK_INT(coil_spawn(relay, front, NULL, &task), 0);
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1");
    CHECK_STR(look_up("other.test", &v4), "ENOENT");
    CHECK(strstr(coil_error_message(coil_last_error()), "[::1%") != NULL);
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    coil_datagram_destroy(front);
    name_server_stop(&server);
}

/*
 * The look-up fails, because no server uses port 53 of ::1. The message lists the
 * servers.
 */
TASK_TEST(resolver_reads_servers_with_a_zone)
{
    char path[] = "/tmp/coil-resolv-XXXXXX", zone[32];

    make_file(path,
              "nameserver 127.0.0.3\n#nameserver ::9%lo\nnameserver\tfe80::7%lo # x\n"
              "nameserver fe80::8%no-such-zone\nnameserver ::2\n");
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.engine = "c-ares",
                                                            .hosts_file = "/dev/null",
                                                            .resolv_conf_file = path,
                                                            .timeout_ns = COIL_MSEC(5),
                                                            .tries = 1}),
              0);
    CHECK_STR(look_up("one.test", &v4), "EAGAIN");
    snprintf(zone, sizeof zone, "[fe80::7%%%u]:53, [::2]:53", if_nametoindex("lo"));
    CHECK(strstr(coil_error_message(coil_last_error()), "127.0.0.3:53, ") != NULL);
    if (strstr(coil_error_message(coil_last_error()), zone) == NULL)
        CHECK_STR(coil_error_message(coil_last_error()), zone);
    unlink(path);
}

/* Wait until the server has received n queries, and check that there are no more. */
static void check_questions(unsigned n)
{
    while (server.questions < n)
        usleep(1000);
    CHECK_INT(server.questions, n);
}

/*
 * The caller's options take precedence over the environment, and the environment over
 * resolv.conf.
 */
TASK_TEST(resolver_asks_as_often_as_resolv_conf_says)
{
    char path[] = "/tmp/coil-resolv-XXXXXX";
    coil_resolver_opts opts = {.timeout_ns = COIL_MSEC(20), .resolv_conf_file = path};

    make_file(path, "options rotate attempts:1\n");
    begin(&opts);
    CHECK_STR(look_up("silent.test", &v4), "EAGAIN");
    check_questions(1);
    setenv("RES_OPTIONS", "attempts:3", 1);
    name_server_use(&server, &opts);
    CHECK_STR(look_up("silent.test", &v4), "EAGAIN");
    check_questions(1 + 3);
    opts.tries = 2;
    name_server_use(&server, &opts);
    CHECK_STR(look_up("silent.test", &v4), "EAGAIN");
    check_questions(1 + 3 + 2);
    name_server_stop(&server);
    unlink(path);
}

TASK_TEST(resolver_reads_resolv_conf_again_when_it_has_changed)
{
    char path[] = "/tmp/coil-resolv-XXXXXX";
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    make_file(path, "search nowhere.test\n");
    begin(&(coil_resolver_opts){.resolv_conf_file = path});
    CHECK_STR(look_up("far", &v4), "ENOENT");
    write_file(path, "search sub.test\n");
    utimensat(AT_FDCWD, path, times, 0);
    CHECK_STR(look_up("far", &v4), "ENOENT"); /* resolv.conf is not read again so soon */
    coil_sleep(COIL_SEC(1));
    CHECK_STR(look_up("far", &v4), "192.0.2.9");
    name_server_stop(&server);
    unlink(path);
}

/*
 * The server is queried neither for an address with a nonexistent zone nor for a text
 * with a colon that is not an address.
 */
TASK_TEST(resolver_queries_only_valid_names)
{
    begin(NULL);
    CHECK_STR(look_up("fe80::1%nowhere", &tcp), "ENOENT");
    CHECK_STR(look_up("one.test:80", &tcp), "ENOENT");
    CHECK_STR(coil_error_message(coil_last_error()),
              "look-up of one.test:80: a host name cannot contain a colon");
    CHECK_INT(server.questions, 0);
    name_server_stop(&server);
}

/* Names in "invalid" are never queried, whatever the files contain. (RFC 6761) */
TASK_TEST(resolver_asks_no_server_for_names_in_invalid)
{
    begin(NULL);
    CHECK_STR(look_up("invalid", &v4), "ENOENT");
    CHECK_STR(look_up("host.invalid.", &v6), "ENOENT");
    CHECK_STR(look_up("HOST.Invalid", &v4), "ENOENT");
    CHECK_INT(server.questions, 0);
    name_server_stop(&server);
}

TASK_TEST(resolver_knows_localhost)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";

    make_file(path, "192.0.2.66 localhost\n127.0.0.7 seven.localhost\n");
    begin(&(coil_resolver_opts){.hosts_file = path});
    CHECK_STR(look_up("localhost", &v4), "127.0.0.1");
    CHECK_STR(look_up("LocalHost.", &v4), "127.0.0.1");
    CHECK_STR(look_up("my.localhost", &v6), "::1");
    CHECK_STR(look_up("my.localhost", &v4), "127.0.0.1");
    CHECK_STR(look_up("seven.localhost", &v4), "127.0.0.7");
    CHECK_INT(server.questions, 0);
    CHECK_STR(look_up("notlocalhost", &v4), "ENOENT");
    CHECK(server.questions > 0);
    name_server_stop(&server);
    unlink(path);
}

/* coil resolves "localhost" itself, without using the engine. */
TASK_TEST(resolver_knows_localhost_whatever_the_engine)
{
    char path[] = "/tmp/coil-hosts-XXXXXX";

    make_file(path, "192.0.2.66 localhost\n");
    CHECK_INT(coil_resolver_configure(
                  &(coil_resolver_opts){.engine = "getaddrinfo", .hosts_file = path}),
              0);
    CHECK_STR(look_up("localhost", &v4), "127.0.0.1");
    CHECK_STR(look_up("LocalHost.", &v6), "::1");
    CHECK_STR(look_up("my.localhost", &v4), "127.0.0.1");
    CHECK_INT(coil_resolver_configure(NULL), 0);
    unlink(path);
}

/* ---- options ----------------------------------------------------------------------- */

TASK_TEST(resolver_refuses_options_that_make_no_sense)
{
    static const coil_resolver_opts bad[] = {
        {.engine = "no-such-engine"},
        {.engine = "getaddrinfo", .servers = "127.0.0.1"},
        {.timeout_ns = -1},
        {.engine = "c-ares", .servers = "not a server"},
        {.engine = "c-ares", .servers = ""},
        {.engine = "c-ares", .servers = "127.0.0.1:65536"},
        {.engine = "c-ares", .servers = "127.0.0.1,[::1]:99999,127.0.0.2:53"},
        {.engine = "c-ares", .servers = "[fe80::1%lo]:99999"},
        {.engine = "c-ares", .servers = "fe80::1%no-such-zone"},
        {.engine = "c-ares", .servers = "fe80::1%"},
        {.engine = "c-ares", .servers = "192.0.2.1%lo"},
        {.engine = "c-ares", .servers = "[fe80::1%lo"},
        {.engine = "c-ares", .servers = "fe80::1%lo]x"},
    };

    begin(NULL);
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_INT(coil_resolver_configure(&bad[i]), -EINVAL);
    CHECK_STR(look_up("one.test", &v4), "192.0.2.1"); /* nothing has changed */
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.engine = "getaddrinfo"}), 0);
    CHECK_STR(coil_resolver_name(), "getaddrinfo");
    CHECK_INT(coil_resolver_configure(NULL), 0);
    name_server_stop(&server);
}

/* Look-ups fail with a message, unless they need no resolver. */
TASK_TEST(resolver_that_the_environment_misspells_is_named)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    coil_stream *stream;

    setenv("COIL_RESOLVER", "nonsense", 1);
    CHECK_INT(coil_getaddrinfo("127.0.0.1", "80", &hints, &list), 0);
    freeaddrinfo(list);
    CHECK_INT(coil_getaddrinfo("localhost", "80", &hints, &list), -EINVAL);
    CHECK(strstr(coil_error_message(coil_last_error()),
                 "COIL_RESOLVER: 'nonsense' is not a resolver") != NULL);
    CHECK_INT(coil_connect("localhost", "80", &stream), -EINVAL);
    setenv("COIL_RESOLVER", "getaddrinfo", 1);
    CHECK_INT(coil_resolver_configure(&(coil_resolver_opts){.engine = "nonsense"}),
              -EINVAL);
    CHECK(strstr(coil_error_message(coil_last_error()),
                 "coil_resolver_opts.engine: 'nonsense' is not a resolver") != NULL);
}

/* ---- failing calls ----------------------------------------------------------------- */

/* timeout of a query */
static int64_t patience = COIL_MSEC(20);

static int all_that_may_fail(void *arg)
{
    struct addrinfo canonical = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME};
    struct addrinfo *list;
    int rc;

    (void)arg;
    rc = name_server_try(&server, &(coil_resolver_opts){.timeout_ns = patience});
    if (rc < 0)
        return rc;
    rc = coil_getaddrinfo("two.test", "80", &canonical, &list);
    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

/*
 * Repeat a look-up while its n-th system call or allocation fails, for n = 1, 2, ...,
 * until there are fewer. Returns the number of look-ups that failed.
 */
static int fail_each(void (*fail)(uint64_t n))
{
    int failures = 0;

    for (uint64_t n = 1;; n++) {
        int rc;

        fail(n);
        rc = coil_testing_run(all_that_may_fail, NULL);
        CHECK(rc <= 0);
        if (coil_testing_failed() != NULL) {
            failures += rc < 0;
        } else if (rc < 0 && patience < COIL_SEC(5)) {
            patience *= 4; /* the server was too slow, so try again */
            n--;
        } else {
            CHECK_INT(rc, 0);
            fail(0);
            return failures;
        }
    }
}

static void fail_call(uint64_t n)
{
    coil_testing_fail_system_call(n, 0);
}

/* The look-up must end, whichever call fails. */
TEST(resolver_survives_what_fails)
{
    name_server_start(&server, rules, COUNT(rules));
    CHECK(fail_each(fail_call) > 3);
    CHECK(fail_each(coil_testing_fail_allocation) > 10);
    name_server_stop(&server);
}
