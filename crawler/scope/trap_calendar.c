/*
 * trap_calendar.c - calendars that go on for ever.
 *
 * A calendar's page links to the next month, and that one to the next. What tells it from a
 * blog's archive is that nothing but dates comes of it. A URL with dates is taken apart:
 *
 *   http://h/cal/2026/11/22/list?view=day   shape   h/cal/#/list?view=day   and the date 20261122
 *                                           family  h/cal/#/?view
 *
 * A target is news if it has no date, or if its shape has not been met: "/2026/11/22/a-post"
 * is. Each family counts its pages since the last news, and how many of them brought a date
 * that the family had not had. At TRAP_CALENDAR_PAGES and TRAP_CALENDAR_DATES it is a calendar,
 * and shapes that are known are not followed any more. New dates are asked for since a thousand
 * pages with dates that are listed in one place, or documentation of ten versions named by
 * month, do end.
 *
 * Shapes and dates are remembered as hashes in a table of fixed size, where a newer one takes
 * an older one's place: what is forgotten is news again, which errs on the side of following.
 */
#include "trap_calendar.h"

#include "../base/text.h"
#include "trap.h"
#include "../url/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SEEN 32768 /* powers of two */
#define FAMILIES 8192

struct family {
    uint64_t hash;
    uint32_t pages, dates; /* since the last news */
    bool is_calendar;
};

struct trap_calendars {
    uint64_t seen[SEEN];
    struct family families[FAMILIES];
};

/* A URL, taken apart. */
struct parts {
    uint64_t shape, family, date;
    bool has_date;
};

void trap_calendars_destroy(struct trap_calendars *calendars)
{
    free(calendars);
}

uint64_t trap_hash(uint64_t hash, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return hash != 0 ? hash : 1;
}

/* ---- dates ------------------------------------------------------------------------- */

static size_t digits_at(const char *s)
{
    size_t n = 0;

    while (is_digit(s[n]))
        n++;
    return n;
}

static unsigned number_of(const char *s, size_t n)
{
    unsigned value = 0;

    for (size_t i = 0; i < n; i++)
        value = value * 10 + (unsigned)(s[i] - '0');
    return value;
}

static bool is_year(const char *s)
{
    return number_of(s, 4) >= 1000 && number_of(s, 4) < 3000;
}

static bool in_range(const char *s, size_t n, unsigned last)
{
    return n > 0 && n <= 2 && number_of(s, n) >= 1 && number_of(s, n) <= last;
}

/* What parts a date's numbers, "%2F" among it; its length. */
static size_t separator_at(const char *s)
{
    if (*s != '\0' && strchr("-/._", *s) != NULL)
        return 1;
    return strncasecmp(s, "%2f", 3) == 0 ? 3 : 0;
}

/* "nov", "november"; its length. */
static size_t month_name_at(const char *s)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};

    for (size_t i = 0; i < 12; i++) {
        size_t n = strlen(names[i]);
        n = strncasecmp(s, names[i], n) == 0   ? n
            : strncasecmp(s, names[i], 3) == 0 ? 3
                                               : 0;
        if (n > 0 && !is_letter(s[n]))
            return n;
    }
    return 0;
}

/* A separator and a number up to `last`, which no other digit follows; its length. */
static size_t number_behind(const char *s, unsigned last)
{
    size_t separator = separator_at(s), n = digits_at(s + separator);

    return separator > 0 && in_range(s + separator, n, last) ? separator + n : 0;
}

/* "W47"; its length. */
static size_t week_at(const char *s)
{
    size_t n = *s == 'W' || *s == 'w' ? digits_at(s + 1) : 0;

    return in_range(s + 1, n, 53) ? 1 + n : 0;
}

/* "2026-11", "2026/11/22", "2026-W47", "2026/november/2": what follows the year; its length. */
static size_t behind_year(const char *s)
{
    size_t separator = separator_at(s), n = number_behind(s, 12);

    if (separator > 0 && n == 0) {
        size_t week = week_at(s + separator), name = month_name_at(s + separator);
        if (week > 0)
            return separator + week;
        n = name > 0 ? separator + name : 0;
    }
    return n > 0 ? n + number_behind(s + n, 31) : 0;
}

