/*
 * channel_cares.c - queries name servers with c-ares, whose sockets the loop watches.
 *
 *   ask --> line --> ares_query() --> watched sockets --> ares_process_fd() --> answered
 *                     ^    |                                    ^                |
 *                     |    `----------- the timer --------------'                |
 *                     `------------- the next name of the search ----------------'
 *
 * c-ares opens sockets and reports the events to watch for. The loop calls c-ares when
 * sockets are ready or a time-out has passed. c-ares opens, uses and closes its sockets
 * through functions in this file, which never block, and which tests can make fail.
 *
 * c-ares handles at most IN_FLIGHT questions at a time; the others are queued. All
 * queries share one socket, whose buffer must hold all answers that arrive at the same
 * time. An answer that does not fit is lost, and c-ares repeats the query only after a
 * time-out of several seconds.
 *
 * TIME-OUTS. There is one timer, which the first question starts. Each time the timer
 * expires, it is set to the next time-out of c-ares. c-ares reads the real clock, but a
 * virtual clock does not advance while a question is in progress. So if the loop's clock
 * is virtual, an alarm (kernel/descriptors.h) replaces the timer.
 *
 * LIFE. When resolv.conf has changed, a new channel is opened. The old channel is
 * retired, and is destroyed once its questions are answered. c-ares must not be destroyed
 * inside one of its callbacks, so after_cares(), which is called after each call to
 * c-ares, destroys the channel.
 *
 * Start reading at coil__channel_ask() and answered().
 */
#include "dns_answer.h"
#include "resolver.h"
#include "zones.h"

#include "../base/fault.h"
#include "../kernel/descriptors.h"

#include <ares.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define IN_FLIGHT 100
#define CLASS_IN 1

const char *const coil__channel_engine = "c-ares";

struct coil__channel {
    struct coil__list link; /* in resolver.retired, once the channel is retired */
    struct coil__resolver *resolver;
    coil_loop *loop;
    ares_channel ares;
    struct coil__resolv_conf conf;
    struct coil__zones zones;
    struct coil__list sockets;
    struct coil__list line; /* question.in_use */
    size_t in_flight;
    struct coil__timer timer;
    struct dns_socket *clock; /* the alarm, if the loop's clock is virtual */
    bool timing;
    bool retired, starting;
    /* 0, or the error if the loop could not watch a socket or set a timer */
    int broken;
    /* 0, or the error if c-ares' last socket was not opened for lack of descriptors */
    int lack;
    char servers[256];
};

struct dns_socket {
    struct coil__list link;
    struct coil__channel *channel;
    int fd;
    bool watched[2]; /* by direction */
    struct coil__runnable ready[2];
};

static void after_cares(struct coil__channel *channel);

/* ---- the socket functions of c-ares ------------------------------------------------ */

static struct dns_socket *find_socket(struct coil__channel *channel, int fd)
{
    COIL__LIST_EACH (link, &channel->sockets) {
        struct dns_socket *s = COIL__CONTAINER(link, struct dns_socket, link);

        if (s->fd == fd)
            return s;
    }
    return NULL;
}

static int watch_socket(struct dns_socket *s, enum coil__direction direction, bool on)
{
    coil_loop *loop = s->channel->loop;
    int rc = 0;

    if (s->watched[direction] == on)
        return 0;
    if (on)
        rc = coil__loop_watch(loop, s->fd, direction, &s->ready[direction]);
    else
        coil__loop_unwatch(loop, s->fd, direction, &s->ready[direction]);
    s->watched[direction] = on && rc == 0;
    return rc;
}

static void process_socket(struct dns_socket *s, enum coil__direction direction)
{
    struct coil__channel *channel = s->channel;

    ares_process_fd(channel->ares, direction == COIL__IN ? s->fd : ARES_SOCKET_BAD,
                    direction == COIL__OUT ? s->fd : ARES_SOCKET_BAD);
    after_cares(channel);
}

static void readable(struct coil__runnable *runnable)
{
    process_socket(COIL__CONTAINER(runnable, struct dns_socket, ready[COIL__IN]),
                   COIL__IN);
}

static void writable(struct coil__runnable *runnable)
{
    process_socket(COIL__CONTAINER(runnable, struct dns_socket, ready[COIL__OUT]),
                   COIL__OUT);
}

