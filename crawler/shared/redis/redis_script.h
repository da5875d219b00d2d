/*
 * redis_script.h - the scripts of a shared crawl, which run in Redis. The comments in
 * scripts/ describe each script.
 */
#ifndef CRAWLER_REDIS_SCRIPT_H
#define CRAWLER_REDIS_SCRIPT_H

struct redis_script {
    const char *name, *text; /* `text` is in Lua */
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

/* The build generates this array from scripts/NAME.lua. Each script begins with
 * common.lua. */
extern const struct redis_script crawl_scripts[SCRIPT_COUNT];

#endif
