/*
 * descriptors.h (internal) - descriptors other than files, pipes and sockets: wake-ups,
 * alarms and sets. Also opening a descriptor's file again.
 *
 * All descriptors opened here are close-on-exec. The caller closes such a descriptor with
 * close(2).
 */
#ifndef COIL_KERNEL_DESCRIPTORS_H
#define COIL_KERNEL_DESCRIPTORS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- a wake-up: readable from a post to the next drain ----------------------------- */

/* Open a wake-up descriptor. Returns the descriptor, or a negative errno. */
int coil__wake_fd_open(void);

/*
 * Make the wake-up readable. Async-signal-safe. Returns 0, or a negative errno if the
 * wake-up is not open.
 */
int coil__wake_fd_post(int fd);

/*
 * Make the wake-up unreadable until the next post. Returns 0, with or without an earlier
 * post, or a negative errno if it is not open.
 */
int coil__wake_fd_drain(int fd);

/*
 * False if the wake-up was closed, even if its number now belongs to another file. True
 * if unknown. Used for messages only.
 */
bool coil__wake_fd_is_open(int fd);

/* ---- an alarm: readable once real time has passed ---------------------------------- */

/*
 * Open an alarm that is not set. Returns the descriptor of the alarm, or a negative
 * errno.
 */
int coil__alarm_fd_open(void);

/* Set the alarm to become readable in `delay_ns` > 0. Replaces an earlier setting. */
void coil__alarm_fd_set(int fd, int64_t delay_ns);

/*
 * True if the alarm's time has passed since it was set. After such a call the alarm is
 * unreadable again. Does not wait.
 */
bool coil__alarm_fd_has_rung(int fd);

/* ---- a set: readable while one of its descriptors is ready ------------------------- */

/*
 * Open a set of `n` descriptors, each with its events, as for poll(2). Negative
 * descriptors are omitted, and so are files for which the kernel cannot wait, such as
 * regular files. The array may contain a descriptor twice. Returns the set, or a negative
 * errno.
 */
int coil__poll_set_open(const struct pollfd *fds, nfds_t n);

/* ---- the same pipe or terminal, opened once more ----------------------------------- */

/*
 * True if the descriptor's file can be opened again: not for a socket or a terminal's
 * master.
 */
bool coil__fd_may_reopen(int fd);

/*
 * Open the descriptor's file again, with `flags` as for open(2) and with O_NONBLOCK, so
 * that a FIFO does not wait for its other end. The new descriptor's O_NONBLOCK is
 * independent of fd's. Returns -1 with errno on failure.
 */
int coil__fd_reopen(int fd, int flags);

#endif
