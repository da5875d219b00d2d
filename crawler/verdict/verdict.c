/*
 * verdict.c - the table of verdicts, and the keywords and texts of reasons.
 */
#include "verdict.h"

#include <string.h>

#define OTHER_RULE "A link has a verdict that --fail-on names"

static const struct verdict_traits verdicts[VERDICT_COUNT] = {
    [VERDICT_OPEN] = {.rule = OTHER_RULE},
    [VERDICT_OK] = {.word = "ok", .tone = TONE_GOOD, .title = "ok", .rule = OTHER_RULE},
    [VERDICT_REDIRECT] = {.word = "redirect",
                          .title = "redirect",
                          .list = "Redirects",
                          .verbosity = 2,
                          .rule = "The target of a link has moved permanently"},
    [VERDICT_BROKEN] = {.word = "broken",
                        .tone = TONE_BAD,
                        .title = "broken link",
                        .rule = "The target of a link does not exist"},
    [VERDICT_FRAGMENT] =
        {.word = "fragment",
         .tone = TONE_BAD,
         .title = "broken fragment",
         .rule = "The page of a link lacks the element that its fragment names",
         .is_of_fragment = true},
    [VERDICT_TEXT] = {.word = "text",
                      .tone = TONE_WARNING,
                      .title = "text",
                      .list = "Texts that are not on their pages",
                      .verbosity = 1,
                      .rule = "The page of a link lacks the text that its fragment names",
                      .is_of_fragment = true},
    [VERDICT_BLOCKED] = {.word = "blocked",
                         .tone = TONE_WARNING,
                         .title = "blocked",
                         .list = "Blocked, although a human may get there",
                         .verbosity = 1,
                         .rule = "The server of a link refuses automatic requests"},
    [VERDICT_ERROR] = {.word = "error",
                       .tone = TONE_BAD,
                       .title = "error",
                       .rule = "The target of a link could not be fetched",
                       .is_unanswered = true},
    [VERDICT_TIMEOUT] = {.word = "timeout",
                         .tone = TONE_BAD,
                         .title = "timeout",
                         .rule = "The server of a link did not answer in time",
                         .is_unanswered = true},
    [VERDICT_SKIPPED] = {.word = "skipped",
                         .title = "skipped",
                         .list = "Skipped",
                         .verbosity = 2,
                         .rule = OTHER_RULE,
                         .is_of_fragment = true},
    [VERDICT_UNCHECKED] = {.word = "unchecked",
                           .title = "unchecked",
                           .list = "Unchecked",
                           .verbosity = 2,
                           .rule = OTHER_RULE,
                           .is_of_fragment = true},
};

static const struct {
    const char *word, *sentence;
} reasons[REASON_COUNT] = {
    [REASON_PERMANENT] = {"permanent", "moved permanently"},
    [REASON_TEMPORARY] = {"temporary", "moved temporarily"},
    [REASON_CHAIN] = {"chain", "several redirects in a row"},
    [REASON_STATUS] = {"status", ""},
    [REASON_NOT_A_URL] = {"not-a-url", "not a URL"},
    [REASON_NO_SUCH_FILE] = {"no-such-file", "no such file"},
    [REASON_OUTSIDE] = {"outside", "file:// outside of the folder that is checked"},
    [REASON_REDIRECT_NOWHERE] = {"redirect-nowhere",
                                 "a redirect without a usable target"},
    [REASON_REDIRECT_SCHEME] = {"redirect-scheme",
                                "a redirect to a scheme other than http and https"},
    [REASON_REDIRECT_CIRCLE] = {"redirect-circle", "a circle of redirects"},
    [REASON_REDIRECT_LIMIT] = {"redirect-limit", "too many redirects in a row"},
    [REASON_NO_SUCH_ID] = {"no-such-id", "no element has this id"},
    [REASON_NO_SUCH_TEXT] = {"no-such-text", "the page does not have this text"},
    [REASON_CHALLENGE] = {"challenge", "the server asks for a human"},
    [REASON_NETWORK] = {"network", "no answer: the network failed"},
    [REASON_PROTOCOL] = {"protocol", "the answer is not valid HTTP"},
    [REASON_TLS] = {"tls", "TLS failed"},
    [REASON_UNREADABLE] = {"unreadable", "cannot be read"},
    [REASON_NO_PROGRESS] = {"no-progress", "no bytes arrived for --timeout"},
    [REASON_MAX_TIME] = {"max-time", "took longer than --max-time"},
    [REASON_SCHEME] = {"scheme", "a scheme other than http and https"},
    [REASON_MAIL] = {"mail", "a mail address, hidden by Cloudflare"},
    [REASON_EXCLUDED] = {"excluded", "left out by --exclude"},
    [REASON_ROBOTS] = {"robots", "robots.txt forbids it"},
    [REASON_NOFOLLOW] = {"nofollow", "the link or its page says nofollow"},
    [REASON_DEPTH] = {"depth", "deeper than --max-depth"},
    [REASON_PAGES] = {"pages", "beyond --max-pages"},
    [REASON_TIME] = {"time", "beyond --max-duration"},
    [REASON_LENGTH] = {"length", "longer than --max-url-length"},
    [REASON_TRAP_REPEAT] = {"trap-repeat", "a trap: the path repeats itself"},
    [REASON_TRAP_SESSION] = {"trap-session", "a trap: a session id in the URL"},
    [REASON_TRAP_CALENDAR] = {"trap-calendar", "a trap: a calendar without an end"},
    [REASON_EXTERNAL] = {"external", "leaves the site: --external skip"},
    [REASON_PRIVATE] = {"private", "a private address: --exclude-private"},
    [REASON_INTERRUPTED] = {"interrupted", "the crawl was interrupted"},
    [REASON_OFFLINE] = {"offline", "needs the network: --offline"},
    [REASON_EXTERNAL_FRAGMENT] =
        {"external-fragment", "a fragment on another site: --fragments all checks it"},
    [REASON_NOT_SEARCHED] = {"not-searched", "the page was not searched for ids"},
    [REASON_ROUTE] = {"route", "a route, which a script of the page follows"},
};

/*
 * The names in IANA's registry of HTTP status codes, without 1xx, 306 and 418, which are
 * meaningless as final answers.
 */
static const struct {
    int status;
    const char *name;
} statuses[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {510, "Not Extended"},
    {511, "Network Authentication Required"},
};

const struct verdict_traits *verdict_traits(enum verdict verdict)
{
    return &verdicts[verdict < VERDICT_COUNT ? verdict : VERDICT_OPEN];
}

const char *verdict_word(enum verdict verdict)
{
    return verdict_traits(verdict)->word;
}

const char *reason_word(enum reason reason)
{
    return reason < REASON_COUNT ? reasons[reason].word : NULL;
}

const char *reason_sentence(enum reason reason)
{
    const char *sentence = reason < REASON_COUNT ? reasons[reason].sentence : NULL;

    return sentence != NULL ? sentence : "";
}

enum verdict verdict_of_word(const char *word)
{
    for (int i = VERDICT_OPEN + 1; i < VERDICT_COUNT; i++)
        if (strcmp(verdicts[i].word, word) == 0)
            return (enum verdict)i;
    return VERDICT_OPEN;
}

const char *status_name(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "";
}
