/*
 * coil/network.h - a network inside the process, for tests of programs.
 *
 *     for (uint64_t seed = 1; seed <= 1000; seed++) {
 *         coil_network_opts opts = coil_network_hostile(seed);
 *
 *         coil_testing_network(&opts);
 *         rc = coil_testing_run(test_of_client_and_server, NULL);
 *         if (rc < 0)
 *             printf("seed %llu: %s\n", (unsigned long long)seed, strerror(-rc));
 *     }
 *
 * Sockets that coil_listen(), coil_connect() and their like then open are not the
 * kernel's: their bytes go through queues in memory, and arrive late, in pieces, or not
 * at all, as a seeded random number generator decides. The program under test needs no
 * change. Under a virtual clock, coil_testing_run(), waiting takes no time, a task that
 * waits for ever is reported (-EDEADLK), and the same seed gives the same run: the same
 * bytes in the same pieces at the same nanosecond, on every machine.
 *
 * These functions are in libcoil-testing, as those of coil/testing.h are.
 *
 * WHAT THERE IS. TCP and UDP over IPv4 and IPv6, as Linux does them: refused connections,
 * backlogs, half-closes, resets, full buffers, ICMP answers to datagrams. Every address
 * is in this network, and only the program's own listeners are there; a network belongs
 * to one loop. Descriptors (coil_stream_fd()) name streams as usual, but mean nothing to
 * the kernel. Names are looked up as usual; numeric addresses, "127.0.0.1", need no
 * look-up.
 *
 * WHAT THERE IS NOT. Sockets that the program opens by socket(2), pipes, local sockets
 * and files stay the kernel's: the backend "simulated" waits for them by poll(2). There
 * is no congestion control, no urgent data, and no TIME_WAIT: a port is free at once.
 */
#ifndef COIL_NETWORK_H
#define COIL_NETWORK_H

#include <coil/base.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How the network behaves. Zeroes mean a quick and quiet one. `x_ppm` is how often
 * something happens, in a million times; pairs are a range, from and to.
 */
typedef struct coil_network_opts {
    uint64_t seed; /* of all that is left to chance */
    /*
     * How long a packet takes. Each draws its own time; those of a connection arrive in
     * order, all others as they may. What is due at the same time happens in random
     * order.
     */
    int64_t latency_ns[2];
    int64_t bytes_per_second; /* of each connection, each way; 0: no limit */
    /* What the ends of a connection hold before a writer waits; 0: 64 KiB each. Less
       than 256 count as 256. */
    size_t send_buffer_bytes, receive_buffer_bytes;
    size_t segment_bytes; /* of data in one packet of a connection, at most; 0: 16 KiB */
    size_t socket_limit;  /* more are -EMFILE; 0: no limit */

    unsigned short_ppm; /* a read or write moves less than it could */
    unsigned late_ppm;  /* a call that need not wait waits, up to latency_ns[1] */

    unsigned refuse_ppm;       /* a connection is refused */
    unsigned accept_abort_ppm; /* -ECONNABORTED from accept: the connection is gone */
    unsigned accept_limit_ppm; /* -EMFILE from accept: the connection waits */
    unsigned reset_ppm;        /* a packet of data is lost, and its connection with it */
    /* A packet's destination is cut off as by coil_network_cut(), for this time. */
    unsigned cut_ppm;
    int64_t cut_ns[2];

    unsigned loss_ppm, duplicate_ppm; /* of datagrams */

    FILE
        *log; /* a line for each packet that arrives or does not; NULL: none. Borrowed. */
} coil_network_opts;

/*
 * Presets, to be changed at will. Calm: up to 2 ms of latency, calls that move less than
 * they could or wait without need; no failures. Hostile: small buffers and segments, up
 * to 40 ms of latency, and all of the above.
 */
COIL_API coil_network_opts coil_network_calm(uint64_t seed);
COIL_API coil_network_opts coil_network_hostile(uint64_t seed);

/*
 * Loops that this thread creates from now on have a simulated network, unless another
 * backend than "simulated" is asked for by name. `opts` is copied; NULL: as ever. Without
 * this a loop with the backend "simulated" has a network of zeroes.
 */
COIL_API void coil_testing_network(const coil_network_opts *opts);

/*
 * Cut the address off, "192.0.2.1" or "2001:db8::1", for `for_ns` from now on;
 * COIL_NEVER: until it is called again; 0: no longer. Packets of connections from it and
 * to it are held, and after Linux's times their senders give up: -ETIMEDOUT, for a
 * connection that is not made yet after 127 seconds, for others after 924.6. Datagrams
 * are lost.
 *
 * Of the current loop's network. -EINVAL for what is no address, -ENOTSUP where the loop
 * has no simulated network, -ENOMEM.
 */
COIL_API int coil_network_cut(const char *address, int64_t for_ns);

#ifdef __cplusplus
}
#endif

#endif