static struct dns_socket *create_socket(struct coil__channel *channel, int fd)
{
    struct dns_socket *s = coil__alloc_zeroed(sizeof *s);

    if (s == NULL)
        return NULL;
    s->channel = channel;
    s->fd = fd;
    coil__list_init(&s->link);
    coil__runnable_init(&s->ready[COIL__IN], readable);
    coil__runnable_init(&s->ready[COIL__OUT], writable);
    return s;
}

static void destroy_socket(struct dns_socket *s)
{
    if (s == NULL)
        return;
    watch_socket(s, COIL__IN, false);
    watch_socket(s, COIL__OUT, false);
    coil__list_remove(&s->link);
    close(s->fd);
    coil__free(s);
}

static ares_socket_t open_socket(int family, int type, int protocol, void *arg)
{
    struct coil__channel *channel = arg;
    int fd =
        COIL__CALL(EMFILE, socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
    struct dns_socket *s;

    channel->lack = fd < 0 && (errno == EMFILE || errno == ENFILE) ? -errno : 0;
    if (fd < 0)
        return ARES_SOCKET_BAD;
    s = create_socket(channel, fd);
    if (s == NULL) {
        close(fd);
        errno = ENOMEM;
        return ARES_SOCKET_BAD;
    }
    coil__list_push(&channel->sockets, &s->link);
    return fd;
}

static int close_socket(ares_socket_t fd, void *arg)
{
    destroy_socket(find_socket(arg, fd));
    return 0;
}

static int connect_socket(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t n,
                          void *arg)
{
    const struct coil__channel *channel = arg;
    struct sockaddr_in6 v6;

    if (to->sa_family == AF_INET6 && n == sizeof v6) {
        memcpy(&v6, to, sizeof v6);
        coil__zones_resolve(&channel->zones, &v6);
        to = (const struct sockaddr *)&v6;
    }
    return COIL__CALL(ENETUNREACH, connect(fd, to, n));
}

static ares_ssize_t receive(ares_socket_t fd, void *buf, size_t n, int flags,
                            struct sockaddr *from, ares_socklen_t *from_bytes, void *arg)
{
    ares_ssize_t count =
        COIL__CALL(ECONNREFUSED, recvfrom(fd, buf, n, flags, from, from_bytes));
    const struct coil__channel *channel = arg;

    if (count >= 0 && from != NULL && from->sa_family == AF_INET6)
        coil__zones_disguise(&channel->zones, (struct sockaddr_in6 *)(void *)from);
    return count;
}

static ares_ssize_t send_parts(ares_socket_t fd, const struct iovec *parts, int count,
                               void *arg)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts,
                             .msg_iovlen = (size_t)count};

    (void)arg;
    /* A query over UDP is one part, and send(2) takes less time than sendmsg(2). */
    if (count == 1)
        return COIL__CALL(ECONNREFUSED,
                          send(fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL));
    return COIL__CALL(ECONNREFUSED, sendmsg(fd, &message, MSG_NOSIGNAL));
}

static const struct ares_socket_functions socket_functions = {
    .asocket = open_socket,
    .aclose = close_socket,
    .aconnect = connect_socket,
    .arecvfrom = receive,
    .asendv = send_parts,
};

/* Called by c-ares: watch the socket for these events. */
static void socket_state(void *arg, ares_socket_t fd, int for_reading, int for_writing)
{
    struct coil__channel *channel = arg;
    struct dns_socket *s = find_socket(channel, fd);
    int rc;

    if (s == NULL)
        return;
    rc = watch_socket(s, COIL__IN, for_reading != 0);
    if (rc == 0)
        rc = watch_socket(s, COIL__OUT, for_writing != 0);
    if (rc < 0)
        channel->broken = rc;
}

/* ---- time -------------------------------------------------------------------------- */

static void time_has_come(struct coil__channel *channel)
{
    channel->timing = false;
    ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    after_cares(channel);
}

static void timer_expired(struct coil__runnable *runnable)
{
    struct coil__channel *channel =
        COIL__CONTAINER(runnable, struct coil__channel, timer.runnable);

    time_has_come(channel);
}

