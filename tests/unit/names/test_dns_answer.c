/*
 * test_dns_answer.c - parsing a name server's response: its addresses, and the canonical
 * name at the end of a chain of aliases.
 */
#include "../../harness/harness.h"

#include "../../../src/names/dns_answer.h"

#include <ares.h>

enum { LONGEST = 5, TYPE_A = 1, TYPE_CNAME = 5 };

struct packet {
    unsigned char bytes[2048];
    size_t n;
};

static void put16(struct packet *p, unsigned value)
{
    p->bytes[p->n++] = (unsigned char)(value >> 8);
    p->bytes[p->n++] = (unsigned char)value;
}

static void put_name(struct packet *p, const char *name)
{
    while (*name != '\0') {
        size_t n = strcspn(name, ".");

        p->bytes[p->n++] = (unsigned char)n;
        memcpy(p->bytes + p->n, name, n);
        p->n += n;
        name += n + (name[n] == '.');
    }
    p->bytes[p->n++] = 0;
}

static void put_record(struct packet *p, const char *owner, int type, size_t length)
{
    put_name(p, owner);
    put16(p, (unsigned)type);
    put16(p, 1);
    put16(p, 0);
    put16(p, 60);
    put16(p, (unsigned)length);
}

/* Return name i of a chain in which "n0.test" is an alias of "N1.test", and so on. */
static const char *name_of(int i)
{
    static char names[LONGEST + 2][24];

    snprintf(names[i], sizeof names[i], "n%d.test", i);
    return names[i];
}

/*
 * Add record i of a chain of n aliases. Record n is the address. The letter case of a
 * name varies between records.
 */
static void put_link(struct packet *p, int i, int n)
{
    char owner[24];

    snprintf(owner, sizeof owner, "N%d.Test", i);
    if (i == n) {
        put_record(p, owner, TYPE_A, 4);
        put16(p, 0xc000);
        put16(p, 0x0201); /* 192.0.2.1 */
        return;
    }
    put_record(p, owner, TYPE_CNAME, strlen(name_of(i + 1)) + 2);
    put_name(p, name_of(i + 1));
}

static void begin_packet(struct packet *p, unsigned records)
{
    *p = (struct packet){.n = 0};
    put16(p, 1);
    put16(p, 0x8180);
    put16(p, 1);
    put16(p, records);
    put16(p, 0);
    put16(p, 0);
    put_name(p, name_of(0));
    put16(p, TYPE_A);
    put16(p, 1);
}

static void check_packet(const struct packet *p, int n)
{
    struct coil__answer answer = {.rc = 0};

    CHECK_INT(coil__dns_parse(COIL__ASK_V4, p->bytes, (int)p->n, &answer), ARES_SUCCESS);
    CHECK_STR(answer.name, name_of(n));
    CHECK_INT(answer.count, 1);
    coil__free(answer.addresses);
}

/* Add the n + 1 records of a chain in one of all possible orders, which are numbered. */
static void put_in_order(struct packet *p, int n, unsigned order)
{
    int left[LONGEST + 1], count = n + 1;

    for (int i = 0; i <= n; i++)
        left[i] = i;
    for (; count > 0; count--) {
        int i = (int)(order % (unsigned)count);

        order /= (unsigned)count;
        put_link(p, left[i], n);
        memmove(&left[i], &left[i + 1], (size_t)(count - i - 1) * sizeof left[0]);
    }
}

TEST(dns_answer_of_aliases_in_any_order)
{
    unsigned orders = 1;

    for (int n = 0; n <= LONGEST; n++) {
        orders *= (unsigned)n + 1;
        for (unsigned order = 0; order < orders; order++) {
            struct packet p;

            begin_packet(&p, (unsigned)n + 1);
            put_in_order(&p, n, order);
            check_packet(&p, n);
        }
    }
}

/* If aliases form a loop, the parser must stop, and may return any of their names. */
TEST(dns_answer_of_aliases_in_a_loop)
{
    struct coil__answer answer = {.rc = 0};
    struct packet p;
    int status;

    begin_packet(&p, 3);
    put_link(&p, 0, 2);
    put_record(&p, name_of(1), TYPE_CNAME, strlen(name_of(0)) + 2);
    put_name(&p, name_of(0));
    put_link(&p, 1, 1);
    status = coil__dns_parse(COIL__ASK_V4, p.bytes, (int)p.n, &answer);
    CHECK(status != ARES_SUCCESS || answer.name != NULL);
    coil__free(answer.addresses);
}

