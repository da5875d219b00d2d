/*
 * redis_greeting.h - what is said on a new connection: who one is, which database, and whether this Redis will
 * do for a crawl.
 */
#ifndef CRAWLER_REDIS_GREETING_H
#define CRAWLER_REDIS_GREETING_H

#include "redis_link.h"
#include "redis_script.h"

#define REDIS_SHA_BYTES 41
#define REDIS_RUN_ID_BYTES 41

struct redis_greeting {
    const struct redis_script *scripts;
    size_t script_count;
    char (*shas)[REDIS_SHA_BYTES];   /* what Redis calls each script */
    char run_id[REDIS_RUN_ID_BYTES]; /* another each time that Redis is started */
};

/* Fails as redis_open(). */
COIL_SUSPENDS int redis_greet(struct redis_link *link, struct redis_greeting *greeting);

#endif
