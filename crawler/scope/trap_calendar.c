/*
 * trap_calendar.c - recognise endless calendars.
 *
 * In an endless calendar, each page links to the next month. A link is a step in a
 * calendar if it leads from a URL with a date to a similar URL with another date that is
 * far in the future, or that is far in the past and before the date of the page:
 *
 *     page                       link                        a step, in November 2026?
 *     http://h/events            http://h/events?m=2040-01   no: the page has no date
 *     http://h/events?m=2027-11  http://h/events?m=2027-12   yes
 *     http://h/events?m=2027-01  http://h/events?m=2027-02   no: it is soon
 *     http://h/2016/11/          http://h/2016/10/           yes
 *     http://h/2016/11/          http://h/2016/11/22/        no: the day is in that month
 *     http://h/2026/11/22/news   http://h/1969/07/20/moon    no: a text with a date
 *     http://h/n/1400            http://h/n/2801             no: just a number
 *
 * A URL is skipped if all links to it are such steps. Since this depends only on the
 * links, the order in which pages are fetched does not matter.
 */
#include "trap_calendar.h"

#include "../base/text.h"
#include "trap.h"
#include "../url/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/*
 * Differences between dates are in days, and need not be exact, so each month has 31
 * days.
 */
#define MONTH 31
#define YEAR (12 * MONTH)

/* Limits in days. Dates closer to today are not suspicious. */
#define PAST_OF_DAYS (2 * YEAR)
#define PAST_OF_MONTHS (10 * YEAR)
#define PAST_OF_YEARS (36 * YEAR) /* the age of the web */
#define FUTURE (1 * YEAR)
#define FAR_OFFSET 120 /* larger offsets, such as in "?month=-121", count as far away */

/* A parsed URL. A missing year, month or day is 0. */
struct parts {
    uint64_t shape; /* hash of the URL without its dates */
    int year, month, day;
    int offset; /* "month=-3" */
    /* the name of the parameter shows that `year` is a year, not another number */
    bool names_year;
    bool ends_in_date; /* the date is in the query or the path's last segment */
};

/* Hash n bytes with FNV-1a, beginning with `hash`. Never returns 0. */
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

/* Return the length of a separator between the numbers of a date, such as "%2F". */
static size_t separator_at(const char *s)
{
    if (*s != '\0' && strchr("-/._", *s) != NULL)
        return 1;
    return strncasecmp(s, "%2f", 3) == 0 ? 3 : 0;
}

/*
 * Return the length of a month's name, such as "nov" or "november", or 0. Stores a number
 * from 1 to 12 in *month.
 */
static size_t month_name_at(const char *s, int *month)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};

    for (int i = 0; i < 12; i++) {
        size_t n = strlen(names[i]);
        n = strncasecmp(s, names[i], n) == 0   ? n
            : strncasecmp(s, names[i], 3) == 0 ? 3
                                               : 0;
        *month = i + 1;
        if (n > 0 && !is_letter(s[n]))
            return n;
    }
    return 0;
}

/* Return the length of a separator and a number up to `last`, or 0. */
static size_t number_after(const char *s, unsigned last)
{
    size_t separator = separator_at(s), n = digits_at(s + separator);

    return separator > 0 && in_range(s + separator, n, last) ? separator + n : 0;
}

/* Return the length of a week number such as "W47", or 0. */
static size_t week_at(const char *s)
{
    size_t n = *s == 'W' || *s == 'w' ? digits_at(s + 1) : 0;

    return in_range(s + 1, n, 53) ? 1 + n : 0;
}

/*
 * Return the length of the part of a date after its year: "-11" in "2026-11", "/11/22" in
 * "2026/11/22", "-W47" in "2026-W47", or "/november/2" in "2026/november/2". Returns 0 if
 * the date is only a year.
 */
static size_t rest_after_year(const char *s)
{
    size_t separator = separator_at(s), n = number_after(s, 12);

    if (separator > 0 && n == 0) {
        int month;
        size_t week = week_at(s + separator), name = month_name_at(s + separator, &month);
        if (week > 0)
            return separator + week;
        n = name > 0 ? separator + name : 0;
    }
    return n > 0 ? n + number_after(s + n, 31) : 0;
}

