/*
 * hang.c - prints the stacks of a test that has timed out.
 *
 * scripts/stacks prints the C stacks of all threads and the stacks of all tasks, for each
 * process in the test's session, beginning with the test itself.
 */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHOWN = 6 };

static pid_t session_of(const char *name)
{
    char *end;
    long pid = strtol(name, &end, 10);

    return end != name && *end == '\0' ? getsid((pid_t)pid) : -1;
}

/* Call visit() for each process of the session except its leader. */
static void each_member(pid_t session, void (*visit)(pid_t pid, void *arg), void *arg)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (session_of(entry->d_name) == session && atoi(entry->d_name) != session)
            visit((pid_t)atoi(entry->d_name), arg);
    closedir(dir);
}

struct arguments {
    char *argv[SHOWN + 2];
    char text[SHOWN][16];
    int count;
};

static void add_pid(pid_t pid, void *arg)
{
    struct arguments *to = arg;

    if (to->count == SHOWN)
        return;
    snprintf(to->text[to->count], sizeof to->text[0], "%d", (int)pid);
    to->argv[to->count + 1] = to->text[to->count];
    to->count++;
}

void test__show_hang(pid_t session, int output)
{
    struct arguments to = {.argv = {TEST_STACKS}};
    sigset_t none;
    pid_t child;

    add_pid(session, &to);
    each_member(session, add_pid, &to);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        sigemptyset(&none); /* gdb needs SIGCHLD, which coil-tests blocks */
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        execv(to.argv[0], to.argv);
        perror(TEST_STACKS);
        _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void kill_pid(pid_t pid, void *arg)
{
    (void)arg;
    kill(pid, SIGKILL);
}

void test__kill_session(pid_t session)
{
    kill(-session, SIGKILL);
    each_member(session, kill_pid, NULL);
}
