/*
 * descriptors.h (internal) - special descriptors: wake-ups, alarms, and sets of
 * descriptors; also, opening a descriptor's file again.
 *
 * All special descriptors are close-on-exec. The caller must close them with close(2).
 */
#ifndef COIL_KERNEL_DESCRIPTORS_H
#define COIL_KERNEL_DESCRIPTORS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- wake-ups: readable from a post to the next drain ------------------------------ */

/* Open a wake-up descriptor. Returns the descriptor, or a negative errno. */
int coil__wake_fd_open(void);

/*
 * Make the wake-up readable. Async-signal-safe. Returns 0, or a negative errno if the
 * wake-up is not open.
 */
int coil__wake_fd_post(int fd);

/*
 * Make the wake-up unreadable until the next post. Returns 0 even if nothing was posted,
 * or a negative errno if the wake-up is not open.
 */
int coil__wake_fd_drain(int fd);

/*
 * Check whether the wake-up is open. Returns false if the wake-up was closed, even if its
 * number now belongs to another file, and true if this cannot be determined. Used only
 * for messages.
 */
bool coil__wake_fd_is_open(int fd);

/* ---- alarms: readable once real time has passed ------------------------------------ */

/* Open an alarm that is not set. Returns the alarm's descriptor, or a negative errno. */
int coil__alarm_fd_open(void);

/*
 * Make the alarm readable after `delay_ns`, which is greater than 0. Replaces an earlier
 * setting.
 */
void coil__alarm_fd_set(int fd, int64_t delay_ns);

/*
 * If the alarm's time has passed since it was set, make the alarm unreadable again and
 * return true. Does not wait.
 */
bool coil__alarm_fd_has_rung(int fd);

/* ---- sets: readable while one of their descriptors is ready ------------------------ */

/*
 * Open a set of `n` descriptors, each with its events, as for poll(2). The set omits
 * negative descriptors, and files for which the kernel cannot wait, such as regular
 * files. The array may contain a descriptor twice. Returns the set, or a negative errno.
 */
int coil__poll_set_open(const struct pollfd *fds, nfds_t n);

/* ---- opening a pipe or a terminal again -------------------------------------------- */

/*
 * True if the descriptor's file can be opened again, unlike a socket or a terminal's
 * master.
 */
bool coil__fd_may_reopen(int fd);

/*
 * Open the descriptor's file again, with the flags of open(2) in `flags`, and with
 * O_NONBLOCK, so that opening a FIFO does not wait for its other end. O_NONBLOCK can be
 * set or cleared on the new descriptor without affecting fd. On failure, returns -1 with
 * errno set.
 */
int coil__fd_reopen(int fd, int flags);

#endif
