/*
 * question.c - questions: each is a name and a kind of address. All tasks that look up a
 * name share one query, and the answer is cached for its time to live.
 *
 *     ask --- "localhost", hosts(5) -----------------------------> answered, not cached
 *      |----- in the table, answered and not expired ------------> answered
 *      |----- in the table, in progress -------------------------> one more task waits
 *      `----- a new one: channel_ask() ... question_answer() ----> answered, cached
 *
 * No task owns a question in progress. If a task is cancelled, it removes its listener
 * and drops its reference, but the answer is still cached.
 *
 * Positive answers are cached for their time to live, but at most a day. Negative answers
 * (no such name, or no address of this kind) are cached as specified in RFC 2308.
 * Failures are not cached, because another query may succeed. If there are more than
 * `cache_entries` answers, the least recently used answer is dropped.
 */
#include "resolver.h"

#include <string.h>
#include <strings.h>

#define LONGEST COIL_SEC(24 * 3600)

/*
 * A question whose host and answer are short has this size, which suffices for one
 * address and two names of 36 bytes. Up to SPARE_MAX of them are kept for new questions.
 */
#define SMALL_BYTES 392
#define SPARE_MAX 128
#define ALIGNMENT _Alignof(coil_address)

/* ---- the table --------------------------------------------------------------------- */

static struct coil__list *bucket_of(const struct coil__question *q)
{
    return &q->resolver->table[(q->hash ^ q->hash >> 16) % COIL__QUESTION_BUCKETS];
}

void coil__question_release(struct coil__question *q)
{
    struct coil__resolver *r;

    if (q == NULL || --q->references > 0)
        return;
    coil__answer_finish(&q->answer);
    r = q->resolver;
    if (!q->is_small || r->spare_count == SPARE_MAX) {
        coil__free(q);
        return;
    }
    coil__list_push(r->spare.next, &q->in_use); /* the first one is reused first */
    r->spare_count++;
}

void coil__questions_trim(struct coil__resolver *r)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&r->spare)) != NULL)
        coil__free(COIL__CONTAINER(link, struct coil__question, in_use));
    r->spare_count = 0;
}

/*
 * Remove the question from the table, and drop the table's reference. Does nothing if the
 * question is not in the table.
 */
static void forget_question(struct coil__question *q)
{
    if (coil__list_empty(&q->in_table))
        return;
    coil__list_remove(&q->in_table);
    if (q->answer.rc != -EINPROGRESS) {
        coil__list_remove(&q->in_use);
        q->resolver->kept--;
    }
    coil__question_release(q);
}

void coil__questions_forget(struct coil__resolver *r)
{
    for (size_t i = 0; i < COIL__QUESTION_BUCKETS; i++)
        COIL__LIST_EACH (link, &r->table[i])
            forget_question(COIL__CONTAINER(link, struct coil__question, in_table));
}

static bool are_equal(const struct coil__question *a, const struct coil__question *b)
{
    return a->hash == b->hash && a->kind == b->kind && strcmp(a->host, b->host) == 0;
}

/*
 * Find a question in the table that equals `asked`. A question whose answer has expired
 * is removed.
 */
static struct coil__question *find_known_question(const struct coil__question *asked,
                                                  struct coil__list *bucket)
{
    struct coil__resolver *r = asked->resolver;

    COIL__LIST_EACH (link, bucket) {
        struct coil__question *q = COIL__CONTAINER(link, struct coil__question, in_table);

        if (!are_equal(q, asked))
            continue;
        if (q->answer.rc == -EINPROGRESS)
            return q;
        if (q->expires <= coil__loop_now(r->loop)) {
            forget_question(q);
            return NULL;
        }
        coil__list_remove(&q->in_use);
        coil__list_push(&r->by_use, &q->in_use);
        return q;
    }
    return NULL;
}

/* ---- answers ----------------------------------------------------------------------- */

int coil__answer_reserve(struct coil__answer *answer, size_t n, const char *name)
{
    size_t name_bytes = strlen(name) + 1;
    size_t bytes = n * sizeof *answer->addresses + name_bytes;

    answer->addresses = bytes <= answer->room_bytes ? answer->room : coil__alloc(bytes);
    if (answer->addresses == NULL)
        return -ENOMEM;
    answer->name = memcpy(answer->addresses + n, name, name_bytes);
    return 0;
}

void coil__answer_finish(struct coil__answer *answer)
{
    if (answer->addresses != answer->room)
        coil__free(answer->addresses);
    answer->addresses = NULL;
    answer->name = NULL;
    answer->count = 0;
}

/*
 * Set the time at which the cached answer expires, or remove the question from the table
 * if its answer must not be cached.
 */
static void cache_or_remove(struct coil__question *q)
{
    struct coil__resolver *r = q->resolver;
    int64_t ttl = q->answer.ttl_ns < LONGEST ? q->answer.ttl_ns : LONGEST;

    r->kept++;
    coil__list_push(&r->by_use, &q->in_use);
    if ((q->answer.rc != 0 && q->answer.rc != -ENOENT) || ttl <= 0) {
        forget_question(q);
        return;
    }
    q->expires = coil__time_add(r->loop->clock_read, ttl);
    while (r->kept > r->settings.cache_entries)
        forget_question(COIL__CONTAINER(r->by_use.next, struct coil__question, in_use));
    /* If the cache is full, the next answer drops this one, which was not used lately. */
    COIL__PREFETCH(r->by_use.next);
    COIL__PREFETCH(
        &COIL__CONTAINER(r->by_use.next, struct coil__question, in_use)->answer);
}

