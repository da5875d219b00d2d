/*
 * redis_process.h - a redis-server of the test's own, on a local socket in a temporary folder; nothing of it is
 * kept. It ends with the test, even with one that is killed.
 */
#ifndef TESTS_REDIS_PROCESS_H
#define TESTS_REDIS_PROCESS_H

#include "../../../../crawler/shared/redis/redis.h"

#include <sys/types.h>

struct redis_process {
    pid_t pid;
    char folder[32], path[64], url[96];
};

void redis_process_start(struct redis_process *process);
void redis_process_stop(struct redis_process *process);

/* Wait until it is there, with the scripts of a crawl; where it is not installed the test is skipped. */
void redis_process_open(struct redis_process *process, int64_t timeout_ns,
                        struct redis **out);

#endif