static void alarm_expired(struct coil__runnable *runnable)
{
    struct dns_socket *clock =
        COIL__CONTAINER(runnable, struct dns_socket, ready[COIL__IN]);

    if (coil__alarm_fd_has_rung(clock->fd))
        time_has_come(clock->channel);
}

static int open_clock(struct coil__channel *channel)
{
    int fd = coil__alarm_fd_open();

    if (fd < 0)
        return fd;
    channel->clock = create_socket(channel, fd);
    if (channel->clock == NULL) {
        close(fd);
        return -ENOMEM;
    }
    channel->clock->ready[COIL__IN].run = alarm_expired;
    return 0;
}

static int start_timer(struct coil__channel *channel, int64_t delay_ns)
{
    int rc;

    if (channel->timing)
        return 0;
    if (channel->clock != NULL) {
        rc = watch_socket(channel->clock, COIL__IN, true);
        if (rc == 0)
            coil__alarm_fd_set(channel->clock->fd, delay_ns + 1);
    } else {
        rc = coil__timer_start(channel->loop, &channel->timer, coil_in(delay_ns));
    }
    channel->timing = rc == 0;
    return rc;
}

static void stop_timer(struct coil__channel *channel)
{
    if (channel->clock != NULL)
        watch_socket(channel->clock, COIL__IN, false);
    else
        coil__timer_stop(channel->loop, &channel->timer);
    channel->timing = false;
}

/* Set the timer for the next time-out of a question in progress. */
static int set_timer_for_next(struct coil__channel *channel)
{
    struct timeval tv, *next;

    if (channel->in_flight == 0 || channel->timing)
        return 0;
    next = ares_timeout(channel->ares, NULL, &tv);
    if (next == NULL)
        return 0;
    /*
     * c-ares truncates times to milliseconds, so the real time-out may be up to 1 ms
     * later.
     */
    return start_timer(channel,
                       COIL_SEC(next->tv_sec) + COIL_USEC(next->tv_usec) + COIL_MSEC(1));
}

/* ---- answers ----------------------------------------------------------------------- */

/*
 * Convert a status of c-ares to an errno. -ENOENT, -EAGAIN and -EIO correspond to
 * EAI_NONAME, EAI_AGAIN and EAI_FAIL.
 */
static int errno_of(const struct coil__channel *channel, int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
    case ARES_EBADNAME:
        return -ENOENT;
    case ARES_ECONNREFUSED:
        return channel->lack < 0 ? channel->lack : -EAGAIN;
    case ARES_ETIMEOUT:
    case ARES_ESERVFAIL:
    case ARES_ENOTIMP:
    case ARES_EREFUSED:
        return -EAGAIN;
    case ARES_ENOMEM:
        return -ENOMEM;
    case ARES_ECANCELLED:
        return channel->broken < 0 ? channel->broken : -EAGAIN;
    default:
        return -EIO;
    }
}

static const char *phrase_of_status(int status)
{
    switch (status) {
    case ARES_ENOTFOUND:
        return "there is no such name";
    case ARES_EBADNAME:
        return "the name is malformed";
    case ARES_ENODATA:
        return "the name has no address of this kind";
    case ARES_ETIMEOUT:
        return "no name server answers";
    /* If all servers answer SERVFAIL, REFUSED or NOTIMP, c-ares 1.18 returns
     * ARES_ECONNREFUSED. Newer versions return the last server's answer. */
    case ARES_ECONNREFUSED:
    case ARES_ESERVFAIL:
    case ARES_ENOTIMP:
    case ARES_EREFUSED:
        return "no name server can be reached, or all have failed";
    default:
        return ares_strerror(status);
    }
}

/*
 * Return the rank of a failure. A search reports the failure with the highest rank, as
 * res_search(3) does.
 */
static int rank_of_failure(int status)
{
    switch (status) {
    case ARES_ENODATA: /* the name exists */
        return 2;
    case ARES_ESERVFAIL:
    case ARES_ECONNREFUSED:
        return 1;
    default:
        return 0;
    }
}

/*
 * True if the search continues with its next name after this failure. Other failures,
 * such as a time-out, end the search.
 */
static bool continues_search(int status)
{
    return rank_of_failure(status) > 0 || status == ARES_ENOTFOUND ||
           status == ARES_EBADNAME;
}

/*
 * Record that the query of one name has failed. If the first name was the host itself,
 * the whole search fails with that name's failure; otherwise it fails with the failure
 * that has the highest rank.
 */
