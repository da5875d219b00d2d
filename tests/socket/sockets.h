/*
 * sockets.h - what the I/O tests need again and again: pairs of connected streams, and
 * tasks that end.
 */
#ifndef COIL_TESTS_NET_SOCKETS_H
#define COIL_TESTS_NET_SOCKETS_H

#include <coil.h>

/* Two ends of a TCP connection over loopback, blocking. */
void make_tcp_pair(int fds[2]);

/* The same as streams, or of one end a stream and of the other the descriptor. */
void make_stream_pair(coil_stream *ends[2]);
coil_stream *make_stream_and_peer(int *peer);

/*
 * The same by coil_listen(), coil_connect() and coil_accept() alone, for NET_TEST: two
 * streams, the client's first.
 */
void connect_streams(coil_stream *ends[2]);

/* A port of 127.0.0.1 that refuses, and is nobody else's until the descriptor is closed. */
unsigned take_refusing_port(int *fd);

/* Let other tasks run until they all wait. */
void settle(void);

/*
 * Wait for the task's end, and release it. It returns 0; or, having been cancelled,
 * -ECANCELED if it has seen that.
 */
void finish(coil_task *task);
void finish_cancelled(coil_task *task);

/* Byte i of a stream that repeats itself only after a long while. */
unsigned char pattern_byte(size_t i);

/* Allow so many more descriptors than are open; returns what to set it back to. */
int limit_descriptors(int more);
void restore_descriptors(int limit);

#endif
