/*
 * redis_greeting.h - set up a new connection: log in, select the database, check the
 * server, and load the scripts.
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
    /* SHA-1 of each script, for EVALSHA */
    char (*shas)[REDIS_SHA_BYTES];
    char run_id[REDIS_RUN_ID_BYTES]; /* id of the server process, from INFO */
};

/* Set up a new connection. Fails like redis_open(). */
COIL_SUSPENDS int redis_greet(struct redis_link *link, struct redis_greeting *greeting);

#endif
