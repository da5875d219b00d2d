/*
 * redis_process.h - runs a redis-server for a test, on a local socket in a temporary
 * folder, without persistence. The server is terminated when the test ends, even if the
 * test is killed.
 */
#ifndef TESTS_REDIS_PROCESS_H
#define TESTS_REDIS_PROCESS_H

#include "../../../../../crawler/shared/redis/redis.h"

#include <sys/types.h>

struct redis_process {
    pid_t pid;
    char folder[32], path[64], url[96];
};

void redis_process_start(struct redis_process *process);
void redis_process_stop(struct redis_process *process);

/*
 * Wait until redis-server answers and has loaded the scripts of a crawl. Skips the test
 * if redis-server is not installed.
 */
void redis_process_open(struct redis_process *process, int64_t timeout_ns,
                        struct redis **out);

#endif
