/*
 * limited.c - run a shell command in a terminal, with limits on processor time and
 * memory, and print its output:
 *
 *     limited 'ls --color=auto; python3'
 */
#include <coil.h>

#include <stdio.h>
#include <sys/resource.h>

static int app(void *arg)
{
    static const coil_process_limit limits[] = {
        {RLIMIT_CPU, 1, 1}, // seconds
        {RLIMIT_AS, 256 << 20, 256 << 20},
        {RLIMIT_CORE, 0, 0},
    };
    const coil_process_opts opts = {
        .in = COIL_NULL, .pty = true, .limits = limits, .limit_count = 3};
    COIL_AUTO(coil_process) process = NULL;
    char bytes[4096];
    ssize_t n = coil_process_shell(arg, &opts, &process);

    if (n < 0)
        return (int)n;
    while ((n = coil_read(coil_process_terminal(process), bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)n, stdout);
    return n < 0 ? (int)n : coil_process_wait(process);
}

int main(int argc, char **argv)
{
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: limited COMMAND\n");
        return 2;
    }
    rc = coil_run(app, argv[1], NULL);
    return rc < 0 ? 1 : rc;
}
