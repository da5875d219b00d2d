/*
 * dns_answer.c - parses a name server's response.
 *
 * ares_parse_a_reply() is not used: for a chain of aliases c-ares 1.18 returns a name in
 * the middle of the chain, and if the records are not in the order of the chain, it finds
 * no address. The function also does not return the time to live of a negative response
 * (RFC 2308).
 *
 * Names are compared as they are in the response. Only the canonical name is converted to
 * text, and into the memory of the answer. ares_expand_name() would allocate each name,
 * and takes three times as long.
 */
#include "dns_answer.h"

#include <ares.h>
#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 12
#define RECORD_BYTES 10 /* type, class, time to live and length, which follow the name */
#define SHORTEST_RECORD (1 + RECORD_BYTES + 4) /* an IPv4 address */
#define CLASS_IN 1
#define TYPE_A 1
#define TYPE_CNAME 5
#define TYPE_SOA 6
#define TYPE_AAAA 28
#define LONGEST_CHAIN 16 /* maximum number of aliases */
#define LONGEST_NAME 255 /* in bytes; the text has up to four characters for each */
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
    const unsigned char *name;  /* the name whose records are read */
    uint32_t ttl;               /* the shortest time to live of the records used */
    const unsigned char *first; /* the first record */
    const unsigned char *next;  /* the next record */
    unsigned left;              /* number of records left */
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

/*
 * Return the label at *p, which begins with its length. The last label of a name is
 * empty. Compression pointers are followed, but only to earlier bytes, so this ends.
 * Returns NULL if the name is malformed. Moves *p past the label.
 */
static const unsigned char *next_label(const struct reading *r, const unsigned char **p)
{
    const unsigned char *label = *p, *end = r->data + r->n;

    while (end - label >= 2 && (*label & 0xc0) == 0xc0) {
        const unsigned char *earlier = r->data + (get16(label) & 0x3fff);

        if (earlier >= label)
            return NULL;
        label = earlier;
    }
    if (label >= end || (*label & 0xc0) != 0 || end - label < *label + 1)
        return NULL;
    *p = label + *label + 1;
    return label;
}

static bool are_same_labels(const unsigned char *a, const unsigned char *b)
{
    if (*a != *b)
        return false;
    for (unsigned i = 1; i <= *a; i++)
        if (coil__ascii_lower(a[i]) != coil__ascii_lower(b[i]))
            return false;
    return true;
}

/* True if the name at p is a compression pointer to the place where r->name is. */
static bool points_to_name(const struct reading *r, const unsigned char *p)
{
    return (p[0] & 0xc0) == 0xc0 && (get16(p) & 0x3fff) == r->name - r->data;
}

/* Check whether the record at `owner` belongs to r->name, ignoring case. */
static int compare_owner(const struct reading *r, const unsigned char *owner, bool *same)
{
    const unsigned char *name = r->name, *a, *b;
    int left = LONGEST_NAME;

    *same = points_to_name(r, owner);
    if (*same) /* usual in answers */
        return ARES_SUCCESS;
    *same = true;
    do { /* also after a difference, so that a malformed name is found */
        a = next_label(r, &owner);
        b = *same ? next_label(r, &name) : a;
        if (a == NULL || b == NULL || (left -= *a + 1) < 0)
            return ARES_EBADNAME;
        *same = *same && are_same_labels(a, b);
    } while (*a != 0);
    return ARES_SUCCESS;
}

static void rewind_records(struct reading *r)
{
    r->next = r->first;
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
    int status = ARES_SUCCESS;

    r->name = r->data + HEADER_BYTES;
    r->first = first_record(r->data, r->n);
    for (int i = 0; status == ARES_SUCCESS && i < LONGEST_CHAIN; i++) {
        struct record alias;

        rewind_records(r);
        status = find_record(r, TYPE_CNAME, &alias);
        if (status == ARES_SUCCESS)
            r->name = alias.bytes;
    }
    return status == ARES_ENODATA ? ARES_SUCCESS : status;
}

static bool is_usual(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Append a character to a name, with an escape if it is special. (RFC 1035, 5.1) */
static char *put_character(char *to, unsigned char c)
{
    if (c < ' ' || c > '~')
        return to + sprintf(to, "\\%03u", c);
    if (strchr("\"$().;@\\", c) != NULL)
        *to++ = '\\';
    *to++ = (char)c;
    return to;
}

/* Convert r->name to text. */
static int expand_name(const struct reading *r, char text[4 * LONGEST_NAME])
{
    const unsigned char *p = r->name, *label;
    int left = LONGEST_NAME;
    char *to = text;

    while ((label = next_label(r, &p)) != NULL && (left -= *label + 1) >= 0) {
        if (*label == 0) {
            *to = '\0';
            return ARES_SUCCESS;
        }
        if (to != text)
            *to++ = '.';
        for (const unsigned char *c = label + 1; c != p; c++)
            if (is_usual(*c))
                *to++ = (char)*c;
            else
                to = put_character(to, *c);
    }
    return ARES_EBADNAME;
}

/* ---- positive answers -------------------------------------------------------------- */

static bool add_address(struct coil__answer *answer, enum coil__question_kind kind,
                        const struct record *record)
{
    coil_address *address = &answer->addresses[answer->count];

    *address = (coil_address){.length = 0};
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
    char name[4 * LONGEST_NAME];
    struct record record;
    int status;

    rewind_records(r);
    if (r->left == 0)
        return ARES_ENODATA;
    status = expand_name(r, name);
    if (status != ARES_SUCCESS)
        return status;
    if (coil__answer_reserve(answer, r->left < most ? r->left : most, name) < 0)
        return ARES_ENOMEM;
    while ((status = find_record(r, types[kind], &record)) == ARES_SUCCESS)
        if (!add_address(answer, kind, &record))
            return ARES_EBADRESP;
    return status == ARES_ENODATA && answer->count > 0 ? ARES_SUCCESS : status;
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
    answer->ttl_ns = COIL_SEC((int64_t)r.ttl);
    if (status != ARES_SUCCESS) {
        coil__answer_finish(answer);
        answer->ttl_ns = 0;
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