/*
 * Truncate a response after each byte. The parser must refuse the truncated response, or
 * parse it without reading beyond its end.
 */
TEST(dns_answer_that_is_cut)
{
    struct packet p;

    begin_packet(&p, 4);
    put_in_order(&p, 3, 0);
    for (size_t n = 0; n <= p.n; n++) {
        unsigned char *copy = malloc(n + 1);
        struct coil__answer answer = {.rc = 0};

        memcpy(copy, p.bytes, n);
        coil__dns_parse(COIL__ASK_V4, copy, (int)n, &answer);
        coil__dns_negative_ttl(copy, (int)n);
        coil__free(answer.addresses);
        free(copy);
    }
}

/* Parse an answer to the question n0.test that consists of aliases[] and an address. */
static int parse_canonical_name(const unsigned char *alias, size_t n, char name[1024])
{
    struct coil__answer answer = {.rc = 0};
    struct packet p;
    int status;

    begin_packet(&p, 2);
    put_record(&p, name_of(0), TYPE_CNAME, n);
    memcpy(p.bytes + p.n, alias, n);
    p.n += n;
    memcpy(p.bytes + p.n, alias, n);
    p.n += n;
    memcpy(p.bytes + p.n, "\0\1\0\1\0\0\0\74\0\4\300\0\2\1", 14);
    p.n += 14;
    status = coil__dns_parse(COIL__ASK_V4, p.bytes, (int)p.n, &answer);
    snprintf(name, 1024, "%s", answer.name != NULL ? answer.name : "");
    CHECK_INT(answer.count, status == ARES_SUCCESS);
    coil__answer_finish(&answer);
    return status;
}

TEST(dns_answer_escapes_special_characters)
{
    char name[1024];

    CHECK_INT(
        parse_canonical_name((const unsigned char *)"\3A_b\4a.\\$\3\0\1\377", 14, name),
        ARES_SUCCESS);
    CHECK_STR(name, "A_b.a\\.\\\\\\$.\\000\\001\\255");
}

/* A name of 255 bytes is the longest. (RFC 1035, 2.3.4) */
TEST(dns_answer_limits_names)
{
    unsigned char longest[257];
    char name[1024];

    memset(longest, 7, sizeof longest);
    for (size_t i = 0; i < 3; i++)
        longest[i * 64] = 63;
    longest[192] = 61;
    longest[254] = 0;
    CHECK_INT(parse_canonical_name(longest, 255, name), ARES_SUCCESS);
    CHECK_INT(strlen(name), 4 * 250 + 3);
    longest[192] = 62;
    longest[254] = 7;
    longest[255] = 0;
    CHECK_INT(parse_canonical_name(longest, 256, name), ARES_EBADNAME);
}

/* A compression pointer must point backwards. Otherwise names could be endless. */
TEST(dns_answer_refuses_compression_pointers_to_later_bytes)
{
    /* The alias begins after the header, the question, and the record up to its data. */
    const unsigned char at = 12 + 9 + 4 + 9 + 10;
    char name[1024];

    CHECK_INT(parse_canonical_name((unsigned char[]){1, 'a', 0xc0, 12}, 4, name),
              ARES_SUCCESS);
    CHECK_STR(name, "a.n0.test");
    CHECK_INT(parse_canonical_name((unsigned char[]){0xc0, at}, 2, name), ARES_EBADNAME);
    CHECK_INT(parse_canonical_name((unsigned char[]){1, 'a', 0xc0, at}, 4, name),
              ARES_EBADNAME);
    CHECK_INT(parse_canonical_name((unsigned char[]){0xc0, at + 2, 0}, 3, name),
              ARES_EBADNAME);
}

/* A malformed name makes a response invalid, even that of a record of another name. */
TEST(dns_answer_refuses_a_malformed_owner)
{
    static const unsigned char other[] = {1, 'x', 0xc0, 200};
    struct coil__answer answer = {.rc = 0};
    struct packet p;

    begin_packet(&p, 2);
    put_link(&p, 0, 0);
    memcpy(p.bytes + p.n, other, sizeof other);
    p.n += sizeof other;
    memcpy(p.bytes + p.n, "\0\1\0\1\0\0\0\74\0\4\300\0\2\1", 14);
    p.n += 14;
    CHECK_INT(coil__dns_parse(COIL__ASK_V4, p.bytes, (int)p.n, &answer), ARES_EBADNAME);
    CHECK_INT(answer.count, 0);
    CHECK(answer.addresses == NULL);
}
