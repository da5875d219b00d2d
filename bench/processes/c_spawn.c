/*
 * c_spawn AT_ONCE COUNT MIB HOW - like coil_spawn, but without a loop: starts AT_ONCE
 * children at a time with posix_spawn(3), or with fork(2) and execve(2), and waits for
 * them with waitpid(2).
 */
#include "touch.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const program[] = {"/bin/true", NULL};

static pid_t spawn(void)
{
    pid_t pid;

    return posix_spawn(&pid, program[0], NULL, NULL, program, environ) == 0 ? pid : -1;
}

static pid_t fork_and_exec(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        execve(program[0], program, environ);
        _exit(127);
    }
    return pid;
}

int main(int argc, char **argv)
{
    pid_t (*start)(void) =
        argc > 4 && strcmp(argv[4], "fork") == 0 ? fork_and_exec : spawn;
    int at_once = argc > 3 ? atoi(argv[1]) : 1, count = argc > 3 ? atoi(argv[2]) : 100;
    int running = 0, status, failures = 0;
    double began;

    touch(argc > 3 ? (size_t)atoi(argv[3]) : 0);
    began = now_us();
    for (int started = 0; started < count || running > 0;) {
        if (started < count && running < at_once) {
            if (start() < 0)
                return 1;
            started++;
            running++;
            continue;
        }
        if (waitpid(-1, &status, 0) < 0)
            return 1;
        failures += status != 0;
        running--;
    }
    printf("%.2f\n", (now_us() - began) / count);
    return failures > 0;
}
