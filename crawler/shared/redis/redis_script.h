/*
 * redis_script.h - the scripts of a crawl, which Redis runs: scripts/ has them, and says what each does.
 */
#ifndef CRAWLER_REDIS_SCRIPT_H
#define CRAWLER_REDIS_SCRIPT_H

struct redis_script {
    const char *name, *text; /* in Lua */
};

enum crawl_script {
    SCRIPT_ACQUIRE,
    SCRIPT_ADD,
    SCRIPT_BEGIN,
    SCRIPT_COLLECT,
    SCRIPT_COMPLETE,
    SCRIPT_LEAVE,
    SCRIPT_REAP,
    SCRIPT_RELEASE,
    SCRIPT_RENEW,
    SCRIPT_COUNT
};

/* Made by the build of scripts/NAME.lua, each behind common.lua. */
extern const struct redis_script crawl_scripts[SCRIPT_COUNT];

#endif
