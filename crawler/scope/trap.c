/*
 * trap.c - recognise repeated path segments and session ids. trap_calendar.c recognises
 * calendars.
 *
 * A server that puts session ids into links creates a new id for each request without
 * one. So all links on such a page are new URLs, and the URL without an id may never
 * occur. To recognise such URLs, the table contains hashes of URLs without their ids,
 * each with the hash of the first complete URL.
 */
#include "trap.h"

#include "../base/text.h"
#include "trap_calendar.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * The minimum length of an id. A shorter value may be something else, for example the
 * number of a news story, even if the parameter has the name of a session id.
 */
#define ID_BYTES 16

struct trap_session {
    uint64_t without, first; /* hashes of the URL; `without` is 0 in a free slot */
};

void traps_finish(struct traps *traps)
{
    free(traps->sessions);
    *traps = (struct traps){0};
}

/* ---- repetition -------------------------------------------------------------------- */

/* Return the length of the segment at `s`, including the slash before it. */
static size_t segment_length(const char *s)
{
    return *s == '/' ? 1 + strcspn(s + 1, "/?#") : 0;
}

/* True if the n bytes at `s` occur TRAP_REPEATS times in a row. */
static bool repeats_here(const char *s, size_t n)
{
    if (n == 0)
        return false;
    for (size_t i = 1; i < TRAP_REPEATS; i++)
        if (strncmp(s + i * n, s, n) != 0)
            return false;
    s += TRAP_REPEATS * n;
    return *s == '\0' || strchr("/?#", *s) != NULL;
}

bool trap_repeats(const char *url)
{
    const char *s = url + url_origin_length(url);
    size_t n;

    for (; (n = segment_length(s)) > 0; s += n) {
        size_t next = segment_length(s + n);
        if (repeats_here(s, n) || (next > 0 && repeats_here(s, n + next)))
            return true;
    }
    return false;
}

/* ---- session ids ------------------------------------------------------------------- */

static bool is_name(const char *name, size_t n, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == n && strncasecmp(name, names[i], n) == 0)
            return true;
    return false;
}

/* True if a value looks like a session id: 16 or more letters and digits, including at
   least one letter and one digit. */
static bool looks_like_id(const char *value, size_t n)
{
    bool letters = false, digits = false;

    for (size_t i = 0; i < n; i++) {
        letters = letters || is_letter(value[i]);
        digits = digits || is_digit(value[i]);
        if (!is_letter(value[i]) && !is_digit(value[i]) &&
            strchr("-_.,%", value[i]) == NULL)
            return false;
    }
    return n >= ID_BYTES && letters && digits;
}

static bool looks_like_hash(const char *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hex_value(value[i]) < 0)
            return false;
    return n >= 32;
}

/* True if "name=value" is a session id. */
static bool is_session(const char *s, size_t n)
{
    static const char *const certain[] = {
        "jsessionid", "phpsessid", "sessionid", "session_id", "session-id",
        "sessid",     "oscsid",    "zenid",     "cftoken",    "asp.net_sessionid",
        "xtcsid",     "osessid",   "symfony"};
    static const char *const perhaps[] = {"sid",     "session", "sess", "s",
                                          "sesskey", "phpsid",  "cfid"};
    const char *equals = memchr(s, '=', n);
    size_t name_n = equals != NULL ? (size_t)(equals - s) : n;
    const char *value = s + name_n + 1;
    size_t value_n = equals != NULL ? n - name_n - 1 : 0;

    if (value_n == 0)
        return false;
    if (is_name(s, name_n, certain, sizeof certain / sizeof *certain) ||
        (name_n > 12 && strncasecmp(s, "aspsessionid", 12) == 0))
        return true;
    return is_name(s, name_n, perhaps, sizeof perhaps / sizeof *perhaps) &&
           (looks_like_id(value, value_n) || looks_like_hash(value, value_n));
}

/*
 * Return the length of the session id that begins at `s`, or 0 if there is none. A
 * session id in a path is written as ";name=value" or "/(S(value))".
 */
