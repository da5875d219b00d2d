/*
 * addrinfo.c - looks up names, like getaddrinfo(3).
 *
 *   numbers                --> answered here, and so are invalid hints for them
 *   engine c-ares          --> a question for each family (question.c); the addresses of
 *                              both answers are sorted
 *   engine getaddrinfo, or --> the dns lane (resolver_lane.c), except for "localhost"
 *   c-ares cannot do it
 *
 * getaddrinfo(3), called with a numeric address, interprets the port and the hints: it
 * chooses the socket types, looks up service names, and detects invalid combinations. Its
 * result is a template: the returned list contains a copy of this template for each
 * address found. For a numeric port and streams or datagrams, fill_template() makes the
 * template instead.
 *
 * The caller frees the list with freeaddrinfo(3), which in glibc calls free(3) for each
 * node and its ai_canonname. So a node and its address are one block from malloc(3), as
 * in glibc.
 */
#include "resolver.h"

#include "../base/fault.h"
#include "../task/wait.h"

#include <coil/error.h>

#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- failing ----------------------------------------------------------------------- */

static const char *phrase_of_errno(int rc)
{
    switch (rc) {
    case -ENOENT:
        return "there is no such name or service";
    case -EAGAIN:
        return "no answer; try again later";
    case -EIO:
        return "the name server failed";
    default:
        return strerror(-rc);
    }
}

static int fail_look_up(int rc, const char *host, const char *port)
{
    if (rc >= 0 || rc == -ECANCELED)
        return rc;
    return coil_fail(rc, "look-up of %s%s%s: %s", host != NULL ? host : "",
                     port != NULL ? ":" : "", port != NULL ? port : "",
                     phrase_of_errno(rc));
}

/* ---- ports ------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_number(const char *text)
{
    const char *c = text;

    while (is_digit(*c))
        c++;
    return c != text && *c == '\0';
}

/* A service name has at least one letter (RFC 6335, 5.1). */
static bool has_letter(const char *text)
{
    for (; *text != '\0'; text++)
        if ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z')
            return true;
    return false;
}

/* Convert the digits at the beginning of the text. Too large a number becomes 65536. */
static uint32_t read_port(const char *digits)
{
    uint32_t value = 0;

    for (; is_digit(*digits) && value <= UINT16_MAX; digits++)
        value = value * 10 + (uint32_t)(*digits - '0');
    return value <= UINT16_MAX ? value : UINT16_MAX + 1;
}

bool coil__port_in_range(const char *digits)
{
    return read_port(digits) <= UINT16_MAX;
}

/*
 * getaddrinfo(3) does not check ports: it parses a port with strtoul(3) and truncates it
 * to 16 bits, so it accepts " 80", "+80", "-1" and "99999", and treats "" as 0.
 */
int coil__port_check(const char *port)
{
    if (port == NULL || (is_number(port) ? coil__port_in_range(port) : has_letter(port)))
        return 0;
    return coil_fail(
        -EINVAL, "'%s' is not a port: use 0 to 65535, or the name of a service", port);
}

/* ---- numbers ----------------------------------------------------------------------- */

/* A numeric address begins with a digit, as in 0x7f.1, or contains a colon. */
static bool may_be_address(const char *host)
{
    return is_digit(*host) || strchr(host, ':') != NULL;
}

int coil__addrinfo_of_numbers(const char *host, const char *port,
                              const struct addrinfo *hints, struct addrinfo **out)
{
    bool must_be_numeric = hints != NULL && hints->ai_flags & AI_NUMERICHOST;
    struct addrinfo numeric;
    int eai;

    if (host != NULL && !must_be_numeric && !may_be_address(host))
        return -EINPROGRESS;
    if (port != NULL && !is_number(port))
        return -EINPROGRESS;
    numeric = hints != NULL ? *hints : (struct addrinfo){.ai_flags = 0};
    if (host != NULL)
        numeric.ai_flags |= AI_NUMERICHOST;
    /*
     * Without this line, glibc would refuse 127.0.0.1 on a machine that has only loopback
     * addresses.
     */
    numeric.ai_flags &= ~AI_ADDRCONFIG;
    numeric.ai_flags |= port != NULL ? AI_NUMERICSERV : 0;
    eai = coil__call_getaddrinfo(host, port, &numeric, out);
    if (eai == EAI_NONAME && host != NULL && !must_be_numeric)
        return -EINPROGRESS;
    return coil__errno_of_eai(eai, errno);
}

/* ---- the template ------------------------------------------------------------------ */

/*
 * Fill in the template for a numeric port and one kind of socket, as getaddrinfo(3)
 * would, but in a fraction of the time.
 */
