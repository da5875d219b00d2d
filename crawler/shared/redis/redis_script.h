/*
 * redis_script.h - the Lua scripts of a shared crawl, which run in Redis. Comments at the
 * beginning of the files in scripts/ describe them.
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

/*
 * Generated from scripts/NAME.lua by make-scripts, which prepends common.lua to each
 * script.
 */
extern const struct redis_script crawl_scripts[SCRIPT_COUNT];

#endif