static size_t session_in_path(const char *s)
{
    size_t n;

    /* avoid scanning the segment for each of its bytes */
    if (*s != ';' && *s != '/')
        return 0;
    n = 1 + strcspn(s + 1, ";/?#");
    if (*s == ';' && is_session(s + 1, n - 1))
        return n;
    if (n > 6 && s[n] != ';' && strncasecmp(s, "/(S(", 4) == 0 &&
        strncmp(s + n - 2, "))", 2) == 0)
        return n;
    return 0;
}

/* Append a URL up to the end of its path, without session ids. Returns the end of the
   path. */
static const char *add_path(struct text *out, const char *s)
{
    while (*s != '\0' && *s != '?' && *s != '#') {
        size_t n = session_in_path(s);
        if (n == 0)
            text_add(out, s, n = 1);
        s += n;
    }
    return s;
}

static void add_query(struct text *out, const char *s)
{
    char separator = '?';

    while (*s == '?' || *s == '&') {
        size_t n = strcspn(++s, "&#");
        if (!is_session(s, n)) {
            text_add(out, &separator, 1);
            text_add(out, s, n);
            separator = '&';
        }
        s += n;
    }
}

int trap_without_session(const char *url, char **out)
{
    size_t origin = url_origin_length(url);
    struct text text = {0};
    const char *query;

    *out = NULL;
    text_add(&text, url, origin);
    query = add_path(&text, url + origin);
    if (text.n == origin)
        text_add(&text, "/", 1);
    add_query(&text, query);
    if (text.failed) {
        text_finish(&text);
        return -ENOMEM;
    }
    if (text.n == strcspn(url, "#")) {
        text_finish(&text);
        return 0;
    }
    *out = text_take(&text);
    return *out != NULL ? 0 : -ENOMEM;
}

static struct trap_session *find_slot(struct trap_session *sessions, size_t capacity,
                                      uint64_t without)
{
    size_t i = without & (capacity - 1);

    while (sessions[i].without != 0 && sessions[i].without != without)
        i = (i + 1) & (capacity - 1);
    return &sessions[i];
}

static bool make_room(struct traps *traps)
{
    size_t capacity = traps->session_capacity > 0 ? 2 * traps->session_capacity : 64;
    struct trap_session *sessions;

    if (2 * traps->session_count < traps->session_capacity)
        return true;
    sessions = calloc(capacity, sizeof *sessions);
    if (sessions == NULL)
        return false;
    for (size_t i = 0; i < traps->session_capacity; i++)
        if (traps->sessions[i].without != 0)
            *find_slot(sessions, capacity, traps->sessions[i].without) =
                traps->sessions[i];
    free(traps->sessions);
    traps->sessions = sessions;
    traps->session_capacity = capacity;
    return true;
}

/*
 * Return false for the first URL with this `without` (the URL without its session id),
 * which is stored, and true for URLs with other ids. Returns false if memory runs out.
 */
static bool was_seen(struct traps *traps, const char *url, const char *without)
{
    struct trap_session *slot;
    uint64_t hash = trap_hash(TRAP_HASH_START, url, strlen(url));

    if (!make_room(traps))
        return false;
    slot = find_slot(traps->sessions, traps->session_capacity,
                     trap_hash(TRAP_HASH_START, without, strlen(without)));
    if (slot->without != 0)
        return slot->first != hash;
    slot->without = trap_hash(TRAP_HASH_START, without, strlen(without));
    slot->first = hash;
    traps->session_count++;
    return false;
}

bool trap_session(struct traps *traps, const char *url,
                  bool (*is_known)(const char *url, void *arg), void *arg)
{
    char *without;
    bool is_trap;

    if (strpbrk(url, ";?(") == NULL) /* a quick check: few URLs have a session id */
        return false;
    if (trap_without_session(url, &without) < 0 || without == NULL)
        return false;
    is_trap = is_known(without, arg) || was_seen(traps, url, without);
    free(without);
    return is_trap;
}
