/*
 * verdict.h - the verdicts on a target, the reasons for them, and their names.
 *
 * docs/design/checker.md explains each verdict and reason. The names must not change,
 * because JSONL and --fail-on use them.
 */
#ifndef CRAWLER_VERDICT_H
#define CRAWLER_VERDICT_H

#include <stdbool.h>

enum verdict {
    VERDICT_OPEN, /* not known yet; never reported */
    VERDICT_OK,
    VERDICT_REDIRECT,
    VERDICT_BROKEN,
    VERDICT_FRAGMENT,
    VERDICT_TEXT,
    VERDICT_BLOCKED,
    VERDICT_ERROR,
    VERDICT_TIMEOUT,
    VERDICT_SKIPPED,
    VERDICT_UNCHECKED,
    VERDICT_COUNT
};

enum reason {
    REASON_NONE,
    REASON_PERMANENT, /* reasons for VERDICT_REDIRECT */
    REASON_TEMPORARY,
    REASON_CHAIN,
    REASON_STATUS, /* for VERDICT_BROKEN, VERDICT_BLOCKED: see the HTTP status */
    REASON_NOT_A_URL,
    REASON_NO_SUCH_FILE,
    REASON_OUTSIDE,
    REASON_REDIRECT_NOWHERE,
    REASON_REDIRECT_SCHEME,
    REASON_REDIRECT_CIRCLE,
    REASON_REDIRECT_LIMIT,
    REASON_NO_SUCH_ID,   /* for VERDICT_FRAGMENT */
    REASON_NO_SUCH_TEXT, /* for VERDICT_TEXT */
    REASON_CHALLENGE,    /* for VERDICT_BLOCKED */
    REASON_NETWORK,      /* for VERDICT_ERROR */
    REASON_PROTOCOL,
    REASON_TLS,
    REASON_UNREADABLE,
    REASON_NO_PROGRESS, /* for VERDICT_TIMEOUT */
    REASON_MAX_TIME,
    REASON_SCHEME, /* for VERDICT_SKIPPED */
    REASON_MAIL,
    REASON_EXCLUDED,
    REASON_ROBOTS,
    REASON_NOFOLLOW,
    REASON_DEPTH,
    REASON_PAGES,
    REASON_TIME,
    REASON_LENGTH,
    REASON_TRAP_REPEAT,
    REASON_TRAP_SESSION,
    REASON_TRAP_CALENDAR,
    REASON_EXTERNAL,
    REASON_PRIVATE,
    REASON_INTERRUPTED, /* for VERDICT_UNCHECKED */
    REASON_OFFLINE,
    REASON_EXTERNAL_FRAGMENT,
    REASON_NOT_SEARCHED,
    REASON_ROUTE,
    REASON_COUNT
};

/*
 * The tone of a verdict determines its color in reports. Tones are in ascending order of
 * importance.
 */
enum verdict_tone {
    TONE_NEUTRAL,
    TONE_GOOD,
    TONE_WARNING, /* reported even if it is not in --fail-on */
    TONE_BAD      /* also in the first list of the text report */
};

/* Properties of a verdict that reports use. */
struct verdict_traits {
    /* name in JSONL and --fail-on of at most 15 bytes; NULL for VERDICT_OPEN */
    const char *word;
    enum verdict_tone tone;
    const char *title;  /* title of an annotation on GitHub */
    const char *list;   /* headline of its list in the text report; or NULL */
    unsigned verbosity; /* number of -v options needed to show the list */
    const char *rule;   /* description of its rules in SARIF */
    bool is_unanswered; /* the target could not be fetched: an <error> in JUnit */
    /* the verdict depends on the fragment, so a page may have several such verdicts */
    bool is_of_fragment;
};

/* Return the traits of a verdict, from the table in verdict.c. */
const struct verdict_traits *verdict_traits(enum verdict verdict);

/*
 * Return the name of a verdict or reason, such as "broken" or "no-such-id", or NULL for
 * VERDICT_OPEN and REASON_NONE.
 */
const char *verdict_word(enum verdict verdict);
const char *reason_word(enum reason reason);

/*
 * Return an explanation for human readers, such as "no element has this id", or "" if the
 * HTTP status explains the verdict.
 */
const char *reason_sentence(enum reason reason);

/* Return the verdict with this name, or VERDICT_OPEN for an unknown name. */
enum verdict verdict_of_word(const char *word);

/* Return the name of an HTTP status, such as "Not Found" for 404, or "" for an unknown
   status. (RFC 9110; IANA's registry) */
const char *status_name(int status);

#endif
