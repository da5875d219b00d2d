/*
 * host.c - see host.h
 *
 *     [...]             parse_ipv6 -> write_ipv6
 *     opaque            add_opaque
 *     anything else     percent-decode -> domain_to_ascii -> ends_in_number?
 *                           parse_ipv4 -> write_ipv4
 *
 * ASCII names are converted to lower case here. Only names that IDNA may change are
 * passed to libidn2, with the non-transitional mapping of UTS #46. Unlike the standard,
 * libidn2 enforces the length limits of the DNS. The limits are acceptable, because
 * longer names could not be resolved, and they bound the time for a long name.
 */
#include "host.h"

#include <errno.h>
#include <idn2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Longer names are rejected at once, because conversion cannot shorten them to the 253
 * bytes that the DNS allows.
 */
#define IDNA_INPUT_BYTES 4096

/* ---- IPv4 -------------------------------------------------------------------------- */

/* Stands for all numbers that do not fit into 32 bits. */
#define TOO_LARGE ((uint64_t)1 << 32)

/*
 * Parse a decimal, octal ("0...") or hexadecimal ("0x...") number. Fails if the text is
 * not a number.
 */
static int parse_number(const char *s, size_t n, uint64_t *value)
{
    int base = 10;

    if (n == 0)
        return -EINVAL;
    if (n >= 2 && s[0] == '0') {
        base = s[1] == 'x' || s[1] == 'X' ? 16 : 8;
        s += base == 16 ? 2 : 1;
        n -= base == 16 ? 2 : 1;
    }
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = hex_value(s[i]);
        if (digit < 0 || digit >= base)
            return -EINVAL;
        *value = *value * (uint64_t)base + (uint64_t)digit;
        if (*value > TOO_LARGE)
            *value = TOO_LARGE;
    }
    return 0;
}

static bool all_digits(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_digit(s[i]))
            return false;
    return n > 0;
}

/*
 * Return the length of a host without a trailing dot, which refers to the root of the DNS
 * and is ignored.
 */
static size_t without_last_dot(const char *s, size_t n)
{
    return n > 1 && s[n - 1] == '.' ? n - 1 : n;
}

/* True if the last label is a number. In that case, the host must be an IPv4 address. */
static bool ends_in_number(const char *s, size_t n)
{
    const char *dot, *last;
    uint64_t value;

    n = without_last_dot(s, n);
    dot = memrchr(s, '.', n);
    last = dot != NULL ? dot + 1 : s;
    n = (size_t)(s + n - last);
    return all_digits(last, n) || parse_number(last, n, &value) == 0;
}

/* Parse one to four numbers. The last number fills the remaining bytes of the address. */
static int parse_ipv4(const char *s, size_t n, uint32_t *address)
{
    uint64_t numbers[4], last;
    size_t count = 0;

    n = without_last_dot(s, n);
    for (const char *at = s, *end = s + n;; at++) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        const char *stop = dot != NULL ? dot : end;
        if (count == 4 || parse_number(at, (size_t)(stop - at), &numbers[count]) < 0)
            return -EINVAL;
        count++;
        at = stop;
        if (dot == NULL)
            break;
    }
    last = numbers[count - 1];
    if (last >= (uint64_t)1 << (8 * (5 - count)))
        return -EINVAL;
    *address = (uint32_t)last;
    for (size_t i = 0; i + 1 < count; i++) {
        if (numbers[i] > 255)
            return -EINVAL;
        *address += (uint32_t)numbers[i] << (8 * (3 - i));
    }
    return 0;
}

static void write_ipv4(struct text *out, uint32_t address)
{
    char buf[sizeof "255.255.255.255"];
    int n = snprintf(buf, sizeof buf, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                     address >> 8 & 255, address & 255);

    text_add(out, buf, (size_t)n);
}

/* ---- IPv6 -------------------------------------------------------------------------- */

/*
 * Parse "1.2.3.4" as the last two pieces of an IPv6 address. Leading zeroes are not
 * allowed.
 */
