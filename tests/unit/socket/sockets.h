/*
 * sockets.h - helpers for I/O tests: pairs of connected streams, and waiting for tasks.
 */
#ifndef COIL_TESTS_NET_SOCKETS_H
#define COIL_TESTS_NET_SOCKETS_H

#include <coil.h>

/* Make a TCP connection over loopback, with two blocking descriptors. */
void make_tcp_pair(int fds[2]);

/* Make a TCP connection between two streams, or between a stream and a descriptor. */
void make_stream_pair(coil_stream *ends[2]);
coil_stream *make_stream_and_peer(int *peer);

/*
 * Connect two streams; ends[0] is the client. Suitable for a NET_TEST, because this
 * function calls only coil_listen(), coil_connect() and coil_accept().
 */
void connect_streams(coil_stream *ends[2]);

void destroy_streams(coil_stream *ends[2]);

/* Write the text to one stream, and check that it is read from the other. */
void check_talk(coil_stream *from, coil_stream *to, const char *text);

/* A server's handler, which sends all received bytes back. */
int echo_all(coil_stream *stream, void *unused);

/* Return a port of 127.0.0.1 that refuses connections as long as *fd is open. */
unsigned take_refusing_port(int *fd);

/* Let other tasks run until all of them wait. */
void settle(void);

/*
 * Wait until the task ends, and release it. Check that its result is 0 or, for
 * finish_cancelled(), 0 or -ECANCELED.
 */
void finish(coil_task *task);
void finish_cancelled(coil_task *task);

/* Return byte i of a pattern with a long period. */
unsigned char pattern_byte(size_t i);

/*
 * Set the limit so that `more` further descriptors can be opened. Returns the previous
 * limit.
 */
int limit_descriptors(int more);
void restore_descriptors(int limit);

#endif