static void note_failure(struct coil__search_state *search, int status, int64_t ttl_ns)
{
    if (search->step == 1 || (!search->began_with_host &&
                              rank_of_failure(status) > rank_of_failure(search->status)))
        search->status = status;
    if (search->step == 1 || ttl_ns < search->ttl_ns)
        search->ttl_ns = ttl_ns;
}

static bool query_next(struct coil__channel *channel, struct coil__question *q);

static void finish_question(struct coil__question *q, int status,
                            struct coil__answer *answer)
{
    struct coil__channel *channel = q->channel;

    channel->in_flight--;
    coil__loop_expect(channel->loop, -1);
    answer->rc = errno_of(channel, status);
    if (answer->rc < 0)
        answer->why = answer->rc == channel->lack ? "there is no descriptor for a socket"
                                                  : phrase_of_status(status);
    if (answer->rc == -ENOENT)
        answer->ttl_ns = q->search.ttl_ns;
    coil__question_answer(q, answer);
    coil__question_release(q);
}

static void answered(void *arg, int status, int timeouts, unsigned char *data, int n)
{
    struct coil__question *q = arg;
    struct coil__channel *channel = q->channel;
    struct coil__answer answer = {.room = q->answer.room,
                                  .room_bytes = q->answer.room_bytes};

    (void)timeouts;
    /* If the loop is closing, end the question without calling its listeners. */
    if (status == ARES_EDESTRUCTION) {
        channel->in_flight--;
        coil__loop_expect(channel->loop, -1);
        coil__question_release(q);
        return;
    }
    if (data != NULL && !coil__dns_is_response(data, n))
        status = ARES_EBADRESP;
    if (status == ARES_SUCCESS)
        status = coil__dns_parse(q->kind, data, n, &answer);
    if (continues_search(status)) {
        note_failure(&q->search, status, coil__dns_negative_ttl(data, n));
        if (query_next(channel, q))
            return;
        status = q->search.status;
    }
    finish_question(q, status, &answer);
}

/* ---- questions --------------------------------------------------------------------- */

static void fail_question(struct coil__question *q, int rc)
{
    coil__question_answer(
        q, &(struct coil__answer){.rc = rc, .why = "the loop cannot wait for an answer"});
    coil__question_release(q);
}

/* Query the next name of the search. Returns false if there is none. */
static bool query_next(struct coil__channel *channel, struct coil__question *q)
{
    static const int types[] = {[COIL__ASK_V4] = 1, [COIL__ASK_V6] = 28};
    char name[COIL__SEARCH_NAME];

    if (!coil__search_name(&channel->conf, q->host, q->search.step, name))
        return false;
    if (q->search.step++ == 0)
        q->search.began_with_host = strcmp(name, q->host) == 0;
    ares_query(channel->ares, name, CLASS_IN, types[q->kind], answered, q);
    return true;
}

static void start_question(struct coil__channel *channel, struct coil__question *q)
{
    int rc = start_timer(channel, channel->conf.timeout_ns + COIL_MSEC(1));

    if (rc < 0) {
        fail_question(q, rc);
        return;
    }
    channel->in_flight++;
    coil__loop_expect(channel->loop, 1);
    query_next(channel, q); /* always succeeds: a search has at least one name */
}

/* Start queued questions, until IN_FLIGHT questions are in progress. */
static void advance_line(struct coil__channel *channel)
{
    struct coil__list *link;

    /*
     * A question that is answered immediately calls this function again. Prevent this
     * recursion.
     */
    if (channel->starting)
        return;
    channel->starting = true;
    while (channel->in_flight < IN_FLIGHT &&
           (link = coil__list_pop(&channel->line)) != NULL) {
        struct coil__question *q = COIL__CONTAINER(link, struct coil__question, in_use);

        if (channel->broken == 0)
            start_question(channel, q);
        else
            fail_question(q, channel->broken);
    }
    channel->starting = false;
}

void coil__channel_ask(struct coil__channel *channel, struct coil__question *q)
{
    q->references++;
    q->channel = channel;
    coil__list_push(&channel->line, &q->in_use);
    advance_line(channel);
    after_cares(channel);
}

