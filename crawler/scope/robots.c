/*
 * robots.c - see robots.h
 *
 *     robots_parse: for each line  read_line -> record_of -> parse_rule
 *                                                                |
 *          rules of groups that name the product <---------------+---> rules for "*"
 *
 *     The rules for "*" are used only if no group names the product.
 *
 *     robots_allows: normalise the URL -> the first of the sorted rules that matches
 *
 * Invariants
 *   1. Patterns and URLs are compared byte by byte after normalise().
 *   2. The rules are sorted: longer patterns first, and "allow" before "disallow". So the
 *      first rule that matches is decisive.
 *   3. A "*" matches as few bytes as possible, so each pattern reads the URL only once,
 *      in linear time with memmem(). No match is missed: the text after a "*" is either
 *      followed by another "*", or must be at the end of the URL, which is compared
 *      first.
 */
#include "robots.h"

#include "../base/array.h"
#include "../base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DELAY_S 3600

struct rule {
    size_t at, n; /* range of the rule's pattern in robots.patterns */
    unsigned line;
    bool allows;
    /* the pattern ended in "$": it must match up to the end of the URL */
    bool ends;
    bool encoded_slash; /* the pattern has "%2F", which also matches "/" in a query */
};

/* The rules for one crawler, merged from all groups that name it. */
struct rules {
    struct rule *at;
    size_t count, capacity;
    int64_t delay_ns; /* Crawl-delay, or -1 */
    bool named;       /* at least one group names this crawler */
    bool open;        /* the current group names this crawler */
};

struct sitemap_line {
    size_t at; /* offset of the URL in robots.sitemaps */
    uint32_t line, column;
};

struct robots {
    /*
     * Rules for the product, and for "*". After parsing, `ours` contains the rules that
     * apply.
     */
    struct rules ours, others;
    struct text patterns, sitemaps;
    struct sitemap_line *sitemap_lines;
    size_t sitemap_count, sitemap_capacity;
    bool forbids_all;
    bool failed; /* memory ran out */
};

enum record {
    RECORD_OTHER,
    RECORD_AGENT,
    RECORD_ALLOW,
    RECORD_DISALLOW,
    RECORD_DELAY,
    RECORD_SITEMAP
};

struct span {
    const char *at;
    size_t n;
};

/* ---- canonical spelling ------------------------------------------------------------ */

static bool is_unreserved(char c)
{
    return is_letter(c) || is_digit(c) || (c != '\0' && strchr("-._~", c) != NULL);
}

/*
 * True for delimiters, which must not be decoded: for example, "a&b" and "a%26b" are
 * different.
 */
static bool is_delimiter(char c)
{
    return c != '\0' && strchr("/?&=+", c) != NULL;
}

static void add_encoded(struct text *out, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;

    text_add(out, (char[]){'%', hex[byte >> 4], hex[byte & 15]}, 3);
}

/*
 * Append a URL, or a part of a pattern, in normalized form: "%XX" that stands for an
 * unreserved character is decoded, and every character that is neither unreserved nor a
 * delimiter is written as "%XX" in upper case. (2.2.2)
 *
 * In a query, "/" and "%2F" are equivalent, as in the RFC's table
 * ("?baz=https://foo.bar"). Both are written as `slash`, which is "/" or "%2F". The
 * caller sets *in_query to true if `s` begins in the query. *in_query is set to true if
 * `s` contains the "?".
 */
static void normalise(struct text *out, struct span s, const char *slash, bool *in_query)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.at[i];
        bool encoded = c == '%' && s.n - i > 2 && hex_value(s.at[i + 1]) >= 0 &&
                       hex_value(s.at[i + 2]) >= 0;

        if (encoded) {
            c = (char)(hex_value(s.at[i + 1]) << 4 | hex_value(s.at[i + 2]));
            i += 2;
        }
        *in_query = *in_query || (c == '?' && !encoded);
        if (c == '/' && *in_query)
            text_add(out, slash, strlen(slash));
        else if (is_unreserved(c) || (is_delimiter(c) && !encoded))
            text_add(out, &c, 1);
        else
            add_encoded(out, c);
    }
}

