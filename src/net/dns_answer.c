/*
 * dns_answer.c - what a name server has sent.
 *
 * c-ares reads what it can; of an answer that says no it drops the time for which it says
 * so, which is read here.
 */
#include "dns_answer.h"

#include <ares.h>
#include <netdb.h>
#include <string.h>

#define MOST_ADDRESSES 128
#define HEADER_BYTES 12
#define RECORD_BYTES 10 /* type, class, time to live, length: behind the name */
#define TYPE_SOA 6
#define LONGEST_NO 60
#define USUAL_NO 5

/* ---- yes -------------------------------------------------------------------------- */

/* A name that c-ares owns becomes ours; without memory there is none. */
static char *copy_name(const char *name)
{
    size_t n = strlen(name) + 1;
    char *copy = coil__alloc(n);

    return copy != NULL ? memcpy(copy, name, n) : NULL;
}

static int parse_v4(const unsigned char *data, int n, struct coil__answer *answer)
{
    struct ares_addrttl found[MOST_ADDRESSES];
    int count = MOST_ADDRESSES, ttl = INT32_MAX;
    struct hostent *host = NULL;
    int status = ares_parse_a_reply(data, n, &host, found, &count);

    if (status != ARES_SUCCESS)
        return status;
    answer->name = copy_name(host->h_name);
    ares_free_hostent(host);
    answer->addresses = coil__alloc_zeroed((size_t)(count + 1) * sizeof(coil_address));
    if (answer->name == NULL || answer->addresses == NULL)
        return ARES_ENOMEM;
    for (int i = 0; i < count; i++) {
        coil_address *address = &answer->addresses[answer->count++];

        address->length = sizeof address->v4;
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr = found[i].ipaddr;
        ttl = found[i].ttl < ttl ? found[i].ttl : ttl;
    }
    answer->ttl_ns = COIL_SEC(ttl);
    return count > 0 ? ARES_SUCCESS : ARES_ENODATA;
}

static int parse_v6(const unsigned char *data, int n, struct coil__answer *answer)
{
    struct ares_addr6ttl found[MOST_ADDRESSES];
    int count = MOST_ADDRESSES, ttl = INT32_MAX;
    struct hostent *host = NULL;
    int status = ares_parse_aaaa_reply(data, n, &host, found, &count);

    if (status != ARES_SUCCESS)
        return status;
    answer->name = copy_name(host->h_name);
    ares_free_hostent(host);
    answer->addresses = coil__alloc_zeroed((size_t)(count + 1) * sizeof(coil_address));
    if (answer->name == NULL || answer->addresses == NULL)
        return ARES_ENOMEM;
    for (int i = 0; i < count; i++) {
        coil_address *address = &answer->addresses[answer->count++];

        address->length = sizeof address->v6;
        address->v6.sin6_family = AF_INET6;
        memcpy(&address->v6.sin6_addr, &found[i].ip6addr, sizeof(struct in6_addr));
        ttl = found[i].ttl < ttl ? found[i].ttl : ttl;
    }
    answer->ttl_ns = COIL_SEC(ttl);
    return count > 0 ? ARES_SUCCESS : ARES_ENODATA;
}

int coil__dns_parse(enum coil__question_kind kind, const unsigned char *data, int n,
                    struct coil__answer *answer)
{
    int status =
        kind == COIL__ASK_V4 ? parse_v4(data, n, answer) : parse_v6(data, n, answer);

    if (status != ARES_SUCCESS) {
        coil__free(answer->name);
        coil__free(answer->addresses);
        *answer = (struct coil__answer){.rc = 0};
    }
    return status;
}

/* ---- no --------------------------------------------------------------------------- */

static unsigned get16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* Behind the name at `p`, or NULL. A pointer to elsewhere ends it. */
static const unsigned char *skip_name(const unsigned char *p, const unsigned char *end)
{
    while (p < end && *p != 0) {
        if ((*p & 0xc0) == 0xc0)
            return end - p >= 2 ? p + 2 : NULL;
        if ((*p & 0xc0) != 0 || end - p < *p + 1)
            return NULL;
        p += *p + 1;
    }
    return p < end ? p + 1 : NULL;
}

/* The next record after `*p`: where it lies behind its name, or NULL; *p goes on. */
static const unsigned char *next_record(const unsigned char **p, const unsigned char *end)
{
    const unsigned char *record = skip_name(*p, end);

    if (record == NULL || end - record < RECORD_BYTES ||
        end - record - RECORD_BYTES < (ptrdiff_t)get16(record + 8))
        return NULL;
    *p = record + RECORD_BYTES + get16(record + 8);
    return record;
}

int64_t coil__dns_negative_ttl(const unsigned char *data, int n)
{
    const unsigned char *p = data + HEADER_BYTES, *end = data + n, *record;
    unsigned questions, records;
    uint32_t ttl, minimum;

    if (data == NULL || n < HEADER_BYTES)
        return COIL_SEC(USUAL_NO);
    questions = get16(data + 4);
    records = get16(data + 6) + get16(data + 8);
    for (; questions > 0; questions--) {
        p = skip_name(p, end);
        if (p == NULL || end - p < 4)
            return COIL_SEC(USUAL_NO);
        p += 4;
    }
    for (; records > 0 && (record = next_record(&p, end)) != NULL; records--) {
        /* Its `minimum` is the last of five numbers, behind two names. */
        if (get16(record) != TYPE_SOA || get16(record + 8) < 22)
            continue;
        ttl = get32(record + 4);
        minimum = get32(p - 4);
        ttl = minimum < ttl ? minimum : ttl;
        return COIL_SEC(ttl < LONGEST_NO ? ttl : LONGEST_NO);
    }
    return COIL_SEC(USUAL_NO);
}
