/*
 * main.c - the command coil-crawl: parse the options, run a subcommand, and return its
 * exit status.
 */
#include "command.h"

#include "../crawl/check_options.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum exit_status run_command(const struct options *options)
{
    if (options->explain)
        return command_explain(options);
    switch (options->command) {
    case COMMAND_CRAWL:
        return options->frontier != NULL ? command_member(options)
                                         : command_crawl(options);
    case COMMAND_DIFF:
        return command_diff(options);
    case COMMAND_COLLECT:
        return command_collect(options);
    default:
        return command_saved(options);
    }
}

static enum exit_status parse_and_run(int argc, char *argv[])
{
    struct options options;
    enum exit_status status = STATUS_USAGE;
    int rc = options_init(&options);

    if (rc == 0)
        rc = options_parse(&options, argc, argv, stdout, stderr);
    if (rc == 0)
        rc = check_options(&options, stderr);
    if (rc == 0)
        status = run_command(&options);
    else if (rc == OPTIONS_PRINTED)
        status = fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
    else if (rc == -ENOMEM)
        status = STATUS_FAILED;
    if (rc == -ENOMEM)
        fprintf(stderr, "coil-crawl: %s\n", strerror(ENOMEM));
    options_finish(&options);
    return status;
}

/*
 * Replace standard descriptors that are closed. Otherwise, an output file could get the
 * number of stdout or stderr, and texts for these would be written into the file. As with
 * closed descriptors, reading stdin or writing to stdout fails with EBADF.
 */
static bool open_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false;
    return true;
}

int main(int argc, char *argv[])
{
    enum exit_status status;

    if (!open_standard_descriptors())
        return STATUS_FAILED;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond RLIMIT_FSIZE must fail with EFBIG */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fputs("coil-crawl: libcurl cannot be initialized\n", stderr);
        return STATUS_FAILED;
    }
    status = parse_and_run(argc, argv);
    curl_global_cleanup();
    return status;
}
