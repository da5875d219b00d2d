#include "../../../../crawler/base/table.h"
#include "../../../../crawler/scope/trap.h"
#include "../../../harness/harness.h"

#include <stdarg.h>

TEST(trap_repeats_at_the_fourth_time)
{
    static const struct {
        const char *url;
        bool repeats;
    } rows[] = {
        {"http://h/deepdir/a/a/a/", false},
        {"http://h/deepdir/a/a/a/a/", true},
        {"http://h/a/a/a/a", true},
        {"http://h/a/a/a/ab", false},
        {"http://h/ba/a/a/a", false},
        {"http://h/a/a/a/a?b", true},
        {"http://h/a/b/a/b/a/b/a/b", true},
        {"http://h/a/b/a/b/a/b/a/", false},
        {"http://h/x/a/b/a/b/a/b/a/b/c.html", true},
        {"http://h/?q=a/a/a/a/a", false},
        {"http://h/////", true},
        {"http://h//a", false},
        {"http://h/", false},
        {"http://h/2026/11/22/post", false},
        {"http://h/docs/3.11/library/docs/3.11/", false},
        {"http://h/1/1/1/2", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (trap_repeats(rows[i].url) != rows[i].repeats)
            test_trace("%s ", rows[i].url);
    CHECK_TRACE("");
}

TEST(trap_session_ids_are_taken_out)
{
    static const struct {
        const char *url, *without;
    } rows[] = {
        {"http://h/a;jsessionid=5A6F", "http://h/a"},
        {"http://h/a;jsessionid=5A6F.node1?b=c", "http://h/a?b=c"},
        {"http://h/a;v=1;JSESSIONID=5;w=2/b", "http://h/a;v=1;w=2/b"},
        {"http://h/?PHPSESSID=5", "http://h/"},
        {"http://h/a?PHPSESSID=5&b=c", "http://h/a?b=c"},
        {"http://h/a?b=c&phpsessid=5&d", "http://h/a?b=c&d"},
        {"http://h/a?b=c&sid=0123456789abcdef0123456789abcdef", "http://h/a?b=c"},
        {"http://h/a?s=00112233445566778899001122334455", "http://h/a"},
        {"http://h/a?ASPSESSIONIDQABC=ABC", "http://h/a"},
        {"http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://h/a.aspx"},
        {"http://h/(S(lit3py55t21z5v55vlm25s55))?a=b", "http://h/?a=b"},
        {"http://h/(S(lit3py55t21z5v55vlm25s55))", "http://h/"},
        /* Not these: */
        {"http://h/(S(lit3py55t21z5v55vlm25s55));a/b", NULL},
        {"http://h/a?sid=12", NULL},
        {"http://h/a?s=search+for+something+long", NULL},
        {"http://h/a?s=international-organisation", NULL},
        {"http://h/a?session=spring-2026", NULL},
        {"http://h/a?phpsessid=", NULL},
        {"http://h/a?q=jsessionid=5", NULL},
        {"http://h/jsessionid=5", NULL},
        {"http://h/git;a=commit;h=0123456789abcdef0123456789abcdef", NULL},
        {"http://h/a(b)", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *out;
        CHECK_INT(trap_without_session(rows[i].url, &out), 0);
        CHECK_STR(out != NULL ? out : "(none)",
                  rows[i].without != NULL ? rows[i].without : "(none)");
        free(out);
    }
}

static bool known_as(const char *url, void *arg)
{
    return strcmp(url, arg) == 0;
}

TEST(trap_sessions_are_followed_once)
{
    struct traps traps = {0};
    char known[] = "http://h/known";

    CHECK(trap_session(&traps, "http://h/known?sessionid=1", known_as, known));
    CHECK(!trap_session(&traps, "http://h/a?sessionid=1", known_as, known));
    CHECK(!trap_session(&traps, "http://h/a?sessionid=1", known_as, known));
    CHECK(trap_session(&traps, "http://h/a?sessionid=2", known_as, known));
    CHECK(!trap_session(&traps, "http://h/a", known_as, known));
    for (int i = 0; i < 1000; i++) {
        char url[100];
        snprintf(url, sizeof url, "http://h/%d;jsessionid=%d", i, i);
        CHECK(!trap_session(&traps, url, known_as, known));
    }
    CHECK(trap_session(&traps, "http://h/7;jsessionid=a", known_as, known));
    traps_finish(&traps);
}

#define NOW 1795356000 /* in November 2026 */

/* ---- a crawl of sites that are functions ------------------------------------------- */

struct crawl {
    const char *page;
    struct table known, skipped;
    char *queue[20000];
    size_t fetched, count;
};

typedef void (*site_function)(struct crawl *crawl, const char *url);

__attribute__((format(printf, 2, 3))) static void link_to(struct crawl *crawl,
                                                          const char *format, ...)
{
    char *url;
    va_list args;

    va_start(args, format);
    CHECK(vasprintf(&url, format, args) > 0);
    va_end(args);
    if (table_get(&crawl->known, url) != NULL || crawl->count == 20000) {
        free(url);
        return;
    }
    if (crawl->page != NULL && trap_calendar(crawl->page, url, NOW)) {
        if (table_get(&crawl->skipped, url) != NULL)
            free(url);
        else
            CHECK_INT(table_add(&crawl->skipped, url, url), 0);
        return;
    }
    CHECK_INT(table_add(&crawl->known, url, url), 0);
    crawl->queue[crawl->count++] = url;
}

/*
 * Return the number of targets that were not fetched because every link to them was
 * skipped.
 */
static size_t count_skipped(struct crawl *crawl)
{
    size_t n = 0;

    for (size_t i = 0; i < crawl->skipped.capacity; i++) {
        char *url = crawl->skipped.slots[i].value;
        if (url == NULL)
            continue;
        n += table_get(&crawl->known, url) == NULL;
        free(url);
    }
    table_finish(&crawl->skipped);
    return n;
}

/*
 * Crawl a simulated site. Return the number of fetched pages, and set *skipped to the
 * number of targets that were not fetched.
 */
static size_t crawl_site(site_function site, const char *start, size_t *skipped)
{
    struct crawl *crawl = calloc(1, sizeof *crawl);
    size_t fetched;

    link_to(crawl, "%s", start);
    while (crawl->fetched < crawl->count && crawl->fetched < 10000) {
        char *url = crawl->queue[crawl->fetched++];
        crawl->page = url;
        site(crawl, url);
    }
    fetched = crawl->fetched;
    *skipped = count_skipped(crawl);
    for (size_t i = 0; i < crawl->count; i++)
        free(crawl->queue[i]);
    table_finish(&crawl->known);
    free(crawl);
    return fetched;
}

/* Simulate an endless calendar with a page for each month. */
static void calendar_in_query(struct crawl *crawl, const char *url)
{
    unsigned year = 2026, month = 11, months;
    const char *at = strstr(url, "month=");

    if (at != NULL)
        sscanf(at, "month=%u-%u", &year, &month);
    months = year * 12 + month - 1;
    link_to(crawl, "http://h/about.html");
    for (unsigned m = months - 1; m <= months + 1; m++) {
        link_to(crawl, "http://h/events?month=%04u-%02u", m / 12, m % 12 + 1);
        link_to(crawl, "http://h/events?month=%04u-%02u&format=ics", m / 12, m % 12 + 1);
    }
}

static void calendar_in_path(struct crawl *crawl, const char *url)
{
    unsigned year = 2026, month = 11, months;

    sscanf(url, "http://h/%u/%u", &year, &month);
    months = year * 12 + month - 1;
    if (year < 2100)
        link_to(crawl, "http://h/%u/", year + 1);
    link_to(crawl, "http://h/%u/%02u/", (months + 1) / 12, (months + 1) % 12 + 1);
    link_to(crawl, "http://h/%u/%02u/", (months - 1) / 12, (months - 1) % 12 + 1);
    for (unsigned day = 1; day <= 28; day++)
        link_to(crawl, "http://h/%u/%02u/%02u/", year, month, day);
}

static void calendar_of_days(struct crawl *crawl, const char *url)
{
    unsigned year = 2026, month = 11, day = 22, days;

    sscanf(url, "http://h/cal/%u-%u-%u", &year, &month, &day);
    days = (year * 12 + month - 1) * 28 + day - 1 + 1;
    link_to(crawl, "http://h/cal/%04u-%02u-%02u", days / 28 / 12, days / 28 % 12 + 1,
            days % 28 + 1);
    link_to(crawl, "http://h/cal/%04u-%02u-%02u/list.html", year, month, day);
    link_to(crawl, "http://h/cal/%04u-%02u-%02u.ics", year, month, day);
}

static void calendar_of_seconds(struct crawl *crawl, const char *url)
{
    const char *at = strstr(url, "time=");
    long time = at != NULL ? atol(at + 5) : 1764547200;

    for (int day = 0; day <= 31; day++)
        link_to(crawl, "http://h/calendar/view.php?view=%s&time=%ld",
                day == 31 ? "month" : "day", time + day * 86400);
}

static void calendar_of_words(struct crawl *crawl, const char *url)
{
    static const char *const names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
    const char *at = strstr(url, "m=");
    unsigned year = 2026, month = 0;

    if (at != NULL)
        sscanf(at, "m=%u&y=%u", &month, &year);
    else
        sscanf(url, "http://h/%u", &year);
    month = month % 12 + 1;
    year += month == 1;
    link_to(crawl, "http://h/cal?m=%u&y=%u", month, year);
    link_to(crawl, "http://h/%u/%s", year, names[month - 1]);
}

TEST(trap_calendars_that_go_on_for_ever)
{
    static const struct {
        const char *name, *start;
        site_function site;
    } rows[] = {
        {"query", "http://h/events", calendar_in_query},
        {"path", "http://h/2026/11/", calendar_in_path},
        {"days", "http://h/cal/2026-11-22", calendar_of_days},
        {"seconds", "http://h/calendar/view.php?view=month&time=1764547200",
         calendar_of_seconds},
        {"words", "http://h/cal", calendar_of_words},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t skipped, fetched = crawl_site(rows[i].site, rows[i].start, &skipped);
        if (fetched > 6000 || fetched < 20 || skipped == 0)
            test_trace("%s: %zu fetched, %zu skipped;", rows[i].name, fetched, skipped);
    }
    CHECK_TRACE("");
}

/*
 * Simulate a blog of 100 months with ten posts each. Each month links to the previous
 * month. The archive goes on for 20 older months without posts.
 */
static void blog(struct crawl *crawl, const char *url)
{
    unsigned year = 2026, month = 11, day = 0, months;

    sscanf(url, "http://h/%u/%u/%u", &year, &month, &day);
    months = year * 12 + month - 1;
    if (day > 0 || months <= 2026 * 12 + 10 - 119)
        return;
    link_to(crawl, "http://h/%u/%02u/", (months - 1) / 12, (months - 1) % 12 + 1);
    for (unsigned i = 1; i <= 10 && months > 2026 * 12 + 10 - 100; i++)
        link_to(crawl, "http://h/%u/%02u/%02u/post-%u-%u", year, month, 2 * i, months, i);
}

/* Simulate a list of a thousand releases, each of which links to a release from 1999. */
static void releases(struct crawl *crawl, const char *url)
{
    if (strcmp(url, "http://h/releases/") != 0) {
        link_to(crawl, "http://h/releases/1999-01-01/");
        return;
    }
    for (unsigned i = 0; i < 1000; i++)
        link_to(crawl, "http://h/releases/%u-%02u-%02u/", 1990 + i / 12 / 28,
                i / 28 % 12 + 1, i % 28 + 1);
}

/*
 * Simulate ten versions of a manual with 300 pages each. Each page links to two pages of
 * its version and to the same page of the previous version.
 */
static void versions(struct crawl *crawl, const char *url)
{
    unsigned year = 2026, page = 1;

    sscanf(url, "http://h/docs/%u.04/page-%u.html", &year, &page);
    for (unsigned next = 2 * page; next <= 2 * page + 1 && next <= 300; next++)
        link_to(crawl, "http://h/docs/%u.04/page-%u.html", year, next);
    if (year > 2017)
        link_to(crawl, "http://h/docs/%u.04/page-%u.html", year - 1, page);
}

/* Simulate a mail archive of 300 months with 20 messages each. */
static void mails(struct crawl *crawl, const char *url)
{
    unsigned year = 0, month = 0, message;

    if (sscanf(url, "http://h/list/%u-%u/msg%u", &year, &month, &message) == 3)
        return;
    for (unsigned i = 0; i < 300 && year == 0; i++)
        link_to(crawl, "http://h/list/%u-%02u/", 2000 + i / 12, i % 12 + 1);
    for (unsigned i = 0; i < 20 && year > 0; i++)
        link_to(crawl, "http://h/list/%u-%02u/msg%05u.html", year, month, i);
}

static void comics(struct crawl *crawl, const char *url)
{
    unsigned year = 1990, month = 1, day = 1, days;

    if (sscanf(url, "http://h/comics/%u-%u-%u", &year, &month, &day) != 3)
        return;
    days = (year * 12 + month - 1) * 28 + day - 1;
    link_to(crawl, "http://h/images/%u.png", days);
    if (year < 1998)
        link_to(crawl, "http://h/comics/%u-%02u-%02u", (days + 1) / 28 / 12,
                (days + 1) / 28 % 12 + 1, (days + 1) % 28 + 1);
}

TEST(trap_calendars_are_not_what_has_an_end)
{
    static const struct {
        const char *name, *start;
        site_function site;
        size_t pages;
    } rows[] = {
        {"blog", "http://h/2026/11/", blog, 120 + 10 * 100},
        {"releases", "http://h/releases/", releases, 1002},
        {"versions", "http://h/docs/2026.04/page-1.html", versions, 3000},
        {"mails", "http://h/list/", mails, 1 + 300 * 21},
        {"comics", "http://h/comics/1990-01-01", comics, 2 * (8 * 12 * 28 + 1)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t skipped, fetched = crawl_site(rows[i].site, rows[i].start, &skipped);
        if (fetched != rows[i].pages || skipped > 0)
            test_trace("%s: %zu of %zu fetched, %zu skipped;", rows[i].name, fetched,
                       rows[i].pages, skipped);
    }
    CHECK_TRACE("");
}

/*
 * It is November 2026. A link from a URL with a date to a similar URL with another date
 * is a calendar step if that date is far in the future, or far in the past and before the
 * page's date.
 */
TEST(trap_calendar_steps)
{
    static const struct {
        const char *page, *url;
        bool is_step;
    } rows[] = {
        {"http://h/2027/12/", "http://h/2028/01/", true},
        {"http://h/2028/01/", "http://h/2027/12/", true},
        {"http://h/2028/01/", "http://h/2027/10/", false}, /* near */
        {"http://h/1990/01/", "http://h/1990/02/", false}, /* nearer */
        {"http://h/2027/01/", "http://h/2027/02/", false}, /* soon */
        {"http://h/", "http://h/2040/01/", false},
        {"http://h/about", "http://h/2040/01/", false},
        {"http://h/2016/11/", "http://h/2016/10/", true},
        {"http://h/2017/11/", "http://h/2017/10/", false}, /* not long ago */
        {"http://h/2024/11/22/", "http://h/2024/11/02/", true},
        {"http://h/2016/11/", "http://h/2016/11/02/", false}, /* a day of the month */
        {"http://h/2500/", "http://h/2500/11/", true},
        {"http://h/2030/01/02/", "http://h/2030/01/02/post", false},
        {"http://h/2026/11/22/news", "http://h/1969/07/20/moon", false},
        {"http://h/2040/01/02/list", "http://h/2040/01/03/list", true},
        {"http://h/cal?m=1&y=2040", "http://h/2040/feb", true},
        {"http://h/2040/01/02/", "http://h/2040/01/03/list.ics", false},
        /* Dates in various formats. */
        {"http://h/20401122", "http://h/20401123", true},
        {"http://h/204011", "http://h/204012", true},
        {"http://h/a-20401122T101500.ics", "http://h/a-20401123T1000.ics", true},
        {"http://h/22-11-2040", "http://h/23-11-2040", true},
        {"http://h/?d=11%2F22%2F2040", "http://h/?d=11%2F23%2F2040", true},
        {"http://h/?w=2040-W47", "http://h/?w=2040-W52", true},
        {"http://h/2040/nov", "http://h/2040/december", true},
        {"http://h/?from=2040-11-22&to=2040-11-23",
         "http://h/?from=2040-11-23&to=2040-11-24", true},
        {"http://h/?year=2040&month=11", "http://h/?year=2040&month=12", true},
        {"http://h/?d=1&m=2&y=2040", "http://h/?d=2&m=2&y=2040", true},
        {"http://h/?year=2040", "http://h/?year=2041", true},
        {"http://h/?t=2227046400", "http://h/?t=2227132800", true},
        {"http://h/?t=2227046400000", "http://h/?t=2227132800000", true},
        {"http://h/?month=-130", "http://h/?month=-131", true},
        {"http://h/?month=-3", "http://h/?month=-4", false},
        {"http://h/?month=-131", "http://h/?month=-130", false},
        /* Numbers that are not dates. */
        {"http://h/n/1400", "http://h/n/2801", false},
        {"http://h/n/2027", "http://h/n/2028", false},
        {"http://h/page/2", "http://h/page/3", false},
        {"http://h/?page=2040", "http://h/?page=2041", false},
        {"http://h/?d=2&m=3", "http://h/?d=2&m=4", false},
        {"http://h/3.11/", "http://h/3.12/", false},
        {"http://h/rfc2040", "http://h/rfc2041", false},
        {"http://h/204567890", "http://h/204567891", false},
        {"http://h/2040/13/", "http://h/2040/14/", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (trap_calendar(rows[i].page, rows[i].url, NOW) != rows[i].is_step)
            test_trace("%s %s;", rows[i].page, rows[i].url);
    CHECK_TRACE("");
}

/*
 * The pages form a binary tree, in which page n links to pages 2n and 2n + 1. None of
 * these numbers is mistaken for a date.
 */
TEST(trap_numbered_pages_are_no_calendar)
{
    for (unsigned n = 1; n < 5000; n++) {
        char page[64], url[64];

        snprintf(page, sizeof page, "http://h/n/%u", n);
        snprintf(url, sizeof url, "http://h/n/%u", 2 * n);
        CHECK(!trap_calendar(page, url, NOW));
        snprintf(url, sizeof url, "http://h/n/%u", 2 * n + 1);
        CHECK(!trap_calendar(page, url, NOW));
    }
}
