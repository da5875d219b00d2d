/* robots_tag.c - see robots_tag.h */
#include "robots_tag.h"

#include <string.h>
#include <strings.h>

/* True for "nofollow", and for "none", which combines noindex and nofollow. */
static bool is_nofollow(const char *rule, size_t n)
{
    return (n == strlen("nofollow") && strncasecmp(rule, "nofollow", n) == 0) ||
           (n == strlen("none") && strncasecmp(rule, "none", n) == 0);
}

static bool begins_with(const char *s, size_t n, const char *word)
{
    return n >= strlen(word) && strncasecmp(s, word, strlen(word)) == 0;
}

/* True if the text begins with the name of a crawler ("googlebot:"), and is not a rule
   with a value ("max-snippet:9"). */
static bool names_a_crawler(const char *s, size_t n)
{
    return memchr(s, ':', n) != NULL && !begins_with(s, n, "max-") &&
           !begins_with(s, n, "unavailable_after:");
}

bool robots_tag_has_nofollow(const char *robots_tag)
{
    static const char separators[] = ", \t";
    const char *at = robots_tag + strspn(robots_tag, separators);

    if (begins_with(at, strlen(at), "coil-crawl:"))
        at += strlen("coil-crawl:");
    else if (names_a_crawler(at, strcspn(at, separators)))
        return false;
    for (at += strspn(at, separators); *at != '\0'; at += strspn(at, separators)) {
        size_t n = strcspn(at, separators);
        if (is_nofollow(at, n))
            return true;
        at += n;
    }
    return false;
}