/* "22-11-2026", "11/22/2026"; its length. */
static size_t year_at_end(const char *s, size_t digits)
{
    size_t n = digits + number_behind(s + digits, 31);
    size_t separator = separator_at(s + n);

    return in_range(s, digits, 31) && n > digits && separator > 0 &&
                   digits_at(s + n + separator) == 4 && is_year(s + n + separator)
               ? n + separator + 4
               : 0;
}

/* "20261122", "202611", and with a time behind them. */
static bool is_compact(const char *s, size_t digits)
{
    return (digits == 6 || digits == 8 || digits == 12 || digits == 14) &&
           (s[0] == '1' || s[0] == '2') && is_year(s) && in_range(s + 4, 2, 12) &&
           (digits == 6 || in_range(s + 6, 2, 31));
}

/* "T10:00:00Z"; its length. */
static size_t time_at(const char *s)
{
    return (*s == 'T' || *s == 't') && is_digit(s[1])
               ? 1 + strspn(s + 1, "0123456789:.%3AaZz")
               : 0;
}

/* The length of the date that begins at `s`, before which no digit stands; 0 if there is none. */
static size_t date_at(const char *s)
{
    size_t digits = digits_at(s), n = 0;

    if (digits == 4 && is_year(s)) {
        n = behind_year(s + 4);
        n = n > 0 ? n + 4 : 0;
    } else if (is_compact(s, digits)) {
        n = digits;
    } else if (digits == 1 || digits == 2) {
        n = year_at_end(s, digits);
    }
    return n > 0 ? n + time_at(s + n) : 0;
}

/* ---- taking a URL apart ------------------------------------------------------------ */

static void take_date(struct parts *parts, const char *s, size_t n)
{
    parts->shape = trap_hash(parts->shape, "#", 1);
    parts->date = trap_hash(parts->date, s, n);
    parts->has_date = true;
}

/* "/2026/": a segment which is a year. */
static bool is_year_segment(const char *s)
{
    return s[-1] == '/' && digits_at(s) == 4 && is_year(s) &&
           (s[4] == '\0' || strchr("/?#", s[4]) != NULL);
}

/* A path. What is in its last segment belongs to the family if a date is. */
static void take_path(struct parts *parts, const char *s, const char *end)
{
    bool dated = false;

    while (s < end) {
        size_t date = is_digit(s[-1]) ? 0 : date_at(s);

        if (date == 0 && is_year_segment(s))
            date = 4;
        if (date > 0) {
            take_date(parts, s, date);
            dated = true;
            s += date;
            continue;
        }
        parts->shape = trap_hash(parts->shape, s, 1);
        if (*s++ == '/') {
            parts->family = parts->shape;
            dated = false;
        }
    }
    if (dated)
        parts->family = parts->shape;
}

static bool ends_in(const char *s, size_t n, const char *word)
{
    size_t word_n = strlen(word);

    return n >= word_n && strncasecmp(s + n - word_n, word, word_n) == 0;
}

static bool is_one_of(const char *s, size_t n, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strlen(*words) == n && strncasecmp(s, *words, n) == 0)
            return true;
    return false;
}

static bool names_year(const char *s, size_t n)
{
    return ends_in(s, n, "year") ||
           is_one_of(s, n, (const char *const[]){"y", "yr", NULL});
}

/* "year=2026": with it even "m" is a month. */
static bool has_year(const char *query)
{
    for (size_t n; *query == '?' || *query == '&'; query += n) {
        n = strcspn(++query, "=&#");
        if (query[n] == '=' && names_year(query, n) && digits_at(query + n + 1) == 4)
            return true;
        n = strcspn(query, "&#");
    }
    return false;
}

static bool names_date(const char *s, size_t n, bool beside_year)
{
    static const char *const brief[] = {"y", "yr", "m",  "mo", "mon",
                                        "d", "w",  "wk", NULL};

    return names_year(s, n) || ends_in(s, n, "month") || ends_in(s, n, "week") ||
           ends_in(s, n, "day") || (beside_year && is_one_of(s, n, brief));
}

