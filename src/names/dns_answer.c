/*
 * dns_answer.c - parsing a name server's response.
 *
 * c-ares parses addresses. It does not return the time to live of a negative response
 * (RFC 2308), which is read here.
 */
#include "dns_answer.h"

#include <ares.h>
#include <netdb.h>
#include <string.h>

#define MOST_ADDRESSES 128
#define HEADER_BYTES 12
#define RECORD_BYTES 10 /* type, class, time to live and length, which follow the name */
#define TYPE_SOA 6
#define LONGEST_NO 60
#define USUAL_NO 5

/* ---- yes --------------------------------------------------------------------------- */

/* Copy a name that c-ares owns; NULL without memory. */
static char *copy_host_name(const char *name)
{
    size_t n = strlen(name) + 1;
    char *copy = coil__alloc(n);

    return copy != NULL ? memcpy(copy, name, n) : NULL;
}

/* Store the name, allocate room for the addresses, and free `host`. */
static int begin_answer(struct coil__answer *answer, struct hostent *host, int count)
{
    answer->name = copy_host_name(host->h_name);
    ares_free_hostent(host);
    answer->addresses = coil__alloc_zeroed((size_t)(count + 1) * sizeof(coil_address));
    if (answer->name == NULL || answer->addresses == NULL)
        return ARES_ENOMEM;
    return count > 0 ? ARES_SUCCESS : ARES_ENODATA;
}

/* Add an address. The answer's time to live is the shortest of its addresses'. */
static coil_address *add_address(struct coil__answer *answer, int ttl)
{
    /* A time to live with the highest bit set counts as none. (RFC 2181, 8) */
    int64_t span = ttl > 0 ? COIL_SEC(ttl) : 0;

    if (answer->count == 0 || span < answer->ttl_ns)
        answer->ttl_ns = span;
    return &answer->addresses[answer->count++];
}

static int parse_v4(const unsigned char *data, int n, struct coil__answer *answer)
{
    struct ares_addrttl found[MOST_ADDRESSES];
    int count = MOST_ADDRESSES;
    struct hostent *host = NULL;
    int status = ares_parse_a_reply(data, n, &host, found, &count);

    if (status == ARES_SUCCESS)
        status = begin_answer(answer, host, count);
    for (int i = 0; status == ARES_SUCCESS && i < count; i++) {
        coil_address *address = add_address(answer, found[i].ttl);

        address->length = sizeof address->v4;
        address->v4.sin_family = AF_INET;
        address->v4.sin_addr = found[i].ipaddr;
    }
    return status;
}

static int parse_v6(const unsigned char *data, int n, struct coil__answer *answer)
{
    struct ares_addr6ttl found[MOST_ADDRESSES];
    int count = MOST_ADDRESSES;
    struct hostent *host = NULL;
    int status = ares_parse_aaaa_reply(data, n, &host, found, &count);

    if (status == ARES_SUCCESS)
        status = begin_answer(answer, host, count);
    for (int i = 0; status == ARES_SUCCESS && i < count; i++) {
        coil_address *address = add_address(answer, found[i].ttl);

        address->length = sizeof address->v6;
        address->v6.sin6_family = AF_INET6;
        memcpy(&address->v6.sin6_addr, &found[i].ip6addr, sizeof(struct in6_addr));
    }
    return status;
}

/* The bit QR is set: it is a response and no query (RFC 1035, 4.1.1). */
bool coil__dns_is_response(const unsigned char *data, int n)
{
    return n >= HEADER_BYTES && (data[2] & 0x80) != 0;
}

int coil__dns_parse(enum coil__question_kind kind, const unsigned char *data, int n,
                    struct coil__answer *answer)
{
    int status = ARES_EBADRESP;

    if (coil__dns_is_response(data, n))
        status =
            kind == COIL__ASK_V4 ? parse_v4(data, n, answer) : parse_v6(data, n, answer);
    if (status != ARES_SUCCESS) {
        coil__free(answer->name);
        coil__free(answer->addresses);
        *answer = (struct coil__answer){.rc = 0};
    }
    return status;
}

/* ---- no ---------------------------------------------------------------------------- */

static unsigned get16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* Where the name at `p` ends, or NULL. A compression pointer is the end of a name. */
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

/* The record at *p, from its type on, or NULL; *p moves behind the record. */
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
        /* `minimum` is the last of the five numbers that follow two names. */
        if (get16(record) != TYPE_SOA || get16(record + 8) < 22)
            continue;
        ttl = get32(record + 4);
        minimum = get32(p - 4);
        ttl = minimum < ttl ? minimum : ttl;
        return COIL_SEC(ttl < LONGEST_NO ? ttl : LONGEST_NO);
    }
    return COIL_SEC(USUAL_NO);
}