static void fill_template(struct coil__addrinfo_template *template, const char *port,
                          int socktype)
{
    template->address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)read_port(port))};
    template->entry = (struct addrinfo){
        .ai_family = AF_INET,
        .ai_socktype = socktype,
        .ai_protocol = socktype == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP,
        .ai_addrlen = sizeof template->address,
        .ai_addr = (struct sockaddr *)&template->address};
    template->entries = &template->entry;
}

int coil__addrinfo_template_init(struct coil__addrinfo_template *template,
                                 const char *port, const struct addrinfo *hints)
{
    struct addrinfo any = {.ai_flags = AI_NUMERICHOST, .ai_family = AF_INET};
    int rc;

    if (hints != NULL && hints->ai_protocol == 0 && port != NULL && is_number(port) &&
        (hints->ai_socktype == SOCK_STREAM || hints->ai_socktype == SOCK_DGRAM)) {
        fill_template(template, port, hints->ai_socktype);
        return 0;
    }
    if (hints != NULL) {
        any.ai_flags |= hints->ai_flags & AI_NUMERICSERV;
        any.ai_socktype = hints->ai_socktype;
        any.ai_protocol = hints->ai_protocol;
    }
    rc = coil__addrinfo_of_numbers("0.0.0.0", port, &any, &template->entries);
    return rc == -EINPROGRESS
               ? coil__lane_look_up("0.0.0.0", port, &any, &template->entries)
               : rc;
}

void coil__addrinfo_template_finish(struct coil__addrinfo_template *template)
{
    if (template->entries != &template->entry)
        freeaddrinfo(template->entries);
}

/* ---- which families ---------------------------------------------------------------- */

/*
 * True if an interface has an address of the family that is not a loopback address
 * (AI_ADDRCONFIG).
 */
static bool is_configured(const struct ifaddrs *list, int family)
{
    const struct ifaddrs *i = list;

    for (; i != NULL; i = i->ifa_next) {
        const struct sockaddr_in *v4 = (const void *)i->ifa_addr;
        const struct sockaddr_in6 *v6 = (const void *)i->ifa_addr;

        if (v4 == NULL || v4->sin_family != family)
            continue;
        if (family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET
                              : !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr))
            return true;
    }
    return false;
}

/*
 * Clear wanted[] for families that are not configured on this machine. If none of the
 * wanted families is configured, or if getifaddrs(3) fails, change nothing.
 */
static void drop_unconfigured_families(bool wanted[2])
{
    bool found[2];
    struct ifaddrs *list;

    if (COIL__CALL(ENOMEM, getifaddrs(&list)) < 0)
        return;
    found[COIL__ASK_V4] = wanted[COIL__ASK_V4] && is_configured(list, AF_INET);
    found[COIL__ASK_V6] = wanted[COIL__ASK_V6] && is_configured(list, AF_INET6);
    freeifaddrs(list);
    if (found[0] || found[1])
        memcpy(wanted, found, sizeof found);
}

/* ---- both questions ---------------------------------------------------------------- */

struct both {
    struct coil__wait wait;
    struct coil__question *questions[2]; /* one per kind; NULL if not queried */
    struct coil__answer_listener listeners[2];
    size_t open;
    bool waits;
};

static void count_answer(struct both *both)
{
    if (--both->open == 0 && both->waits)
        coil__wait_complete(&both->wait, 0);
}

static void v4_answered(struct coil__answer_listener *listener)
{
    count_answer(COIL__CONTAINER(listener, struct both, listeners[COIL__ASK_V4]));
}

static void v6_answered(struct coil__answer_listener *listener)
{
    count_answer(COIL__CONTAINER(listener, struct both, listeners[COIL__ASK_V6]));
}

static void init_both(struct both *both)
{
    memset(both, 0, sizeof *both);
    for (int i = 0; i < 2; i++)
        coil__list_init(&both->listeners[i].link);
    both->listeners[COIL__ASK_V4].answered = v4_answered;
    both->listeners[COIL__ASK_V6].answered = v6_answered;
}

static int ask_both(struct coil__resolver *r, const char *host, const bool wanted[2],
                    struct both *both)
{
    /* Query AAAA first (RFC 8305, 3). */
    static const enum coil__question_kind order[] = {COIL__ASK_V6, COIL__ASK_V4};
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        enum coil__question_kind kind = order[i];

        if (wanted[kind])
            rc = coil__question_ask(r, host, kind, &both->questions[kind]);
        if (!wanted[kind] || rc < 0 || both->questions[kind]->answer.rc != -EINPROGRESS)
            continue;
        both->open++;
        coil__list_push(&both->questions[kind]->listeners, &both->listeners[kind].link);
    }
    return rc;
}

static int wait_for_both(struct both *both)
{
    static const struct coil__wait_class class = {.what = "getaddrinfo"};

    if (both->open == 0)
        return 0;
    coil__wait_init(&both->wait, &class);
    both->waits = true;
    return coil__wait_park(&both->wait);
}

