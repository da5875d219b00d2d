/* children.c - see children.h. */
#include "children.h"

#include "../../harness/harness.h"

#include <sys/wait.h>
#include <unistd.h>

static coil_process *require(int rc, coil_process *process)
{
    if (rc == -ENOSYS)
        test_skip("no pidfds here");
    CHECK_INT(rc, 0);
    if (rc < 0)
        exit(EXIT_FAILURE); /* the failed check has already printed the error */
    return process;
}

coil_process *start_process(const coil_process_opts *opts)
{
    coil_process *process = NULL;
    int rc = coil_process_spawn(opts, &process);

    return require(rc, process);
}

coil_process *start_command(const char *command, const coil_process_opts *opts)
{
    coil_process *process = NULL;
    int rc = coil_process_shell(command, opts, &process);

    return require(rc, process);
}

coil_process *start_shell(const char *command, int in, int out, int err)
{
    return start_command(command, &(coil_process_opts){.in = in, .out = out, .err = err});
}

const char *output_of(coil_process *process, int status)
{
    static char text[4096];
    coil_output out = {.data = NULL};

    CHECK_INT(coil_process_communicate(process, NULL, 0, &out, NULL, 0), status);
    snprintf(text, sizeof text, "%s", out.data != NULL ? out.data : "");
    coil_output_finish(&out);
    coil_process_destroy(process);
    return text;
}

const char *shell_output(const char *command, int status)
{
    return output_of(start_shell(command, COIL_NULL, COIL_PIPE, COIL_INHERIT), status);
}

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void wait_for_no_children(void)
{
    while (has_children())
        if (coil_task_current() != NULL)
            coil_sleep(COIL_MSEC(1));
        else
            usleep(1000);
}

void read_line(coil_stream *stream, char *line, size_t size)
{
    size_t n = 0;

    do
        if (coil_read(stream, line + n, 1) != 1)
            break;
    while (line[n] != '\n' && ++n < size - 1);
    line[n] = '\0';
}