/* ---- lines ------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\0';
}

static struct span trim(struct span s)
{
    while (s.n > 0 && is_blank(s.at[0]))
        s.at++, s.n--;
    while (s.n > 0 && is_blank(s.at[s.n - 1]))
        s.n--;
    return s;
}

static struct span part_before(struct span s, char c)
{
    const char *found = s.n > 0 ? memchr(s.at, c, s.n) : NULL;

    return (struct span){s.at, found != NULL ? (size_t)(found - s.at) : s.n};
}

static struct span first_line(struct span text)
{
    struct span line = {text.at, 0};

    while (line.n < text.n && line.at[line.n] != '\n' && line.at[line.n] != '\r')
        line.n++;
    return line;
}

static struct span skip_bytes(struct span s, size_t n)
{
    return (struct span){s.at + n, s.n - n};
}

static bool is_word(struct span s, const char *word)
{
    return s.n == strlen(word) && strncasecmp(s.at, word, s.n) == 0;
}

/* Return the kind of a record. Accepts the same misspellings as Google's parser. */
static enum record record_of(struct span name)
{
    static const struct {
        const char *name;
        enum record record;
    } records[] = {
        {"user-agent", RECORD_AGENT},  {"useragent", RECORD_AGENT},
        {"user agent", RECORD_AGENT},  {"allow", RECORD_ALLOW},
        {"disallow", RECORD_DISALLOW}, {"dissallow", RECORD_DISALLOW},
        {"dissalow", RECORD_DISALLOW}, {"disalow", RECORD_DISALLOW},
        {"diasllow", RECORD_DISALLOW}, {"disallaw", RECORD_DISALLOW},
        {"crawl-delay", RECORD_DELAY}, {"crawl delay", RECORD_DELAY},
        {"crawldelay", RECORD_DELAY},  {"sitemap", RECORD_SITEMAP},
        {"site-map", RECORD_SITEMAP},
    };

    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (is_word(name, records[i].name))
            return records[i].record;
    return RECORD_OTHER;
}

/*
 * Split a line into name and value. As in Google's parser, the colon may be missing in a
 * line of two words: "Disallow /a".
 */
static enum record split_line(struct span line, struct span *value)
{
    struct span name = part_before(line, ':');

    if (name.n < line.n) {
        *value = trim(skip_bytes(line, name.n + 1));
        return record_of(trim(name));
    }
    name = (struct span){line.at, 0};
    while (name.n < line.n && !is_blank(line.at[name.n]))
        name.n++;
    *value = trim(skip_bytes(line, name.n));
    for (size_t i = 0; i < value->n; i++)
        if (is_blank(value->at[i]))
            return RECORD_OTHER;
    return value->n > 0 ? record_of(name) : RECORD_OTHER;
}

/* ---- records ----------------------------------------------------------------------- */

/* Return the product token of a User-agent line, such as "coil-crawl" from
   "coil-crawl/1.0". */
static struct span product_token(struct span value)
{
    struct span token = {value.at, 0};

    while (token.n < value.n && (is_letter(value.at[token.n]) ||
                                 value.at[token.n] == '-' || value.at[token.n] == '_'))
        token.n++;
    return token;
}

static bool is_everybody(struct span value)
{
    return value.n > 0 && value.at[0] == '*' && (value.n == 1 || is_blank(value.at[1]));
}

static void add_agent(struct robots *robots, struct span value, const char *product)
{
    if (is_word(product_token(value), product))
        robots->ours.open = robots->ours.named = true;
    if (is_everybody(value))
        robots->others.open = robots->others.named = true;
}

static void add_rule(struct robots *robots, struct rules *rules, const struct rule *rule)
{
    if (!rules->open)
        return;
    if (rules->count == rules->capacity &&
        array_grow(&rules->at, &rules->capacity, sizeof *rules->at) < 0) {
        robots->failed = true;
        return;
    }
    rules->at[rules->count++] = *rule;
}

/*
 * Store a rule and its normalized pattern, in which every "*" is a wildcard and a "$" at
 * the end is removed.
 */
static void parse_rule(struct robots *robots, struct span value, bool allows,
                       unsigned line)
{
    struct rule rule = {.at = robots->patterns.n, .line = line, .allows = allows};
    bool in_query = false;

    /*
     * Ignore an empty pattern, and one that can never match, because paths begin with
     * "/".
     */
    if (value.n == 0 || (value.at[0] != '/' && value.at[0] != '*'))
        return;
    if (!robots->ours.open && !robots->others.open)
        return;
    if (value.at[value.n - 1] == '$') {
        rule.ends = true;
        value.n--;
    }
    for (;;) {
        struct span piece = part_before(value, '*');
        normalise(&robots->patterns, piece, "/", &in_query);
        if (piece.n == value.n)
            break;
        text_add(&robots->patterns, "*", 1);
        value = skip_bytes(value, piece.n + 1);
    }
    rule.n = robots->patterns.n - rule.at;
    if (robots->patterns.failed || rule.n == 0)
        return;
    rule.encoded_slash = memmem(robots->patterns.at + rule.at, rule.n, "%2F", 3) != NULL;
    add_rule(robots, &robots->ours, &rule);
    add_rule(robots, &robots->others, &rule);
}

/* Parse a delay in seconds, which may have a decimal fraction. Returns -1 if the text is
   not a number. */
