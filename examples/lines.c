/*
 * lines.c - numbers the lines of files, or of standard input, like cat -n:
 *
 *     lines /etc/passwd        lines < /etc/passwd        ls | lines        lines < /dev/null
 *
 * coil_file_read_line() reads the files, so a slow disk delays only this task. Standard
 * input may be a terminal, a pipe, a socket, a file or a device. coil_stream_adopt()
 * accepts all of these on any backend. Sources that are always ready, such as files, are
 * read without waiting.
 */
#include <coil.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static size_t number;

static int number_file(const char *path)
{
    char line[4096];
    COIL_AUTO(coil_file) file = NULL;
    ssize_t n;
    int rc = coil_file_open(path, O_RDONLY, 0, &file);

    if (rc < 0)
        return rc;
    while ((n = coil_file_read_line(file, line, sizeof line)) >= 0)
        printf("%6zu  %s\n", ++number, line);
    // the last line has no newline
    if (n == -ENODATA && (n = coil_file_transferred(file)) > 0)
        printf("%6zu  %s\n", ++number, line);
    return n < 0 ? coil_fail((int)n, "line %zu of '%s'", number + 1, path) : 0;
}

static int number_input(void)
{
    char line[4096];
    COIL_AUTO(coil_stream) in = NULL;
    ssize_t n;
    int fd = dup(STDIN_FILENO); // a copy, because the stream closes its descriptor
    int rc = coil_stream_adopt(fd, &in);

    if (rc < 0) {
        close(fd);
        return rc;
    }
    while ((n = coil_read_line(in, line, sizeof line)) >= 0)
        printf("%6zu  %s\n", ++number, line);
    if (n == -ENODATA && (n = coil_stream_read_transferred(in)) > 0)
        printf("%6zu  %s\n", ++number, line);
    return n < 0 ? coil_fail((int)n, "line %zu of standard input", number + 1) : 0;
}

static int app(void *arg)
{
    char **path = arg;
    int rc = *path == NULL ? number_input() : 0;

    for (; *path != NULL && rc == 0; path++)
        rc = number_file(*path);
    return rc;
}

int main(int argc, char **argv)
{
    return coil_run(app, &argv[argc > 0], NULL) < 0;
}