/* Return the length of a date such as "22-11-2026" or "11/22/2026", or 0. */
static size_t year_at_end(const char *s, size_t digits)
{
    size_t n = digits + number_after(s + digits, 31);
    size_t separator = separator_at(s + n);

    return in_range(s, digits, 31) && n > digits && separator > 0 &&
                   digits_at(s + n + separator) == 4 && is_year(s + n + separator)
               ? n + separator + 4
               : 0;
}

/*
 * True for a date without separators, such as "20261122" or "202611", which may be
 * followed by a time.
 */
static bool is_compact(const char *s, size_t digits)
{
    return (digits == 6 || digits == 8 || digits == 12 || digits == 14) &&
           (s[0] == '1' || s[0] == '2') && is_year(s) && in_range(s + 4, 2, 12) &&
           (digits == 6 || in_range(s + 6, 2, 31));
}

/* Return the length of a time such as "T10:00:00Z", or 0. */
static size_t time_at(const char *s)
{
    return (*s == 'T' || *s == 't') && is_digit(s[1])
               ? 1 + strspn(s + 1, "0123456789:.%3AaZz")
               : 0;
}

/* Return the length of the date at `s`, or 0. The character before `s` must not be a
   digit. */
static size_t date_at(const char *s)
{
    size_t digits = digits_at(s), n = 0;

    if (digits == 4 && is_year(s)) {
        n = rest_after_year(s + 4);
        n = n > 0 ? n + 4 : 0;
    } else if (is_compact(s, digits)) {
        n = digits;
    } else if (digits == 1 || digits == 2) {
        n = year_at_end(s, digits);
    }
    return n > 0 ? n + time_at(s + n) : 0;
}

/* ---- numbers ----------------------------------------------------------------------- */

static int month_of_week(unsigned week)
{
    int month = (int)(week - 1) * 12 / 52 + 1;

    return month < 12 ? month : 12;
}

static void set_date(struct parts *parts, int year, int month, int day)
{
    if (parts->year != 0)
        return; /* use only the first date, as in "from=...&to=..." */
    parts->year = year;
    parts->month = month;
    parts->day = day;
}

/* Read the part of a date after its year: "-11-22", "/november/2" or "-W47". */
static void read_after_year(struct parts *parts, int year, const char *s)
{
    int month = 0;
    size_t n;

    s += separator_at(s);
    n = month_name_at(s, &month);
    if (n == 0 && week_at(s) > 0) {
        set_date(parts, year, month_of_week(number_of(s + 1, digits_at(s + 1))), 0);
        return;
    }
    if (n == 0) {
        n = digits_at(s);
        month = (int)number_of(s, n);
    }
    n = number_after(s + n, 31) > 0 ? n + separator_at(s + n) : 0;
    set_date(parts, year, month, n > 0 ? (int)number_of(s + n, digits_at(s + n)) : 0);
}

/*
 * Read a date that ends with its year. The first number is the day, as in "22-11-2026",
 * unless the second number cannot be a month, as in "11/22/2026".
 */
static void read_year_at_end(struct parts *parts, const char *s)
{
    size_t n = digits_at(s), m;
    int day = (int)number_of(s, n), month;

    s += n + separator_at(s + n);
    m = digits_at(s);
    month = (int)number_of(s, m);
    s += m + separator_at(s + m);
    if (month > 12)
        set_date(parts, (int)number_of(s, 4), day, month);
    else
        set_date(parts, (int)number_of(s, 4), month, day);
}

/* Read a date for which date_at() returned nonzero. */
static void read_date(struct parts *parts, const char *s)
{
    size_t digits = digits_at(s);

    if (digits == 4)
        read_after_year(parts, (int)number_of(s, 4), s + 4);
    else if (digits > 4)
        set_date(parts, (int)number_of(s, 4), (int)number_of(s + 4, 2),
                 digits > 6 ? (int)number_of(s + 6, 2) : 0);
    else
        read_year_at_end(parts, s);
}

