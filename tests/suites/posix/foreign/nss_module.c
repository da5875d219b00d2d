/*
 * nss_module.c - a name service module for nss.c. Like libnss_ldap, it queries a server
 * before it answers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <nss.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum nss_status _nss_foreign_getpwnam_r(const char *name, struct passwd *user,
                                        char *buffer, size_t size, int *error);

/* Returns whether the server answers. */
static int ask(void)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(getenv("NSS_PORT"))),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), answered = 0;
    char piece[256];

    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        write(fd, request, strlen(request)) > 0)
        while (read(fd, piece, sizeof piece) > 0)
            answered = 1;
    close(fd);
    return answered;
}

/* The user ID of user "nN" is N. */
enum nss_status _nss_foreign_getpwnam_r(const char *name, struct passwd *user,
                                        char *buffer, size_t size, int *error)
{
    if (strlen(name) >= size || name[0] != 'n' || !ask()) {
        *error = ENOENT;
        return NSS_STATUS_NOTFOUND;
    }
    strcpy(buffer, name);
    *user = (struct passwd){.pw_name = buffer,
                            .pw_passwd = buffer + strlen(name),
                            .pw_gecos = buffer + strlen(name),
                            .pw_dir = buffer + strlen(name),
                            .pw_shell = buffer + strlen(name),
                            .pw_uid = (uid_t)atoi(name + 1)};
    return NSS_STATUS_SUCCESS;
}
