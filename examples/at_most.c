/*
 * at_most.c - run a shell command for a limited number of seconds, like timeout(1):
 *
 *     at_most 2 'sleep 100 & sleep 100 & wait'
 *
 * The command runs in a process group of its own. When the time is up, the whole group is
 * killed: the shell and all processes that it has started. This works even if the shell
 * itself has already ended.
 */
#include <coil.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct order {
    double seconds;
    const char *command;
};

static int app(void *arg)
{
    const struct order *order = arg;
    coil_process_opts opts = {.new_group = true, .out = COIL_PIPE};
    coil_output output = {0};
    COIL_AUTO(coil_process) process = NULL;
    int rc = coil_process_shell(order->command, &opts, &process);

    if (rc < 0)
        return rc;
    // wait until every process that can write to the pipe has ended, not only the shell
    COIL_WITH_DEADLINE((int64_t)(order->seconds * 1e9), rc)
    rc = coil_process_communicate(process, NULL, 0, &output, NULL, 1 << 20);
    fwrite(output.data, 1, output.size, stdout);
    coil_output_finish(&output);
    if (rc < 0)
        coil_process_kill_group(process, SIGKILL); // -ESRCH: all processes have ended
    return rc == -ETIMEDOUT ? 124 : rc;
}

int main(int argc, char **argv)
{
    int rc;

    if (argc != 3) {
        fprintf(stderr, "usage: at_most SECONDS COMMAND\n");
        return 2;
    }
    rc = coil_run(app, &(struct order){atof(argv[1]), argv[2]}, NULL);
    return rc < 0 ? 1 : rc;
}