/* Read a time in seconds or milliseconds since 1970. */
static void read_seconds(struct parts *parts, const char *s, size_t n)
{
    time_t time = (time_t)number_of(s, n < 9 ? n : 9) * 10;
    struct tm tm;

    if (gmtime_r(&time, &tm) != NULL)
        set_date(parts, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* ---- parsing ----------------------------------------------------------------------- */

static void skip_date(struct parts *parts)
{
    parts->shape = trap_hash(parts->shape, "#", 1);
}

/* True for "/2026/", a segment that is a year. */
static bool is_year_segment(const char *s)
{
    return s[-1] == '/' && digits_at(s) == 4 && is_year(s) &&
           (s[4] == '\0' || strchr("/?#", s[4]) != NULL);
}

static void parse_path(struct parts *parts, const char *s, const char *end)
{
    while (s < end) {
        size_t date = is_digit(s[-1]) ? 0 : date_at(s);

        if (date > 0)
            read_date(parts, s);
        else if (is_year_segment(s) && (date = 4) > 0)
            set_date(parts, (int)number_of(s, 4), 0, 0);
        if (date > 0) {
            skip_date(parts);
            parts->ends_in_date = true;
            s += date;
            continue;
        }
        if (*s == '/' && s + 1 < end)
            parts->ends_in_date = false;
        parts->shape = trap_hash(parts->shape, s++, 1);
    }
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

/*
 * True if the query contains a year, as in "year=2026". In that case, a parameter "m" is
 * regarded as a month.
 */
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

/*
 * Return the length of a parameter's value if it is a date according to the parameter's
 * name, or a time in seconds or milliseconds. Otherwise return 0.
 */
static size_t value_of_date(const char *name, size_t name_n, bool beside_year)
{
    const char *value = name + name_n + 1;
    size_t n = strcspn(value, "&#"), sign = *value == '-' || *value == '+';
    size_t digits = digits_at(value + sign);
    int month;

    if (sign == 0 && digits == n && (n == 10 || n == 13) &&
        (*value == '1' || *value == '2'))
        return n;
    if (!names_date(name, name_n, beside_year) || n == 0)
        return 0;
    return (digits <= 4 && sign + digits == n) || month_name_at(value, &month) == n ? n
                                                                                    : 0;
}

/* Read a value for which value_of_date() returned `n`. */
static void read_value(struct parts *parts, const char *name, size_t name_n, size_t n,
                       bool beside_year)
{
    const char *value = name + name_n + 1;
    size_t sign = *value == '-' || *value == '+';
    int number = (int)number_of(value + sign, n - sign > 4 ? 4 : n - sign), month;

    parts->ends_in_date = true;
    if (n >= 10)
        read_seconds(parts, value, n);
    else if (month_name_at(value, &month) == n)
        parts->month = month;
    else if (names_year(name, name_n) && sign == 0 && n == 4) {
        parts->year = number;
        parts->names_year = true;
    } else if (!beside_year || sign > 0)
        parts->offset = *value == '-' ? -number : number;
    else if (ends_in(name, name_n, "day") ||
             is_one_of(name, name_n, (const char *const[]){"d", NULL}))
        parts->day = number;
    else if (ends_in(name, name_n, "week") ||
             is_one_of(name, name_n, (const char *const[]){"w", "wk", NULL}))
        parts->month = month_of_week((unsigned)number);
    else
        parts->month = number;
}

/* Handle a parameter "name=value" of `n` bytes. */
static void parse_parameter(struct parts *parts, const char *s, size_t n,
                            bool beside_year)
{
    size_t name_n = strcspn(s, "=&#"), date;

    parts->shape = trap_hash(parts->shape, s, name_n);
    if (name_n == n)
        return;
    date = value_of_date(s, name_n, beside_year);
    if (date > 0) {
        read_value(parts, s, name_n, date, beside_year);
        skip_date(parts);
        return;
    }
    for (size_t i = name_n; i < n; i += date) {
        date = i > 0 && is_digit(s[i - 1]) ? 0 : date_at(s + i);
        if (date == 0) {
            parts->shape = trap_hash(parts->shape, s + i, date = 1);
            continue;
        }
        read_date(parts, s + i);
        skip_date(parts);
        parts->ends_in_date = true;
    }
}

static void parse_query(struct parts *parts, const char *s)
{
    bool beside_year = has_year(s);

    while (*s == '?' || *s == '&') {
        size_t n = strcspn(s + 1, "&#");
        parts->shape = trap_hash(parts->shape, "&", 1);
        parse_parameter(parts, s + 1, n, beside_year);
        s += 1 + n;
    }
}

static struct parts parts_of(const char *url)
{
    size_t origin = url_origin_length(url);
    const char *path_end = url + origin + strcspn(url + origin, "?#");
    struct parts parts = {.year = 0};

    if (strpbrk(url + origin, "0123456789") == NULL)
        return parts; /* a quick check: few URLs have a date */
    parts.shape = trap_hash(TRAP_HASH_START, url, origin);
    parse_path(&parts, url + origin, path_end);
    parse_query(&parts, path_end);
    return parts;
}

/* ---- steps ------------------------------------------------------------------------- */

static bool has_date(const struct parts *parts)
{
    return parts->year != 0 && (parts->month != 0 || parts->names_year);
}

static int64_t days_of(int year, int month, int day)
{
    return (int64_t)year * YEAR + (month > 0 ? (month - 1) * MONTH : YEAR / 2) +
           (day > 0     ? day - 1
            : month > 0 ? MONTH / 2
                        : 0);
}

/*
 * Return the number of days from now until the date. The number is negative if the date
 * is in the past.
 */
static int64_t days_from_now(const struct parts *parts, int64_t now_s)
{
    time_t time = (time_t)now_s;
    struct tm now;

    if (gmtime_r(&time, &now) == NULL)
        return 0;
    return days_of(parts->year, parts->month, parts->day) -
           days_of(now.tm_year + 1900, now.tm_mon + 1, now.tm_mday);
}

static bool is_far(const struct parts *parts, int64_t from_now)
{
    int64_t past = parts->day > 0     ? PAST_OF_DAYS
                   : parts->month > 0 ? PAST_OF_MONTHS
                                      : PAST_OF_YEARS;

    return from_now > FUTURE || from_now < -past;
}

/*
 * True if the page is a month, and the target is a day in it, or if the page is a year,
 * and the target is a month or day in it.
 */
static bool is_part_of(const struct parts *target, const struct parts *page)
{
    if (target->year != page->year || page->day > 0)
        return false;
    return page->month == 0 ? target->month > 0
                            : target->month == page->month && target->day > 0;
}

/* True if `url` is below the page, as "/2500/11/" is below "/2500/". */
static bool is_below(const char *url, const char *page)
{
    size_t n = strcspn(page, "?#");

    n -= n > 0 && page[n - 1] == '/';
    return strncmp(url, page, n) == 0 && url[n] == '/';
}

static bool is_step_of_offset(const struct parts *target, const struct parts *page)
{
    return target->shape == page->shape && abs(target->offset) > FAR_OFFSET &&
           abs(target->offset) > abs(page->offset) && page->offset != 0;
}

bool trap_calendar(const char *page_url, const char *url, int64_t now_s)
{
    struct parts target = parts_of(url), page;
    int64_t from_now, page_from_now;

    if (!has_date(&target) && target.offset == 0)
        return false;
    page = parts_of(page_url);
    if (!has_date(&target))
        return is_step_of_offset(&target, &page);
    from_now = days_from_now(&target, now_s);
    if (!is_far(&target, from_now))
        return false;
    if (!has_date(&page))
        return page.year == target.year && is_below(url, page_url);
    page_from_now = days_from_now(&page, now_s);
    return (from_now > 0 || from_now < page_from_now) && !is_part_of(&target, &page) &&
           (target.shape == page.shape || target.ends_in_date);
}