/*
 * Called after each call to c-ares. Starts queued questions and sets the timer. If the
 * loop could not watch a socket or set a timer, fails all questions. If the channel is
 * retired and its last question was answered, destroys it.
 */
static void after_cares(struct coil__channel *channel)
{
    int rc;

    advance_line(channel);
    rc = set_timer_for_next(channel);
    if (rc < 0)
        channel->broken = rc;
    if (channel->broken < 0) {
        ares_cancel(channel->ares);
        advance_line(channel);
        channel->broken = 0;
    }
    if (channel->in_flight > 0)
        return;
    stop_timer(channel);
    if (channel->retired)
        coil__channel_destroy(channel);
}

/* ---- opening and closing ----------------------------------------------------------- */

static int errno_of_opening(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENOMEM:
        return -ENOMEM;
    default:
        return -EINVAL;
    }
}

static void init_library(void)
{
    ares_library_init(ARES_LIB_INIT_ALL);
}

/* c-ares truncates a port to 16 bits: for "192.0.2.1:65589" it would query port 53. */
static bool ports_in_range(const char *servers)
{
    while (*servers != '\0') {
        size_t n = strcspn(servers, ",");
        const char *colon = memrchr(servers, ':', n);
        bool has_port =
            colon != NULL && (colon == memchr(servers, ':', n) || colon[-1] == ']');

        if (has_port && !coil__port_in_range(colon + 1))
            return false;
        servers += servers[n] == ',' ? n + 1 : n;
    }
    return true;
}

/* Set the servers, some of which may have a zone. Returns 0, -EINVAL or -ENOMEM. */
static int set_servers(ares_channel ares, struct coil__zones *zones, const char *servers)
{
    char *text;
    int rc = coil__zones_replace(zones, servers, &text);

    if (rc < 0)
        return rc;
    rc = errno_of_opening(ares_set_servers_ports_csv(ares, text));
    coil__free(text);
    return rc;
}

int coil__channel_check_servers(const char *servers)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct ares_options options = {.timeout = 1};
    struct coil__zones zones;
    ares_channel ares;
    int rc;

    pthread_once(&once, init_library);
    rc = errno_of_opening(ares_init_options(&ares, &options, ARES_OPT_TIMEOUTMS));
    if (rc < 0)
        return rc;
    rc = set_servers(ares, &zones, servers);
    if (rc == 0 && (strspn(servers, " ,") == strlen(servers) || !ports_in_range(servers)))
        rc = -EINVAL;
    ares_destroy(ares);
    return rc;
}

static const char *resolv_conf_of(const struct coil__resolver_settings *s)
{
    return s->resolv_conf_file != NULL ? s->resolv_conf_file : COIL__RESOLV_CONF_FILE;
}

/*
 * Determine the time-out and the number of tries: from the options, otherwise from
 * resolv.conf.
 */
static int read_conf(struct coil__channel *channel,
                     const struct coil__resolver_settings *s)
{
    int rc = coil__resolv_conf_read(resolv_conf_of(s), &channel->conf);

    if (s->timeout_ns != 0)
        channel->conf.timeout_ns = s->timeout_ns;
    if (s->tries != 0)
        channel->conf.tries = s->tries;
    return rc;
}

/*
 * Set the servers given in the options. If none are given, c-ares reads resolv.conf
 * itself, unless a server there has a zone, which c-ares would ignore. In that case, set
 * all servers of resolv.conf here, with stand-ins (zones.h).
 */
static int choose_servers(struct coil__channel *channel,
                          const struct coil__resolver_settings *s)
{
    char *servers = NULL;
    int rc;

    if (s->servers != NULL)
        return set_servers(channel->ares, &channel->zones, s->servers);
    rc = coil__zones_read(&channel->zones, resolv_conf_of(s), &servers);
    if (rc == 0 && servers != NULL)
        rc = errno_of_opening(ares_set_servers_ports_csv(channel->ares, servers));
    coil__free(servers);
    return rc;
}

static int init_ares(struct coil__channel *channel,
                     const struct coil__resolver_settings *s)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
    unsigned tries = channel->conf.tries;
    int64_t ms = channel->conf.timeout_ns / COIL_MSEC(1);
    struct ares_options options = {
        .timeout = ms < 1         ? 1
                   : ms > 3600000 ? 3600000
                                  : (int)ms,
        .tries = tries < 100 ? (int)tries : 100,
        .sock_state_cb = socket_state,
        .sock_state_cb_data = channel,
        .resolvconf_path = s->resolv_conf_file,
    };
    int rc;