static void finish_both(struct both *both)
{
    for (int i = 0; i < 2; i++) {
        coil__list_remove(&both->listeners[i].link);
        coil__question_release(both->questions[i]);
    }
}

/* ---- results and errors ------------------------------------------------------------ */

int coil__addrinfo_fail(const char *host, struct coil__question *const questions[2])
{
    const struct coil__question *worst = NULL;
    const char *why;

    /* If one query has failed, prefer its error to the -ENOENT of the other query. */
    for (int i = 0; i < 2; i++) {
        const struct coil__question *q = questions[i];

        if (q != NULL &&
            (worst == NULL || (worst->answer.rc == -ENOENT && q->answer.rc != -ENOENT)))
            worst = q;
    }
    if (worst == NULL)
        return coil_fail(-ENOENT, "look-up of %s: no query was sent", host);
    why = worst->answer.why != NULL ? worst->answer.why : "it failed";
    if (!worst->asked || worst->resolver->channel == NULL)
        return coil_fail(worst->answer.rc, "look-up of %s: %s", host, why);
    return coil_fail(worst->answer.rc, "look-up of %s: %s (queried: %s)", host, why,
                     coil__channel_servers(worst->resolver->channel));
}

static size_t count_addresses(const struct coil__question *q)
{
    return q != NULL ? q->answer.count : 0;
}

/* Return a copy of all addresses, best first, or NULL if memory ran out. */
static coil_address *
sort_addresses(coil_loop *loop, struct coil__question *const questions[2], size_t count)
{
    static const enum coil__question_kind order[] = {COIL__ASK_V6, COIL__ASK_V4};
    coil_address *all = coil__alloc(count * sizeof *all);
    size_t used = 0;

    if (all == NULL)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct coil__question *q = questions[order[i]];
        size_t n = count_addresses(q);

        if (n > 0)
            memcpy(all + used, q->answer.addresses, n * sizeof *all);
        used += n;
    }
    coil__addresses_sort(loop, all, count);
    return all;
}

static struct addrinfo *create_node(const coil_address *address,
                                    const struct addrinfo *template, int flags)
{
    const struct sockaddr_in *port = (const void *)template->ai_addr;
    struct addrinfo *node;
    struct sockaddr_in *copy;

    if (coil__call_fails(ENOMEM, "malloc") ||
        (node = malloc(sizeof *node + sizeof(struct sockaddr_in6))) == NULL)
        return NULL;
    copy = memcpy(node + 1, &address->storage, address->length);
    copy->sin_port = port->sin_port; /* sin6_port has the same offset */
    *node = (struct addrinfo){.ai_flags = flags,
                              .ai_family = address->any.sa_family,
                              .ai_socktype = template->ai_socktype,
                              .ai_protocol = template->ai_protocol,
                              .ai_addrlen = address->length,
                              .ai_addr = (struct sockaddr *)copy};
    return node;
}

/* Make a list with one node for each combination of an address and a kind of socket. */
static int make_list(const coil_address *addresses, size_t count,
                     const struct addrinfo *template, int flags, struct addrinfo **out)
{
    struct addrinfo **last = out;

    *out = NULL;
    for (size_t i = 0; i < count; i++)
        for (const struct addrinfo *t = template; t != NULL; t = t->ai_next) {
            *last = create_node(&addresses[i], t, flags);
            if (*last == NULL) {
                if (*out != NULL)
                    freeaddrinfo(*out);
                *out = NULL;
                return coil__failed(-ENOMEM);
            }
            last = &(*last)->ai_next;
        }
    return 0;
}

static int name_first(struct addrinfo *list, const char *host,
                      struct coil__question *const questions[2])
{
    for (int i = 0; i < 2; i++)
        if (questions[i] != NULL && questions[i]->answer.name != NULL)
            host = questions[i]->answer.name;
    list->ai_canonname = coil__call_fails(ENOMEM, "malloc") ? NULL : strdup(host);
    return list->ai_canonname != NULL ? 0 : coil__failed(-ENOMEM);
}

/* Make a list of all addresses, best first. A single address needs no sorting. */
static int make_sorted_list(coil_loop *loop, struct coil__question *const questions[2],
                            const struct addrinfo *template, int flags,
                            struct addrinfo **out)
{
    size_t v4 = count_addresses(questions[COIL__ASK_V4]);
    size_t v6 = count_addresses(questions[COIL__ASK_V6]);
    coil_address *all;
    int rc;

    if (v4 + v6 == 1)
        return make_list(
            questions[v4 == 1 ? COIL__ASK_V4 : COIL__ASK_V6]->answer.addresses, 1,
            template, flags, out);
    all = sort_addresses(loop, questions, v4 + v6);
    if (all == NULL)
        return coil__failed(-ENOMEM);
    rc = make_list(all, v4 + v6, template, flags, out);
    coil__free(all);
    return rc;
}