static int64_t delay_of(struct span value)
{
    int64_t ns = 0, unit = 1000000000;
    size_t i = 0;

    for (; i < value.n && is_digit(value.at[i]); i++)
        if (ns <= MAX_DELAY_S * unit)
            ns = ns * 10 + (value.at[i] - '0') * unit;
    if (i == 0)
        return -1;
    if (i < value.n && value.at[i] == '.')
        for (i++; i < value.n && is_digit(value.at[i]); i++)
            ns += (value.at[i] - '0') * (unit /= 10);
    if (i < value.n)
        return -1;
    return ns > MAX_DELAY_S * INT64_C(1000000000) ? MAX_DELAY_S * INT64_C(1000000000)
                                                  : ns;
}

static void set_delay(struct robots *robots, struct span value)
{
    int64_t delay_ns = delay_of(value);

    if (delay_ns >= 0 && robots->ours.open)
        robots->ours.delay_ns = delay_ns;
    if (delay_ns >= 0 && robots->others.open)
        robots->others.delay_ns = delay_ns;
}

/* Return the column of a byte, in characters and numbered from 1. */
static uint32_t column_of(struct span line, const char *at)
{
    uint32_t column = 1;

    for (const char *s = line.at; s < at; s++)
        column += (*s & 0xc0) != 0x80;
    return column;
}

static void add_sitemap(struct robots *robots, struct span value, struct span line,
                        unsigned number)
{
    struct sitemap_line sitemap = {robots->sitemaps.n, number, column_of(line, value.at)};

    if (value.n == 0 || memchr(value.at, '\0', value.n) != NULL)
        return;
    if (robots->sitemap_count == robots->sitemap_capacity &&
        array_grow(&robots->sitemap_lines, &robots->sitemap_capacity,
                   sizeof *robots->sitemap_lines) < 0) {
        robots->failed = true;
        return;
    }
    text_add(&robots->sitemaps, value.at, value.n);
    text_add(&robots->sitemaps, "", 1);
    robots->sitemap_lines[robots->sitemap_count++] = sitemap;
}

/*
 * Parse a line. A User-agent line begins a new group if *in_rules is true, that is, if
 * the current group already has a rule. Records other than User-agent lines and rules do
 * not affect groups. (2.1, 2.2.4)
 */
static void parse_line(struct robots *robots, struct span line, unsigned number,
                       const char *product, bool *in_rules)
{
    struct span value;
    enum record record = split_line(trim(part_before(line, '#')), &value);

    if (record == RECORD_AGENT) {
        if (*in_rules)
            robots->ours.open = robots->others.open = false;
        *in_rules = false;
        add_agent(robots, value, product);
    } else if (record == RECORD_ALLOW || record == RECORD_DISALLOW) {
        *in_rules = true;
        parse_rule(robots, value, record == RECORD_ALLOW, number);
    } else if (record == RECORD_DELAY) {
        set_delay(robots, value);
    } else if (record == RECORD_SITEMAP) {
        add_sitemap(robots, value, line, number);
    }
}

/* ---- whole ------------------------------------------------------------------------- */

/* Skip a byte order mark, and truncate the text to ROBOTS_BYTES. */
static struct span text_of(const char *text, size_t n)
{
    struct span all = {text, n < ROBOTS_BYTES ? n : ROBOTS_BYTES};

    if (n > ROBOTS_BYTES && text[ROBOTS_BYTES] != '\n' && text[ROBOTS_BYTES] != '\r')
        while (all.n > 0 && all.at[all.n - 1] != '\n' && all.at[all.n - 1] != '\r')
            all.n--;
    return all.n >= 3 && memcmp(all.at, "\xef\xbb\xbf", 3) == 0 ? skip_bytes(all, 3)
                                                                : all;
}

static void parse_lines(struct robots *robots, struct span text, const char *product)
{
    bool in_rules = false;

    for (unsigned number = 1; text.n > 0; number++) {
        struct span line = first_line(text);
        bool crlf = text.n - line.n >= 2 && memcmp(text.at + line.n, "\r\n", 2) == 0;

        parse_line(robots, line, number, product, &in_rules);
        text = skip_bytes(text, line.n);
        text = skip_bytes(text, text.n == 0 ? 0 : crlf ? 2 : 1);
    }
}

static size_t rule_length(const struct rule *rule)
{
    return rule->n + rule->ends;
}

/*
 * Compare rules for sorting (invariant 2). Rules with equal priority are sorted by line,
 * so that the order does not depend on qsort().
 */
