/*
 * sockets.h - helpers for I/O tests: pairs of connected streams, and tasks that end.
 */
#ifndef COIL_TESTS_NET_SOCKETS_H
#define COIL_TESTS_NET_SOCKETS_H

#include <coil.h>

/* Two ends of a TCP connection over loopback, blocking. */
void make_tcp_pair(int fds[2]);

/* The same as streams, or one end as a stream and the other as a descriptor. */
void make_stream_pair(coil_stream *ends[2]);
coil_stream *make_stream_and_peer(int *peer);

/*
 * The same with only coil_listen(), coil_connect() and coil_accept(), for NET_TEST: two
 * streams, the client's first.
 */
void connect_streams(coil_stream *ends[2]);

/* A port of 127.0.0.1 that refuses, and is reserved until the descriptor is closed. */
unsigned take_refusing_port(int *fd);

/* Let other tasks run until they all wait. */
void settle(void);

/*
 * Wait for the task's end, and release it. It must return 0, or -ECANCELED if it was
 * cancelled and noticed it.
 */
void finish(coil_task *task);
void finish_cancelled(coil_task *task);

/* Byte i of a pattern with a long period. */
unsigned char pattern_byte(size_t i);

/* Allow this number of descriptors more than are open. Returns the previous limit. */
int limit_descriptors(int more);
void restore_descriptors(int limit);

#endif
