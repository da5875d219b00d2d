/*
 * tls_key_log.c - writes the keys of connections to a file or to the program's callback.
 * Programs such as Wireshark can decrypt recorded traffic with these keys.
 *
 * The file is opened for each line, so it can be renamed or deleted at any time (log
 * rotation). Each line is written by one system call with O_APPEND, so lines of several
 * processes are not mixed up.
 */
#include "tls.h"

#include "../task/task.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Append a line to the file. Failures are ignored, because a log for debugging must not
 * break connections.
 */
static void append(const char *path, const char *line)
{
    struct iovec parts[] = {{(void *)line, strlen(line)}, {"\n", 1}};
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);

    if (fd < 0)
        return;
    if (writev(fd, parts, 2) < 0)
        errno = 0;
    close(fd);
}

void coil__tls_log_key(const SSL *ssl, const char *line)
{
    const coil_tls *tls = coil__tls_of(ssl)->tls;
    struct coil__no_suspend region;
    int saved = errno;

    if (tls->key_file != NULL)
        append(tls->key_file, line);
    errno = saved;
    if (tls->key_log == NULL)
        return;
    coil__no_suspend_enter(&region, "coil_tls_opts.key_log is called");
    tls->key_log(line, tls->key_log_arg);
    coil__no_suspend_exit(&region);
}

int coil__tls_set_up_key_log(coil_tls *tls, const coil_tls_opts *opts)
{
    const char *path = secure_getenv("SSLKEYLOGFILE");

    tls->key_log = opts->key_log;
    tls->key_log_arg = opts->key_log_arg;
    if (path != NULL && path[0] != '\0') {
        tls->key_file = coil__alloc(strlen(path) + 1);
        if (tls->key_file == NULL)
            return coil__failed(-ENOMEM);
        strcpy(tls->key_file, path);
    }
    /*
     * Set the callback even if this context does not have a log. If a server's context
     * selects this one for a connection, OpenSSL calls this context's callback, but the
     * keys are written to the log of the server's context.
     */
    SSL_CTX_set_keylog_callback(tls->ctx, coil__tls_log_key);
    return 0;
}