/* The length of a value which is a date because of its name, or of a time in seconds, or 0. */
static size_t value_of_date(const char *name, size_t name_n, bool beside_year)
{
    const char *value = name + name_n + 1;
    size_t n = strcspn(value, "&#"), sign = *value == '-' || *value == '+';
    size_t digits = digits_at(value + sign);

    if (sign == 0 && digits == n && (n == 10 || n == 13) &&
        (*value == '1' || *value == '2'))
        return n;
    if (!names_date(name, name_n, beside_year) || n == 0)
        return 0;
    return (digits <= 4 && sign + digits == n) || month_name_at(value) == n ? n : 0;
}

/* "name=value", of `n` bytes. The name is of the family. */
static void take_parameter(struct parts *parts, const char *s, size_t n, bool beside_year)
{
    size_t name_n = strcspn(s, "=&#"), date;

    parts->family = trap_hash(parts->family, s, name_n);
    parts->shape = trap_hash(parts->shape, s, name_n);
    if (name_n == n)
        return;
    date = value_of_date(s, name_n, beside_year);
    if (date > 0) {
        take_date(parts, s + name_n + 1, date);
        return;
    }
    for (size_t i = name_n; i < n;) {
        date = i > 0 && is_digit(s[i - 1]) ? 0 : date_at(s + i);
        if (date > 0)
            take_date(parts, s + i, date);
        else
            parts->shape = trap_hash(parts->shape, s + i, date = 1);
        i += date;
    }
}

static void take_query(struct parts *parts, const char *s)
{
    bool beside_year = has_year(s);

    while (*s == '?' || *s == '&') {
        size_t n = strcspn(s + 1, "&#");
        parts->family = trap_hash(parts->family, "&", 1);
        parts->shape = trap_hash(parts->shape, "&", 1);
        take_parameter(parts, s + 1, n, beside_year);
        s += 1 + n;
    }
}

static struct parts parts_of(const char *url)
{
    size_t origin = url_origin_length(url);
    const char *path_end = url + origin + strcspn(url + origin, "?#");
    struct parts parts = {.date = TRAP_HASH_START};

    if (strpbrk(url + origin, "0123456789") ==
        NULL) /* no date, and nobody asks for the rest */
        return parts;
    parts.shape = parts.family = trap_hash(TRAP_HASH_START, url, origin);
    take_path(&parts, url + origin, path_end);
    take_query(&parts, path_end);
    return parts;
}

/* ---- counting ---------------------------------------------------------------------- */

/*
 * Remember a hash; true if it was known. Each has two places, the latest in the first: what is
 * met again and again stays, whatever else comes by.
 */
static bool was_seen(struct trap_calendars *calendars, uint64_t hash)
{
    uint64_t *pair = &calendars->seen[(hash ^ hash >> 32) & (SEEN - 2)];
    bool seen = pair[0] == hash || pair[1] == hash;

    if (pair[0] != hash)
        pair[1] = pair[0];
    pair[0] = hash;
    return seen;
}

static struct family *family_of(struct trap_calendars *calendars, uint64_t hash)
{
    struct family *family = &calendars->families[(hash ^ hash >> 32) & (FAMILIES - 1)];

    if (family->hash != hash)
        *family = (struct family){.hash = hash};
    return family;
}

static bool make_calendars(struct traps *traps)
{
    if (traps->calendars == NULL)
        traps->calendars = calloc(1, sizeof *traps->calendars);
    return traps->calendars != NULL;
}

bool trap_calendar(struct traps *traps, struct trap_page *page, const char *url)
{
    struct parts parts = parts_of(url);
    struct family *family;

    if (!parts.has_date || !make_calendars(traps)) {
        page->news = true;
        return false;
    }
    family = family_of(traps->calendars, parts.family);
    if (!was_seen(traps->calendars, parts.shape))
        page->news = true;
    else if (family->is_calendar)
        return true;
    if (!was_seen(traps->calendars,
                  trap_hash(parts.family, (const char *)&parts.date, sizeof parts.date)))
        page->dates = true;
    return false;
}

void trap_page_end(struct traps *traps, const struct trap_page *page, const char *url)
{
    struct parts parts = parts_of(url);
    struct family *family;

    if (!parts.has_date || !make_calendars(traps))
        return;
    family = family_of(traps->calendars, parts.family);
    if (page->news) {
        family->pages = family->dates = 0;
        return;
    }
    family->pages++;
    family->dates += page->dates;
    if (family->pages >= TRAP_CALENDAR_PAGES && family->dates >= TRAP_CALENDAR_DATES)
        family->is_calendar = true;
}
