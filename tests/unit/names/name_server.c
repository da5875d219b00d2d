/*
 * name_server.c - see name_server.h.
 *
 * The server is a thread that waits with poll(2). Delayed answers are stored in an array.
 * A TCP connection carries one query, which is answered at once.
 */
#include "name_server.h"

#include "../../harness/harness.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LATE_MAX 64
#define HELD INT64_MAX
#define MESSAGE_MAX 4096
#define TYPE_A 1
#define TYPE_AAAA 28

/* Commands that the test sends to the thread. */
enum order { STOP = 's', RELEASE = 'r' };

struct late {
    int64_t due_ms; /* 0: unused; HELD: wait for name_server_release() */
    struct sockaddr_in to;
    size_t n;
    unsigned char data[512];
};

/* An answer that is being composed. */
struct message {
    unsigned char data[MESSAGE_MAX];
    size_t n;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- writing ----------------------------------------------------------------------- */

static void put16(struct message *m, unsigned value)
{
    m->data[m->n++] = (unsigned char)(value >> 8);
    m->data[m->n++] = (unsigned char)value;
}

static void put32(struct message *m, unsigned value)
{
    put16(m, value >> 16);
    put16(m, value & 0xffff);
}

static void put_name(struct message *m, const char *name)
{
    while (*name != '\0') {
        size_t n = strcspn(name, ".");

        m->data[m->n++] = (unsigned char)n;
        memcpy(m->data + m->n, name, n);
        m->n += n;
        name += n + (name[n] == '.');
    }
    m->data[m->n++] = 0;
}

/*
 * Append the name, type, class, TTL and length of a record, to which the caller must
 * append `length` bytes of data.
 */
static void put_record(struct message *m, const char *name, int type, unsigned ttl,
                       size_t length)
{
    if (name != NULL)
        put_name(m, name);
    else
        put16(m, 0xc00c); /* the name of the query */
    put16(m, (unsigned)type);
    put16(m, 1);
    put32(m, ttl);
    put16(m, (unsigned)length);
}

static void put_address(struct message *m, const struct name_rule *rule, int type)
{
    size_t n = type == TYPE_A ? 4 : 16;

    put_record(m, rule->cname, type, rule->ttl, n);
    inet_pton(type == TYPE_A ? AF_INET : AF_INET6, rule->address, m->data + m->n);
    m->n += n;
}

static void put_filler(struct message *m, const struct name_rule *rule)
{
    for (unsigned i = 0; i < rule->filler; i++) {
        put_record(m, NULL, TYPE_A, rule->ttl, 4);
        put32(m, 0xc6336400 + i); /* 198.51.100.0 and the addresses after it */
    }
}

static void put_cname(struct message *m, const struct name_rule *rule)
{
    put_record(m, NULL, 5, rule->ttl, strlen(rule->cname) + 2);
    put_name(m, rule->cname);
}

static void put_soa(struct message *m, unsigned minimum)
{
    put_record(m, "test", 6, 3600, 2 + 20);
    m->data[m->n++] = 0;
    m->data[m->n++] = 0;
    for (int i = 0; i < 4; i++)
        put32(m, 1);
    put32(m, minimum);
}

/* ---- answering --------------------------------------------------------------------- */

static bool is_of_type(const struct name_rule *rule, int type)
{
    return rule->type == 0 || (rule->type == 'A') == (type == TYPE_A);
}

static const struct name_rule *find(const struct name_server *s, const char *name,
                                    int type)
{
    bool exists = false;

    for (size_t i = 0; i < s->rule_count; i++) {
        if (strcasecmp(s->rules[i].name, name) != 0)
            continue;
        exists = true;
        if (is_of_type(&s->rules[i], type))
            return &s->rules[i];
    }
    static const struct name_rule none = {.rcode = NAME_NXDOMAIN}, no_data = {.rcode = 0};
    return exists ? &no_data : &none;
}

static unsigned put_answers(const struct name_server *s, struct message *m,
                            const struct name_rule *first, int type)
{
    unsigned count = 0;

    if (first->cname != NULL) {
        put_cname(m, first);
        count++;
    }
    for (size_t i = 0; first->address != NULL && i < s->rule_count; i++) {
        const struct name_rule *rule = &s->rules[i];

        if (strcasecmp(rule->name, first->name) != 0 || !is_of_type(rule, type))
            continue;
        put_address(m, rule, type);
        put_filler(m, rule);
        count += 1 + rule->filler;
    }
    return count;
}

/*
 * Read the queried name. Returns the offset of the name's end, or 0 if the name is
 * invalid.
 */
static size_t read_name(const unsigned char *data, size_t n, char name[256])
{
    size_t at = 12, used = 0;

    while (at < n && data[at] != 0) {
        if (at + 1 + data[at] >= n || used + data[at] + 1 >= 255)
            return 0;
        memcpy(name + used, data + at + 1, data[at]);
        used += data[at];
        name[used++] = '.';
        at += data[at] + 1u;
    }
    name[used > 0 ? used - 1 : 0] = '\0';
    return at + 5 <= n ? at + 1 : 0;
}

/*
 * Compose the answer to a query. Returns the rule that specifies when to send the answer,
 * or NULL if the query must be ignored.
 */
static const struct name_rule *answer(struct name_server *s, const unsigned char *data,
                                      size_t n, bool by_udp, struct message *m)
{
    const struct name_rule *rule;
    bool truncated;
    unsigned count;
    char name[256];
    size_t end = n > 12 ? read_name(data, n, name) : 0;
    int type;

    if (end == 0)
        return NULL;
    type = data[end] << 8 | data[end + 1];
    rule = find(s, name, type);
    if (rule->silent)
        return NULL;
    if (rule->drops > 0 && s->dropped[rule - s->rules] < rule->drops) {
        s->dropped[rule - s->rules]++;
        return NULL;
    }
    truncated = rule->truncated && by_udp;
    memcpy(m->data, data, end + 4);
    m->n = end + 4;
    m->data[2] = truncated ? 0x86 : 0x84; /* the answer is authoritative */
    if (rule->asks_back)
        m->data[2] &= 0x7f;
    m->data[3] = (unsigned char)(0x80 | rule->rcode);
    memset(m->data + 6, 0, 6);
    count = truncated ? 0 : put_answers(s, m, rule, type);
    m->data[6] = (unsigned char)(count >> 8);
    m->data[7] = (unsigned char)count;
    if (rule->soa_minimum > 0) {
        put_soa(m, (unsigned)rule->soa_minimum);
        m->data[9] = 1;
    }
    return rule;
}

/* ---- the thread -------------------------------------------------------------------- */

static void send_late(const struct name_server *s, struct late late[])
{
    for (int i = 0; i < LATE_MAX; i++)
        if (late[i].due_ms != 0 && late[i].due_ms <= now_ms()) {
            sendto(s->udp, late[i].data, late[i].n, 0, (struct sockaddr *)&late[i].to,
                   sizeof late[i].to);
            late[i].due_ms = 0;
        }
}

static int next_late(const struct late late[])
{
    int64_t next = -1, now = now_ms();

    for (int i = 0; i < LATE_MAX; i++)
        if (late[i].due_ms != 0 && late[i].due_ms != HELD &&
            (next < 0 || late[i].due_ms - now < next))
            next = late[i].due_ms > now ? late[i].due_ms - now : 0;
    return (int)next;
}

static void make_late(struct late late[], const struct message *m,
                      const struct sockaddr_in *to, int64_t due_ms)
{
    for (int i = 0; i < LATE_MAX; i++)
        if (late[i].due_ms == 0) {
            late[i].due_ms = due_ms;
            late[i].to = *to;
            late[i].n = m->n < sizeof late[i].data ? m->n : sizeof late[i].data;
            memcpy(late[i].data, m->data, late[i].n);
            return;
        }
}

static void serve_udp(struct name_server *s, struct late late[])
{
    const struct name_rule *rule;
    unsigned char data[512];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    struct message m;
    ssize_t n = recvfrom(s->udp, data, sizeof data, MSG_DONTWAIT,
                         (struct sockaddr *)&from, &length);

    if (n <= 0)
        return;
    s->questions++;
    rule = answer(s, data, (size_t)n, true, &m);
    if (rule == NULL)
        return;
    if (rule->held && !s->released)
        make_late(late, &m, &from, HELD);
    else if (rule->delay_ms > 0)
        make_late(late, &m, &from, now_ms() + rule->delay_ms);
    else
        sendto(s->udp, m.data, m.n, 0, (struct sockaddr *)&from, length);
}

/* Read a command, and execute it. Returns false if the thread must end. */
static bool follow_order(struct name_server *s, struct late late[])
{
    char order = STOP;

    if (read(s->orders[0], &order, 1) != 1 || order == STOP)
        return false;
    s->released = true;
    for (int i = 0; i < LATE_MAX; i++)
        if (late[i].due_ms == HELD)
            late[i].due_ms = now_ms();
    return true;
}

static bool receive_all(int fd, unsigned char *data, size_t n)
{
    return recv(fd, data, n, MSG_WAITALL) == (ssize_t)n;
}

static void serve_tcp(struct name_server *s)
{
    int fd = accept4(s->tcp, NULL, NULL, SOCK_CLOEXEC);
    struct timeval patience = {.tv_sec = 5};
    unsigned char length[2], data[512];
    struct message m;
    size_t n;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (receive_all(fd, length, 2)) {
        n = (size_t)length[0] << 8 | length[1];
        if (n > sizeof data || !receive_all(fd, data, n))
            break;
        s->tcp_questions++;
        if (answer(s, data, n, false, &m) == NULL)
            break;
        length[0] = (unsigned char)(m.n >> 8);
        length[1] = (unsigned char)m.n;
        if (send(fd, length, 2, MSG_NOSIGNAL | MSG_MORE) < 0 ||
            send(fd, m.data, m.n, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
}

static void *serve(void *arg)
{
    struct name_server *s = arg;
    struct late late[LATE_MAX];
    struct pollfd fds[] = {
        {s->orders[0], POLLIN, 0}, {s->udp, POLLIN, 0}, {s->tcp, POLLIN, 0}};

    memset(late, 0, sizeof late);
    for (;;) {
        poll(fds, 3, next_late(late));
        if (fds[0].revents != 0 && !follow_order(s, late))
            return NULL;
        if (fds[1].revents != 0)
            serve_udp(s, late);
        if (fds[2].revents != 0)
            serve_tcp(s);
        send_late(s, late);
    }
}

/* ---- starting and stopping --------------------------------------------------------- */

/*
 * Open both sockets on the port that the kernel chooses for TCP. Returns false if that
 * port is already in use for UDP.
 */
static bool open_sockets(struct name_server *s)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int bytes = 1 << 20;

    s->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    s->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setsockopt(s->udp, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(s->tcp, (struct sockaddr *)&name, length) == 0 && listen(s->tcp, 64) == 0 &&
        getsockname(s->tcp, (struct sockaddr *)&name, &length) == 0 &&
        bind(s->udp, (struct sockaddr *)&name, length) == 0) {
        s->port = ntohs(name.sin_port);
        return true;
    }
    close(s->tcp);
    close(s->udp);
    return false;
}

void name_server_start(struct name_server *s, const struct name_rule *rules, size_t n)
{
    bool opened = false;

    memset(s, 0, sizeof *s);
    s->rules = rules;
    s->rule_count = n;
    for (int i = 0; i < 100 && !opened; i++)
        opened = open_sockets(s);
    CHECK(opened);
    CHECK_INT(pipe(s->orders), 0);
    CHECK_INT(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void give_order(const struct name_server *s, char order)
{
    CHECK_INT(write(s->orders[1], &order, 1), 1);
}

void name_server_release(struct name_server *s)
{
    give_order(s, RELEASE);
}

void name_server_stop(struct name_server *s)
{
    give_order(s, STOP);
    pthread_join(s->thread, NULL);
    close(s->orders[0]);
    close(s->orders[1]);
    close(s->udp);
    close(s->tcp);
}

int name_server_try(const struct name_server *s, const coil_resolver_opts *opts)
{
    coil_resolver_opts all = opts != NULL ? *opts : (coil_resolver_opts){.tries = 0};
    char address[32];

    snprintf(address, sizeof address, "127.0.0.1:%u", s->port);
    all.engine = "c-ares";
    if (all.servers == NULL)
        all.servers = address;
    if (all.hosts_file == NULL)
        all.hosts_file = "/dev/null";
    if (all.resolv_conf_file == NULL)
        all.resolv_conf_file = "/dev/null";
    return coil_resolver_configure(&all);
}

void name_server_use(const struct name_server *s, const coil_resolver_opts *opts)
{
    int rc = name_server_try(s, opts);

    if (rc == -EOPNOTSUPP)
        test_skip("coil was built without c-ares");
    CHECK_INT(rc, 0);
}