#ifdef ARES_OPT_QUERY_CACHE
    /*
     * Since 1.31 c-ares caches answers by default, and uses the real clock. Disable this
     * cache.
     */
    options.qcache_max_ttl = 0;
    mask |= ARES_OPT_QUERY_CACHE;
#endif
    if (s->resolv_conf_file != NULL)
        mask |= ARES_OPT_RESOLVCONF;
    pthread_once(&once, init_library);
    rc = errno_of_opening(ares_init_options(&channel->ares, &options, mask));
    if (rc < 0)
        return rc;
    ares_set_socket_functions(channel->ares, &socket_functions, channel);
    rc = choose_servers(channel, s);
    if (rc < 0)
        ares_destroy(channel->ares);
    return rc;
}

static void name_servers(struct coil__channel *channel)
{
    struct ares_addr_port_node *servers = NULL;
    size_t used = 0;

    if (ares_get_servers_ports(channel->ares, &servers) != ARES_SUCCESS)
        return;
    for (struct ares_addr_port_node *s = servers; s != NULL; s = s->next) {
        coil_address address = {.length = sizeof address.v6};
        char text[COIL_ADDRESS_TEXT];
        int port = s->udp_port != 0 ? s->udp_port : 53;

        address.any.sa_family = (sa_family_t)s->family;
        if (s->family == AF_INET) {
            address.v4.sin_addr = s->addr.addr4;
            address.v4.sin_port = htons((uint16_t)port);
        } else {
            memcpy(&address.v6.sin6_addr, &s->addr.addr6, sizeof(struct in6_addr));
            coil__zones_resolve(&channel->zones, &address.v6);
            address.v6.sin6_port = htons((uint16_t)port);
        }
        coil_address_format(&address, text, sizeof text);
        if (used + strlen(text) + 3 > sizeof channel->servers)
            break;
        used += (size_t)snprintf(channel->servers + used, sizeof channel->servers - used,
                                 "%s%s", used > 0 ? ", " : "", text);
    }
    ares_free_data(servers);
}

int coil__channel_open(struct coil__resolver *r, struct coil__channel **out)
{
    struct coil__channel *channel = coil__alloc_zeroed(sizeof *channel);
    int rc;

    if (channel == NULL)
        return -ENOMEM;
    coil__list_init(&channel->link);
    coil__list_init(&channel->sockets);
    coil__list_init(&channel->line);
    coil__timer_init(&channel->timer, timer_expired);
    channel->resolver = r;
    channel->loop = r->loop;
    rc = r->loop->virtual_clock ? open_clock(channel) : 0;
    if (rc == 0)
        rc = read_conf(channel, &r->settings);
    if (rc == 0)
        rc = init_ares(channel, &r->settings);
    if (rc < 0) {
        coil__resolv_conf_finish(&channel->conf);
        destroy_socket(channel->clock);
        coil__free(channel);
        return rc;
    }
    name_servers(channel);
    *out = channel;
    return 0;
}

void coil__channel_retire(struct coil__channel *channel)
{
    if (channel == NULL)
        return;
    channel->retired = true;
    coil__list_push(&channel->resolver->retired, &channel->link);
    if (channel->in_flight == 0)
        coil__channel_destroy(channel);
}

void coil__channel_destroy(struct coil__channel *channel)
{
    struct coil__list *link;

    if (channel == NULL)
        return;
    ares_destroy(channel->ares);
    coil__resolv_conf_finish(&channel->conf);
    while ((link = coil__list_pop(&channel->line)) != NULL)
        coil__question_release(COIL__CONTAINER(link, struct coil__question, in_use));
    stop_timer(channel);
    destroy_socket(channel->clock);
    coil__list_remove(&channel->link);
    coil__free(channel);
}

void coil__channels_destroy_retired(struct coil__resolver *r)
{
    while (!coil__list_empty(&r->retired))
        coil__channel_destroy(
            COIL__CONTAINER(r->retired.next, struct coil__channel, link));
}

const char *coil__channel_servers(const struct coil__channel *channel)
{
    return channel->servers;
}