static int parse_embedded_ipv4(const char *s, const char *end, uint16_t pieces[2])
{
    unsigned bytes[4];

    for (int i = 0; i < 4; i++) {
        const char *first = s;
        if (i > 0 && (s == end || *s != '.'))
            return -EINVAL;
        if (i > 0)
            first = ++s;
        bytes[i] = 0;
        while (s < end && is_digit(*s) && s - first < 3)
            bytes[i] = bytes[i] * 10 + (unsigned)(*s++ - '0');
        if (s == first || bytes[i] > 255 || (*first == '0' && s - first > 1))
            return -EINVAL;
    }
    pieces[0] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    pieces[1] = (uint16_t)(bytes[2] << 8 | bytes[3]);
    return s == end ? 0 : -EINVAL;
}

/*
 * Move the pieces after "::" to the end, and fill the gap with zeroes. If there is no
 * "::" (gap < 0), fail unless the address has eight pieces.
 */
static int close_gap(uint16_t pieces[8], int count, int gap)
{
    int after = count - gap;

    if (gap < 0)
        return count == 8 ? 0 : -EINVAL;
    memmove(pieces + 8 - after, pieces + gap, (size_t)after * sizeof pieces[0]);
    for (int i = gap; i < 8 - after; i++)
        pieces[i] = 0;
    return 0;
}

/*
 * Parse an IPv6 address. "::" counts as one piece; `gap` is the index of the piece after
 * it, or -1.
 */
static int parse_ipv6(const char *s, const char *end, uint16_t pieces[8])
{
    int count = 0, gap = -1;

    memset(pieces, 0, 8 * sizeof pieces[0]);
    if (s < end && *s == ':' && (++s == end || *s != ':'))
        return -EINVAL;
    while (s < end) {
        const char *first = s;
        if (count == 8)
            return -EINVAL;
        if (*s == ':') {
            if (gap >= 0)
                return -EINVAL;
            s++;
            gap = ++count;
            continue;
        }
        while (s < end && s - first < 4 && hex_value(*s) >= 0)
            pieces[count] = (uint16_t)(pieces[count] << 4 | hex_value(*s++));
        if (s < end && *s == '.') {
            if (s == first || count > 6 ||
                parse_embedded_ipv4(first, end, &pieces[count]))
                return -EINVAL;
            count += 2;
            break;
        }
        if (s < end && (*s++ != ':' || s == end))
            return -EINVAL;
        count++;
    }
    return close_gap(pieces, count, gap);
}

/*
 * Find the longest run of at least two zeroes, or the first of several equally long ones.
 * Returns its length, or 0.
 */
static int longest_zeroes(const uint16_t pieces[8], int *where)
{
    int longest = 1;

    for (int i = 0, run = 0; i < 8; i++) {
        run = pieces[i] == 0 ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            *where = i - run + 1;
        }
    }
    return longest > 1 ? longest : 0;
}

static void write_ipv6(struct text *out, const uint16_t pieces[8])
{
    int where = -1, zeroes = longest_zeroes(pieces, &where);

    text_add(out, "[", 1);
    for (int i = 0; i < 8; i++) {
        char buf[sizeof "ffff:"];
        int n;
        if (i == where) {
            text_add(out, "::", i == 0 ? 2 : 1);
            i += zeroes - 1;
            continue;
        }
        n = snprintf(buf, sizeof buf, "%x%s", pieces[i], i < 7 ? ":" : "");
        text_add(out, buf, (size_t)n);
    }
    text_add(out, "]", 1);
}

/* ---- names ------------------------------------------------------------------------- */

static bool has_any(const char *s, size_t n, const char *set, size_t set_n)
{
    for (size_t i = 0; i < n; i++)
        if (memchr(set, s[i], set_n) != NULL)
            return true;
    return false;
}

/* True if the text contains a forbidden host code point of the standard. */
static bool has_forbidden(const char *s, size_t n)
{
    static const char forbidden[] = "\0\t\n\r #/:<>?@[\\]^|";

    return has_any(s, n, forbidden, sizeof forbidden - 1);
}

static bool has_forbidden_for_domain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' || s[i] == '%' || s[i] == 0x7f)
            return true;
    return has_forbidden(s, n);
}

