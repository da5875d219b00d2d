/*
 * fuzz_trap.c - checks that removing a session id from a URL does not change its origin,
 * and that a URL is not reported as a duplicate of itself.
 */
#include "fuzz.h"

#include "../crawler/scope/trap.h"
#include "../crawler/url/url.h"

static bool is_unknown(const char *url, void *arg)
{
    (void)url;
    (void)arg;
    return false;
}

static void check_session(struct traps *traps, const char *url)
{
    char *without, *again, *made;

    CLAIM(!trap_session(traps, url, is_unknown, NULL));
    CLAIM(!trap_session(traps, url, is_unknown, NULL));
    CLAIM(trap_without_session(url, &without) == 0);
    if (without == NULL)
        return;
    CLAIM(strlen(without) <= strlen(url));
    CLAIM(url_origin_length(without) == url_origin_length(url));
    CLAIM(url_resolve(NULL, without, &made) == 0);
    free(made);
    if (trap_without_session(without, &again) == 0)
        free(again);
    free(without);
}

/*
 * Check that two kinds of links are not calendar links: a link from a page to itself, and
 * a link on a page whose URL has no date.
 */
static void check_calendar(const char *url)
{
    CLAIM(!trap_calendar(url, url, 1795356000));
    CLAIM(!trap_calendar("http://h/", url, 1795356000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *url;
    struct traps traps = {0};

    if (url_resolve(NULL, text, &url) == 0) {
        trap_repeats(url);
        check_session(&traps, url);
        check_calendar(url);
        free(url);
    }
    traps_finish(&traps);
    free(text);
    return 0;
}
