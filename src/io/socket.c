/*
 * socket.c - system calls for sockets, and their replacements in a simulated network.
 */
#include "socket.h"

#include "../base/fault.h"

#include <unistd.h>

static const struct coil__network *network_of(coil_loop *loop)
{
    return loop->backend->class->network;
}

/* Simulated sockets have numbers from COIL__FIRST_SIMULATED upwards. */
bool coil__socket_is_simulated(coil_loop *loop, int fd)
{
    return COIL__UNLIKELY(fd >= COIL__FIRST_SIMULATED) && network_of(loop) != NULL;
}

static int or_errno(int result)
{
    return result < 0 ? coil__failed(-errno) : result;
}

static int note_result(int rc)
{
    return (int)coil__result(rc);
}

int coil__socket_open(coil_loop *loop, int family, int type, int protocol)
{
    if (network_of(loop) != NULL && (family == AF_INET || family == AF_INET6))
        return note_result(
            network_of(loop)->socket(loop->backend, family, type, protocol));
    return or_errno(COIL__CALL(
        EMFILE, socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol)));
}

int coil__socket_close(coil_loop *loop, int fd)
{
    /*
     * A closed loop's simulated sockets were destroyed together with its backend, and a
     * forked child has none of its parent's simulated sockets.
     */
    if (COIL__UNLIKELY(fd >= COIL__FIRST_SIMULATED))
        return loop->closing || network_of(loop) == NULL
                   ? 0
                   : note_result(network_of(loop)->close(loop->backend, fd));
    /* Linux closes the descriptor even if close(2) fails with EINTR. */
    return close(fd) < 0 && errno != EINTR ? coil__failed(-errno) : 0;
}

int coil__socket_bind(coil_loop *loop, int fd, const struct sockaddr *address,
                      socklen_t address_bytes)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(
            network_of(loop)->bind(loop->backend, fd, address, address_bytes));
    return or_errno(COIL__CALL(EADDRINUSE, bind(fd, address, address_bytes)));
}

int coil__socket_listen(coil_loop *loop, int fd, int backlog)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(network_of(loop)->listen(loop->backend, fd, backlog));
    return or_errno(COIL__CALL(EADDRINUSE, listen(fd, backlog)));
}

int coil__socket_shutdown(coil_loop *loop, int fd, int how)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(network_of(loop)->shutdown(loop->backend, fd, how));
    return or_errno(COIL__CALL(ENOTCONN, shutdown(fd, how)));
}

int coil__socket_name(coil_loop *loop, int fd, struct sockaddr *address,
                      socklen_t *address_bytes)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(
            network_of(loop)->getsockname(loop->backend, fd, address, address_bytes));
    return or_errno(COIL__CALL(ENOBUFS, getsockname(fd, address, address_bytes)));
}

int coil__socket_peer(coil_loop *loop, int fd, struct sockaddr *address,
                      socklen_t *address_bytes)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(
            network_of(loop)->getpeername(loop->backend, fd, address, address_bytes));
    return or_errno(COIL__CALL(ENOBUFS, getpeername(fd, address, address_bytes)));
}

int coil__socket_set_option(coil_loop *loop, int fd, int level, int name,
                            const void *value, socklen_t value_bytes)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(network_of(loop)->setsockopt(loop->backend, fd, level, name,
                                                        value, value_bytes));
    return or_errno(setsockopt(fd, level, name, value, value_bytes));
}

int coil__socket_option(coil_loop *loop, int fd, int level, int name, void *value,
                        socklen_t *value_bytes)
{
    if (coil__socket_is_simulated(loop, fd))
        return note_result(network_of(loop)->getsockopt(loop->backend, fd, level, name,
                                                        value, value_bytes));
    return or_errno(getsockopt(fd, level, name, value, value_bytes));
}