static bool needs_idna(const char *s, size_t n)
{
    bool label_begins = true;

    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] > 0x7f)
            return true;
        if (label_begins && n - i >= 4 && strncasecmp(s + i, "xn--", 4) == 0)
            return true;
        label_begins = s[i] == '.';
    }
    return false;
}

/*
 * True if the name contains deviation characters, which IDNA2003 replaced, but the
 * non-transitional mapping preserves.
 */
static bool has_deviations(const char *domain)
{
    static const char *const deviations[] = {"\u00df", "\u03c2", "\u200c", "\u200d"};

    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++)
        if (strstr(domain, deviations[i]) != NULL)
            return true;
    return false;
}

/*
 * Convert a name to ASCII. In non-transitional mode, libidn2 rejects symbols, which UTS
 * #46 allows and IDNA2008 forbids. If a name is rejected, try the transitional mode: the
 * result is the same for names without deviation characters.
 */
static int convert_idna(const char *domain, uint8_t **ascii)
{
    int rc = idn2_lookup_u8((const uint8_t *)domain, ascii, IDN2_NONTRANSITIONAL);

    if (rc == IDN2_DISALLOWED && !has_deviations(domain))
        rc = idn2_lookup_u8((const uint8_t *)domain, ascii, IDN2_TRANSITIONAL);
    if (rc == IDN2_OK)
        return 0;
    return rc == IDN2_MALLOC ? -ENOMEM : -EINVAL;
}

static int add_by_idna(struct text *out, struct text *domain)
{
    uint8_t *ascii;
    int rc;

    if (domain->n > IDNA_INPUT_BYTES || memchr(domain->at, '\0', domain->n) != NULL)
        return -EINVAL;
    text_add(domain, "", 1);
    if (domain->failed)
        return -ENOMEM;
    rc = convert_idna(domain->at, &ascii);
    if (rc < 0)
        return rc;
    text_add(out, (const char *)ascii, strlen((const char *)ascii));
    idn2_free(ascii);
    return 0;
}

static int domain_to_ascii(struct text *out, struct text *domain)
{
    if (needs_idna(domain->at, domain->n))
        return add_by_idna(out, domain);
    text_add_lower(out, domain->at, domain->n);
    return 0;
}

/* Check the name in `out` from `begin` on. If it is an IPv4 address, normalize it. */
static int finish_domain(struct text *out, size_t begin)
{
    const char *s = out->at + begin;
    size_t n = out->n - begin;
    uint32_t address;

    if (n == 0 || has_forbidden_for_domain(s, n))
        return -EINVAL;
    if (!ends_in_number(s, n))
        return 0;
    if (parse_ipv4(s, n, &address) < 0)
        return -EINVAL;
    out->n = begin;
    write_ipv4(out, address);
    return 0;
}

static int add_domain(struct text *out, const char *s, size_t n)
{
    struct text bytes = {0}, domain = {0};
    size_t begin = out->n;
    int rc = -ENOMEM;

    text_add_decoded(&bytes, s, n);
    if (!bytes.failed)
        text_add_utf8(&domain, bytes.at, bytes.n, "");
    if (!bytes.failed && !domain.failed)
        rc = domain_to_ascii(out, &domain);
    text_finish(&bytes);
    text_finish(&domain);
    if (rc == 0 && out->failed)
        rc = -ENOMEM;
    return rc == 0 ? finish_domain(out, begin) : rc;
}

int host_parse(struct text *out, const char *s, size_t n, bool opaque)
{
    uint16_t pieces[8];

    if (n > 0 && s[0] == '[') {
        if (s[n - 1] != ']' || parse_ipv6(s + 1, s + n - 1, pieces) < 0)
            return -EINVAL;
        write_ipv6(out, pieces);
        return 0;
    }
    if (!opaque)
        return n > 0 ? add_domain(out, s, n) : -EINVAL;
    if (has_forbidden(s, n))
        return -EINVAL;
    text_add_encoded(out, s, n, PERCENT_CONTROL);
    return 0;
}
