/*
 * dns_answer.c - parses a name server's response.
 *
 * ares_parse_a_reply() is not used: for a chain of aliases c-ares 1.18 returns a name in
 * the middle of the chain, and if the records are not in the order of the chain, it finds
 * no address. The function also does not return the time to live of a negative response
 * (RFC 2308).
 */
#include "dns_answer.h"

#include <ares.h>
#include <string.h>
#include <strings.h>

#define HEADER_BYTES 12
#define RECORD_BYTES 10 /* type, class, time to live and length, which follow the name */
#define SHORTEST_RECORD (1 + RECORD_BYTES + 4) /* an IPv4 address */
#define CLASS_IN 1
#define TYPE_A 1
#define TYPE_CNAME 5
#define TYPE_SOA 6
#define TYPE_AAAA 28
#define LONGEST_CHAIN 16 /* maximum number of aliases */
#define LONGEST_NO 60
#define USUAL_NO 5

/* ---- records --------------------------------------------------------------------- */

static unsigned get16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* Return the end of the name at `p`, or NULL. A compression pointer ends a name. */
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

/*
 * Return a pointer to the type field of the record at *p, or NULL if the record is
 * incomplete. Moves *p past the record.
 */
static const unsigned char *next_record(const unsigned char **p, const unsigned char *end)
{
    const unsigned char *record = skip_name(*p, end);

    if (record == NULL || end - record < RECORD_BYTES ||
        end - record - RECORD_BYTES < (ptrdiff_t)get16(record + 8))
        return NULL;
    *p = record + RECORD_BYTES + get16(record + 8);
    return record;
}

/* Return the first record, which follows the questions, or NULL. */
static const unsigned char *first_record(const unsigned char *data, int n)
{
    const unsigned char *p = data + HEADER_BYTES, *end = data + n;

    for (unsigned questions = get16(data + 4); questions > 0; questions--) {
        p = skip_name(p, end);
        if (p == NULL || end - p < 4)
            return NULL;
        p += 4;
    }
    return p;
}

/* ---- the answer section ------------------------------------------------------------ */

struct reading {
    const unsigned char *data;
    int n;
    char *name; /* the name whose records are read; allocated by c-ares */
    const unsigned char *name_at; /* where the name was read */
    uint32_t ttl;                 /* the shortest time to live of the records used */
    const unsigned char *next;    /* the next record */
    unsigned left;                /* number of records left */
};

struct record {
    const unsigned char *bytes;
    size_t count;
};

/*
 * Reduce r->ttl to the record's time to live, if that is shorter. A value whose highest
 * bit is set counts as 0. (RFC 2181, 8)
 */
static void shorten_ttl(struct reading *r, uint32_t ttl)
{
    ttl = ttl <= INT32_MAX ? ttl : 0;
    if (ttl < r->ttl)
        r->ttl = ttl;
}

static int read_name(const struct reading *r, const unsigned char *p, char **out)
{
    long length;

    return ares_expand_name(p, r->data, r->n, out, &length);
}

/* True if the name at p is a compression pointer to the place where r->name was read. */
static bool points_to_name(const struct reading *r, const unsigned char *p)
{
    return (p[0] & 0xc0) == 0xc0 && (get16(p) & 0x3fff) == r->name_at - r->data;
}

/* Check whether the record at `owner` belongs to r->name, ignoring case. */
static int compare_owner(const struct reading *r, const unsigned char *owner, bool *same)
{
    char *name;
    int status;

    *same = points_to_name(r, owner);
    if (*same) /* usual in answers; saves expanding the name again */
        return ARES_SUCCESS;
    status = read_name(r, owner, &name);
    if (status != ARES_SUCCESS)
        return status;
    *same = strcasecmp(name, r->name) == 0;
    ares_free_string(name);
    return ARES_SUCCESS;
}

static void rewind_records(struct reading *r)
{
    r->next = first_record(r->data, r->n);
    r->left = get16(r->data + 6);
}

/*
 * Find the next record of this type for r->name. Returns ARES_ENODATA if there is none.
 */
static int find_record(struct reading *r, unsigned type, struct record *out)
{
    bool same = false;
    int status = r->next != NULL ? ARES_SUCCESS : ARES_EBADRESP;

    while (status == ARES_SUCCESS && !same) {
        const unsigned char *owner = r->next, *record;

        if (r->left == 0)
            return ARES_ENODATA;
        r->left--;
        record = next_record(&r->next, r->data + r->n);
        if (record == NULL)
            return ARES_EBADRESP;
        if (get16(record) != type || get16(record + 2) != CLASS_IN)
            continue;
        status = compare_owner(r, owner, &same);
        if (!same)
            continue;
        *out = (struct record){record + RECORD_BYTES, get16(record + 8)};
        shorten_ttl(r, get32(record + 4));
    }
    return status;
}

/*
 * Follow the aliases from the question's name to the last name of the chain. The
 * addresses of that name are the answer. Servers may send the records in any order.
 */
