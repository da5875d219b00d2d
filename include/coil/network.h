/*
 * coil/network.h - a simulated network inside the process, for tests of programs.
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
 * After coil_testing_network(), the sockets that coil_listen(), coil_connect() and
 * similar functions open do not use the kernel's network. Their bytes go through queues
 * in memory, and a seeded random number generator decides whether bytes arrive late, in
 * pieces, or not at all. The program under test needs no change.
 *
 * Run tests on a virtual clock, with coil_testing_run(). With this clock, waiting takes
 * no time, and a task that would wait forever is reported (-EDEADLK). The same seed gives
 * the same run on every machine: the same bytes arrive in the same pieces at the same
 * nanosecond.
 *
 * These functions are in libcoil-testing, like the functions of coil/testing.h.
 *
 * INCLUDED. The network simulates TCP and UDP over IPv4 and IPv6, with Linux's behaviour:
 * refused connections, backlogs, half-closes, resets, full buffers, ICMP answers to
 * datagrams. Every address exists in this network, but only the program's own listeners
 * answer. A network belongs to one loop. coil_stream_fd() returns a number that
 * identifies the stream, but is not a descriptor of the kernel. Names are looked up
 * outside the simulated network, as usual; numeric addresses, such as "127.0.0.1", need
 * no lookup.
 *
 * NOT INCLUDED. Sockets that the program opens with socket(2), pipes, local sockets and
 * files still belong to the kernel; the "simulated" backend waits for them with poll(2).
 * The network does not simulate congestion control, urgent data or TIME_WAIT: a port is
 * free immediately.
 */
#ifndef COIL_NETWORK_H
#define COIL_NETWORK_H

#include <coil/base.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The behaviour of the network. Zeroes mean a fast network without failures. A member
 * `..._ppm` is the probability of an event, in millionths. A member that is an array of
 * two holds a range: the minimum and the maximum.
 */
typedef struct coil_network_opts {
    uint64_t seed; /* seed of all random decisions */
    /*
     * The latency of packets, chosen at random for each packet. Packets of one connection
     * arrive in order, other packets in any order. If two packets are due at the same
     * time, their order is random.
     */
    int64_t latency_ns[2];
    int64_t bytes_per_second; /* limit per connection and direction; 0: no limit */
    /*
     * The sizes of a connection's buffers; a writer waits while they are full. 0 means 64
     * KiB each; values below 256 mean 256.
     */
    size_t send_buffer_bytes, receive_buffer_bytes;
    size_t segment_bytes; /* maximum data in one packet of a connection; 0: 16 KiB */
    size_t socket_limit;  /* maximum number of sockets (-EMFILE); 0: no limit */

    unsigned short_ppm; /* a read or write transfers fewer bytes than it could */
    unsigned late_ppm;  /* a call waits unnecessarily, for up to latency_ns[1] */

    unsigned refuse_ppm; /* a connection is refused */
    /* accept fails with -ECONNABORTED and drops the connection */
    unsigned accept_abort_ppm;
    /* accept fails with -EMFILE; the connection stays queued */
    unsigned accept_limit_ppm;
    unsigned reset_ppm; /* a data packet is lost, and its connection is reset */
    /*
     * A packet's destination is cut off, as by coil_network_cut(), for a random time
     * within the range cut_ns.
     */
    unsigned cut_ppm;
    int64_t cut_ns[2];

    unsigned loss_ppm, duplicate_ppm; /* of datagrams */

    FILE
        /* receives a line for each packet, lost packets included; or NULL. Borrowed. */
        *log;
} coil_network_opts;

/*
 * Return preset options, which the caller may change.
 *
 * The calm network has up to 2 ms of latency, and no failures, but calls may transfer
 * less than they could or wait unnecessarily. The hostile network has small buffers and
 * segments, up to 40 ms of latency, and all events of coil_network_opts.
 */
COIL_API coil_network_opts coil_network_calm(uint64_t seed);
COIL_API coil_network_opts coil_network_hostile(uint64_t seed);

/*
 * Use a simulated network in the loops that this thread creates from now on, except loops
 * that specify a backend other than "simulated".
 *
 * `opts` is copied; NULL switches the simulation off for later loops. Without this call,
 * a loop with the backend "simulated" has a network whose options are all zero.
 */
COIL_API void coil_testing_network(const coil_network_opts *opts);

/*
 * Cut off an address, such as "192.0.2.1" or "2001:db8::1", in the current loop's network
 * for `for_ns` from now on. COIL_NEVER means until the next call; 0 ends the cut.
 *
 * Packets of connections from and to the address are held. The senders fail with
 * -ETIMEDOUT after the same time as on Linux: after 127 seconds if the connection is not
 * established yet, otherwise after 924.6 seconds. Datagrams are lost. Fails with -EINVAL
 * for an invalid address, -ENOTSUP if the loop's network is not simulated, or -ENOMEM.
 */
COIL_API int coil_network_cut(const char *address, int64_t for_ns);

#ifdef __cplusplus
}
#endif

#endif
