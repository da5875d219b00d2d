/*
 * sockets.h - helpers for I/O tests: pairs of connected streams, and tasks that end.
 */
#ifndef COIL_TESTS_NET_SOCKETS_H
#define COIL_TESTS_NET_SOCKETS_H

#include <coil.h>

/* Make the two ends of a TCP connection over loopback. Both are blocking. */
void make_tcp_pair(int fds[2]);

/* Make a TCP connection whose ends are two streams, or a stream and a descriptor. */
void make_stream_pair(coil_stream *ends[2]);
coil_stream *make_stream_and_peer(int *peer);

/*
 * Connect two streams, the client's first. A NET_TEST may call this function, because it
 * uses only coil_listen(), coil_connect() and coil_accept().
 */
void connect_streams(coil_stream *ends[2]);

void destroy_streams(coil_stream *ends[2]);

/* Write the text to one stream, and read it from the other. */
void check_talk(coil_stream *from, coil_stream *to, const char *text);

/* A handler for a server that sends all received bytes back. */
int echo_all(coil_stream *stream, void *unused);

/*
 * Return a port of 127.0.0.1 that refuses connections. The port is reserved until *fd is
 * closed.
 */
unsigned take_refusing_port(int *fd);

/* Let the other tasks run until all of them wait. */
void settle(void);

/*
 * Wait until the task ends, and release it. The task's result must be 0, or -ECANCELED if
 * its cancellation was delivered.
 */
void finish(coil_task *task);
void finish_cancelled(coil_task *task);

/* Return byte i of a pattern with a long period. */
unsigned char pattern_byte(size_t i);

/*
 * Allow `more` descriptors in addition to those that are open. Returns the previous
 * limit.
 */
int limit_descriptors(int more);
void restore_descriptors(int limit);

#endif