void coil__question_answer(struct coil__question *q, const struct coil__answer *answer)
{
    struct coil__list *link;

    q->references++;
    q->answer = *answer;
    q->channel = NULL;
    if (!coil__list_empty(&q->in_table))
        cache_or_remove(q);
    while ((link = coil__list_pop(&q->listeners)) != NULL) {
        struct coil__answer_listener *listener =
            COIL__CONTAINER(link, struct coil__answer_listener, link);

        listener->answered(listener);
    }
    coil__question_release(q);
}

/* ---- asking ------------------------------------------------------------------------ */

/*
 * Allocate a question for a host of n bytes. All members are zero. A small question has
 * room for a short answer behind the host.
 */
static struct coil__question *alloc_question(struct coil__resolver *r, size_t n)
{
    size_t bytes = sizeof(struct coil__question) + n + 1;
    size_t begin = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bool is_small = begin <= SMALL_BYTES;
    struct coil__list *spare = is_small ? coil__list_pop(&r->spare) : NULL;
    struct coil__question *q;

    if (spare != NULL) {
        q = COIL__CONTAINER(spare, struct coil__question, in_use);
        r->spare_count--;
    } else {
        q = coil__alloc(is_small ? SMALL_BYTES : bytes);
    }
    if (q == NULL)
        return NULL;
    memset(q, 0, sizeof *q);
    q->is_small = is_small;
    if (is_small) {
        q->answer.room = (char *)q + begin;
        q->answer.room_bytes = SMALL_BYTES - begin;
    }
    return q;
}

static struct coil__question *create_question(struct coil__resolver *r, const char *host,
                                              enum coil__question_kind kind)
{
    size_t n = strlen(host);
    struct coil__question *q = alloc_question(r, n);

    if (q == NULL)
        return NULL;
    coil__list_init(&q->in_table);
    coil__list_init(&q->in_use);
    coil__list_init(&q->listeners);
    q->resolver = r;
    q->references = 1;
    q->kind = kind;
    q->answer.rc = -EINPROGRESS;
    q->hash = 2166136261u + kind; /* FNV-1a */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = coil__ascii_lower((unsigned char)host[i]);

        q->host[i] = (char)c;
        q->hash = (q->hash ^ c) * 16777619u;
    }
    q->host[n] = '\0';
    return q;
}

bool coil__host_is_in(const char *host, const char *domain)
{
    size_t n = strlen(host), length = strlen(domain);

    if (n > 0 && host[n - 1] == '.')
        n--;
    if (n < length || (n > length && host[n - length - 1] != '.'))
        return false;
    return strncasecmp(host + n - length, domain, length) == 0;
}

static bool is_loopback(const coil_address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

/*
 * "localhost" and "*.localhost" always mean this machine (RFC 6761, 6.3): keep the answer
 * of the hosts file if it consists of loopback addresses, otherwise answer with 127.0.0.1
 * or ::1.
 */
static int answer_localhost(enum coil__question_kind kind, struct coil__answer *answer)
{
    coil_address *address;
    int rc;

    for (size_t i = 0; i < answer->count; i++)
        if (!is_loopback(&answer->addresses[i]))
            answer->rc = -EINPROGRESS;
    if (answer->rc != -EINPROGRESS)
        return 0;
    coil__answer_finish(answer);
    rc = coil__answer_reserve(answer, 1, "");
    if (rc < 0)
        return rc;
    answer->rc = 0;
    answer->name = NULL;
    answer->count = 1;
    address = answer->addresses;
    *address = (coil_address){.length = 0};
    if (kind == COIL__ASK_V4) {
        address->length = sizeof address->v4;
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        address->length = sizeof address->v6;
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_addr = in6addr_loopback;
    }
    return 0;
}

/* Answer without a server, if possible. Otherwise answer.rc stays -EINPROGRESS. */
static int find_here(struct coil__question *q)
{
    int rc = coil__hosts_find(q->resolver->hosts, q->host, q->kind, &q->answer);

    if (rc == 0 && coil__host_is_in(q->host, "localhost"))
        rc = answer_localhost(q->kind, &q->answer);
    if (rc == 0 && q->answer.rc == -EINPROGRESS && strchr(q->host, ':') != NULL) {
        /* for example "fe80::1%eth9", if the interface does not exist */
        q->answer.rc = -ENOENT;
        q->answer.why = "a host name cannot contain a colon";
    }
    if (rc == 0 && q->answer.rc == -EINPROGRESS && coil__host_is_in(q->host, "invalid")) {
        q->answer.rc = -ENOENT;
        q->answer.why = "the domain invalid contains no hosts (RFC 6761, 6.4)";
    }
    return rc;
}

static void ask_servers(struct coil__question *q, struct coil__list *bucket)
{
    coil__list_push(bucket, &q->in_table);
    q->references++;
    q->asked = true;
    coil__channel_ask(q->resolver->channel, q);
}

/*
 * Find the question in the table, or add it and query the servers. Returns a reference.
 */
static struct coil__question *find_or_ask(struct coil__question *q)
{
    struct coil__list *bucket = bucket_of(q);
    struct coil__question *known = find_known_question(q, bucket);

    if (known == NULL) {
        ask_servers(q, bucket);
        return q;
    }
    known->references++;
    coil__question_release(q);
    return known;
}

int coil__question_ask(struct coil__resolver *r, const char *host,
                       enum coil__question_kind kind, struct coil__question **out)
{
    struct coil__question *q = create_question(r, host, kind);
    int rc;

    if (q == NULL)
        return -ENOMEM;
    rc = find_here(q);
    if (rc < 0) {
        coil__question_release(q);
        return rc;
    }
    *out = q->answer.rc == -EINPROGRESS ? find_or_ask(q) : q;
    return 0;
}