static int find_canonical_name(struct reading *r)
{
    int status;

    r->name_at = r->data + HEADER_BYTES;
    status = read_name(r, r->name_at, &r->name);
    for (int i = 0; status == ARES_SUCCESS && i < LONGEST_CHAIN; i++) {
        struct record alias;
        char *name;

        rewind_records(r);
        status = find_record(r, TYPE_CNAME, &alias);
        if (status == ARES_SUCCESS)
            status = read_name(r, alias.bytes, &name);
        if (status != ARES_SUCCESS)
            break;
        ares_free_string(r->name);
        r->name = name;
        r->name_at = alias.bytes;
    }
    return status == ARES_ENODATA ? ARES_SUCCESS : status;
}

/* ---- positive answers -------------------------------------------------------------- */

static bool add_address(struct coil__answer *answer, enum coil__question_kind kind,
                        const struct record *record)
{
    coil_address *address = &answer->addresses[answer->count];

    if (record->count !=
        (kind == COIL__ASK_V4 ? sizeof(struct in_addr) : sizeof(struct in6_addr)))
        return false;
    if (kind == COIL__ASK_V4) {
        address->length = sizeof address->v4;
        address->v4.sin_family = AF_INET;
        memcpy(&address->v4.sin_addr, record->bytes, record->count);
    } else {
        address->length = sizeof address->v6;
        address->v6.sin6_family = AF_INET6;
        memcpy(&address->v6.sin6_addr, record->bytes, record->count);
    }
    answer->count++;
    return true;
}

static int add_addresses(struct reading *r, enum coil__question_kind kind,
                         struct coil__answer *answer)
{
    static const unsigned types[] = {[COIL__ASK_V4] = TYPE_A, [COIL__ASK_V6] = TYPE_AAAA};
    size_t most = (size_t)r->n / SHORTEST_RECORD;
    struct record record;
    int status;

    rewind_records(r);
    most = r->left < most ? r->left : most;
    answer->addresses = coil__alloc_zeroed((most + 1) * sizeof(coil_address));
    if (answer->addresses == NULL)
        return ARES_ENOMEM;
    while ((status = find_record(r, types[kind], &record)) == ARES_SUCCESS)
        if (!add_address(answer, kind, &record))
            return ARES_EBADRESP;
    return status == ARES_ENODATA && answer->count > 0 ? ARES_SUCCESS : status;
}

/* Copy the canonical name, and free the copy that c-ares allocated. */
static int finish_reading(struct reading *r, struct coil__answer *answer, int status)
{
    size_t bytes = r->name != NULL ? strlen(r->name) + 1 : 0;

    if (status == ARES_SUCCESS) {
        answer->name = coil__alloc(bytes);
        status = answer->name != NULL ? ARES_SUCCESS : ARES_ENOMEM;
    }
    if (status == ARES_SUCCESS)
        memcpy(answer->name, r->name, bytes);
    ares_free_string(r->name);
    return status;
}

/* The QR bit distinguishes a response from a query (RFC 1035, 4.1.1). */
bool coil__dns_is_response(const unsigned char *data, int n)
{
    return n >= HEADER_BYTES && (data[2] & 0x80) != 0;
}

int coil__dns_parse(enum coil__question_kind kind, const unsigned char *data, int n,
                    struct coil__answer *answer)
{
    struct reading r = {.data = data, .n = n, .ttl = INT32_MAX};
    int status = ARES_EBADRESP;

    if (coil__dns_is_response(data, n) && get16(data + 4) == 1)
        status = find_canonical_name(&r);
    if (status == ARES_SUCCESS)
        status = add_addresses(&r, kind, answer);
    status = finish_reading(&r, answer, status);
    answer->ttl_ns = COIL_SEC((int64_t)r.ttl);
    if (status != ARES_SUCCESS) {
        coil__free(answer->addresses);
        *answer = (struct coil__answer){.rc = 0};
    }
    return status;
}

/* ---- negative answers -------------------------------------------------------------- */

int64_t coil__dns_negative_ttl(const unsigned char *data, int n)
{
    const unsigned char *p, *end = data + n, *record;
    unsigned records;
    uint32_t ttl, minimum;

    if (data == NULL || n < HEADER_BYTES || (p = first_record(data, n)) == NULL)
        return COIL_SEC(USUAL_NO);
    records = get16(data + 6) + get16(data + 8);
    for (; records > 0 && (record = next_record(&p, end)) != NULL; records--) {
        /*
         * `minimum` is the last of the five numbers that follow the record's two names.
         */
        if (get16(record) != TYPE_SOA || get16(record + 8) < 22)
            continue;
        ttl = get32(record + 4);
        minimum = get32(p - 4);
        ttl = minimum < ttl ? minimum : ttl;
        return COIL_SEC(ttl < LONGEST_NO ? ttl : LONGEST_NO);
    }
    return COIL_SEC(USUAL_NO);
}