static int compare_rules(const void *a, const void *b)
{
    const struct rule *x = a, *y = b;

    if (rule_length(x) != rule_length(y))
        return rule_length(x) > rule_length(y) ? -1 : 1;
    if (x->allows != y->allows)
        return x->allows ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void choose_rules(struct robots *robots)
{
    if (!robots->ours.named) {
        free(robots->ours.at);
        robots->ours = robots->others;
        robots->others.at = NULL;
    }
    if (robots->ours.count > 0)
        qsort(robots->ours.at, robots->ours.count, sizeof *robots->ours.at,
              compare_rules);
}

static struct robots *robots_create(void)
{
    struct robots *robots = calloc(1, sizeof *robots);

    if (robots != NULL)
        robots->ours.delay_ns = robots->others.delay_ns = -1;
    return robots;
}

struct robots *robots_parse(const char *text, size_t n, const char *product)
{
    struct robots *robots = robots_create();

    if (robots == NULL)
        return NULL;
    parse_lines(robots, text_of(text, n), product);
    if (robots->failed || robots->patterns.failed || robots->sitemaps.failed) {
        robots_destroy(robots);
        return NULL;
    }
    choose_rules(robots);
    return robots;
}

struct robots *robots_for_status(int status)
{
    struct robots *robots = robots_create();

    if (robots != NULL)
        robots->forbids_all = status <= 0 || status >= 500;
    return robots;
}

void robots_destroy(struct robots *robots)
{
    if (robots == NULL)
        return;
    free(robots->ours.at);
    free(robots->others.at);
    text_finish(&robots->patterns);
    text_finish(&robots->sitemaps);
    free(robots->sitemap_lines);
    free(robots);
}

/* ---- requests ---------------------------------------------------------------------- */

/* True if a pattern matches a URL. (Invariant 3) */
static bool pattern_matches(struct span pattern, bool ends, struct span url)
{
    struct span piece = part_before(pattern, '*');

    if (url.n < piece.n || memcmp(url.at, piece.at, piece.n) != 0)
        return false;
    url = skip_bytes(url, piece.n);
    while (piece.n < pattern.n) {
        const char *found;
        pattern = skip_bytes(pattern, piece.n + 1);
        piece = part_before(pattern, '*');
        if (ends && piece.n == pattern.n)
            return url.n >= piece.n &&
                   memcmp(url.at + url.n - piece.n, piece.at, piece.n) == 0;
        found = piece.n > 0 ? memmem(url.at, url.n, piece.at, piece.n) : url.at;
        if (found == NULL)
            return false;
        url = skip_bytes(url, (size_t)(found - url.at) + piece.n);
    }
    return !ends || url.n == 0;
}

/*
 * Return the first rule that matches, or NULL. `encoded` is the URL with each slash in
 * the query written as "%2F".
 */
static const struct rule *find_rule(const struct robots *robots, struct span url,
                                    struct span encoded)
{
    for (size_t i = 0; i < robots->ours.count; i++) {
        const struct rule *rule = &robots->ours.at[i];
        struct span pattern = {robots->patterns.at + rule->at, rule->n};

        if (pattern_matches(pattern, rule->ends, url) ||
            (rule->encoded_slash && pattern_matches(pattern, rule->ends, encoded)))
            return rule;
    }
    return NULL;
}

static int allows_by_rules(const struct robots *robots, const char *path_and_query,
                           unsigned *line)
{
    struct span written = {path_and_query, strlen(path_and_query)};
    struct text url = {0}, encoded = {0};
    const struct rule *rule = NULL;
    bool in_query = false, failed;

    normalise(&url, written, "/", &in_query);
    in_query = false;
    normalise(&encoded, written, "%2F", &in_query);
    failed = url.failed || encoded.failed;
    if (!failed)
        rule = find_rule(robots, (struct span){url.at, url.n},
                         (struct span){encoded.at, encoded.n});
    text_finish(&url);
    text_finish(&encoded);
    if (rule != NULL)
        *line = rule->line;
    if (failed)
        return -ENOMEM;
    return rule == NULL || rule->allows;
}

int robots_allows(const struct robots *robots, const char *path_and_query, unsigned *line)
{
    unsigned unused;

    line = line != NULL ? line : &unused;
    *line = 0;
    if (strcmp(path_and_query, "/robots.txt") == 0)
        return 1;
    if (robots->forbids_all || robots->ours.count == 0)
        return !robots->forbids_all;
    return allows_by_rules(robots, path_and_query[0] != '\0' ? path_and_query : "/",
                           line);
}

int64_t robots_delay_ns(const struct robots *robots)
{
    return robots->ours.delay_ns;
}

const char *robots_sitemap(const struct robots *robots, size_t index)
{
    return index < robots->sitemap_count
               ? robots->sitemaps.at + robots->sitemap_lines[index].at
               : NULL;
}

void robots_sitemap_place(const struct robots *robots, size_t index, uint32_t *line,
                          uint32_t *column)
{
    *line = robots->sitemap_lines[index].line;
    *column = robots->sitemap_lines[index].column;
}
