/* redis_process.c - see redis_process.h */
#include "redis_process.h"

#include "../../../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void redis_process_start(struct redis_process *process)
{
    snprintf(process->folder, sizeof process->folder, "/tmp/coil-redis-XXXXXX");
    CHECK_PTR(mkdtemp(process->folder), process->folder);
    snprintf(process->path, sizeof process->path, "%s/socket", process->folder);
    snprintf(process->url, sizeof process->url, "unix://%s?db=1", process->path);
    process->pid = fork();
    if (process->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (freopen("/dev/null", "w", stdout) != NULL)
        execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
               process->path, "--save", "", "--appendonly", "no", "--dir",
               process->folder, (char *)NULL);
    _exit(127);
}

void redis_process_stop(struct redis_process *process)
{
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
    unlink(process->path);
    CHECK_INT(rmdir(process->folder), 0);
}

/* Skip the test, because redis-server failed to start. */
static void skip(struct redis_process *process, struct redis *redis)
{
    redis_destroy(redis);
    rmdir(process->folder);
    test_skip("redis-server is not installed");
}

void redis_process_open(struct redis_process *process, int64_t timeout_ns,
                        struct redis **out)
{
    struct redis_options options = {.url = process->url,
                                    .timeout_ns = timeout_ns,
                                    .scripts = crawl_scripts,
                                    .script_count = SCRIPT_COUNT};
    int rc;

    CHECK_INT(redis_create(&options, out), 0);
    while ((rc = redis_open(*out)) == -ENOENT || rc == -ECONNREFUSED) {
        CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
        if (waitpid(process->pid, NULL, WNOHANG) != 0)
            skip(process, *out);
    }
    CHECK_INT(rc, 0);
}
