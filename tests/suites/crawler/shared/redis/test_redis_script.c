/*
 * test_redis_script.c - crawler/shared/redis/redis_script.h: each script is embedded
 * completely in the program. tests/suites/crawler/test_scripts.py tests their effects.
 */
#include "../../../../../crawler/shared/redis/redis_script.h"
#include "../../../../harness/harness.h"

static bool ends_with(const char *s, const char *end)
{
    return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

TEST(redis_scripts_are_all_there_behind_what_they_share)
{
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        const struct redis_script *script = &crawl_scripts[i];
        char begin[32];

        snprintf(begin, sizeof begin, "\n-- %s.lua - ", script->name);
        CHECK(strncmp(script->text, "-- common.lua - ", 16) == 0);
        CHECK(strstr(script->text, begin) != NULL);
        CHECK(strstr(script->text, "'^([^\\n]*)\\n(.*)$'") != NULL);
        CHECK(ends_with(script->text, "\n"));
    }
    CHECK_STR(crawl_scripts[SCRIPT_ACQUIRE].name, "acquire");
    CHECK_STR(crawl_scripts[SCRIPT_RENEW].name, "renew");
}