static int answer_with_list(coil_loop *loop, const char *host,
                            struct coil__question *const questions[2],
                            const struct addrinfo *template, int flags,
                            struct addrinfo **out)
{
    int rc;

    if (count_addresses(questions[0]) + count_addresses(questions[1]) == 0)
        return coil__addrinfo_fail(host, questions);
    rc = make_sorted_list(loop, questions, template, flags, out);
    if (rc == 0 && flags & AI_CANONNAME) {
        rc = name_first(*out, host, questions);
        if (rc < 0) {
            freeaddrinfo(*out);
            *out = NULL;
        }
    }
    return rc;
}

/* ---- coil_getaddrinfo() ------------------------------------------------------------ */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), length = strlen(end);

    if (n > 0 && text[n - 1] == '.')
        n--;
    return n > length && text[n - length] == *end &&
           strncasecmp(text + n - length, end, length) == 0;
}

bool coil__addrinfo_suits_questions(const struct coil__resolver *r, const char *host,
                                    const char *port, const struct addrinfo *hints)
{
    int flags = hints != NULL ? hints->ai_flags : 0;
    int family = hints != NULL ? hints->ai_family : AF_UNSPEC;
    int known = AI_PASSIVE | AI_CANONNAME | AI_NUMERICSERV | AI_ADDRCONFIG | AI_ALL |
                (family != AF_INET6 ? AI_V4MAPPED : 0);
    struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST}, *list;

    if (host == NULL || *host == '\0' || (flags & ~known) != 0 || ends_in(host, ".local"))
        return false;
    /* Look-ups of "localhost" need no server, whatever the engine is. */
    if (!r->settings.uses_channel && !coil__host_is_in(host, "localhost"))
        return false;
    if (family != AF_UNSPEC && family != AF_INET && family != AF_INET6)
        return false;
    if (port == NULL || is_number(port) || !may_be_address(host))
        return true;
    if (getaddrinfo(host, NULL, &numeric, &list) != 0)
        return true;
    freeaddrinfo(list); /* only getaddrinfo(3) converts the service name */
    return false;
}

static int look_up_by_questions(struct coil__resolver *r, const char *host,
                                const char *port, const struct addrinfo *hints,
                                struct addrinfo **out)
{
    int family = hints != NULL ? hints->ai_family : AF_UNSPEC;
    int flags = hints != NULL ? hints->ai_flags : AI_ADDRCONFIG;
    bool wanted[2] = {
        [COIL__ASK_V4] = family != AF_INET6, [COIL__ASK_V6] = family != AF_INET};
    struct both both;
    struct coil__addrinfo_template template;
    int rc = coil__addrinfo_template_init(&template, port, hints);

    if (rc < 0)
        return fail_look_up(rc, host, port);
    init_both(&both);
    if (flags & AI_ADDRCONFIG)
        drop_unconfigured_families(wanted);
    rc = coil__resolver_prepare(r);
    if (rc == 0)
        rc = ask_both(r, host, wanted, &both);
    if (rc == 0)
        rc = wait_for_both(&both);
    rc = rc < 0 ? fail_look_up(rc, host, port)
                : answer_with_list(r->loop, host, both.questions, template.entries, flags,
                                   out);
    finish_both(&both);
    coil__addrinfo_template_finish(&template);
    return rc;
}

int coil_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                     struct addrinfo **out)
{
    COIL__REQUIRE(out, "an output pointer");
    struct coil__resolver *r;
    int rc = coil__port_check(port);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = coil__addrinfo_of_numbers(host, port, hints, out);
    if (rc != -EINPROGRESS)
        return fail_look_up(rc, host, port);
    rc = coil__resolver_get(&r, "coil_getaddrinfo");
    if (rc < 0) /* only the error for an invalid COIL_RESOLVER has a message */
        return rc == -ENOMEM ? fail_look_up(rc, host, port) : rc;
    if (!coil__addrinfo_suits_questions(r, host, port, hints))
        return fail_look_up(coil__lane_look_up(host, port, hints, out), host, port);
    return look_up_by_questions(r, host, port, hints, out);
}

int coil_getnameinfo(const struct sockaddr *address, socklen_t address_bytes, char *host,
                     size_t host_size, char *service, size_t service_size, int flags)
{
    COIL__REQUIRE(address, "an address");
    coil_address copy = {.length = address_bytes};
    int rc;

    if (address_bytes < sizeof address->sa_family || address_bytes > sizeof copy.storage)
        return coil__failed(-EINVAL);
    memcpy(&copy.storage, address, address_bytes);
    rc = coil__lane_look_up_name(&copy, host, host_size, service, service_size, flags);
    if (rc < 0 && rc != -ECANCELED)
        return coil_fail(rc, "look-up of an address: %s", phrase_of_errno(rc));
    return rc;
}
