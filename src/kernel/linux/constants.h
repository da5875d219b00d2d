/*
 * constants.h - kernel constants that the C library's headers might not define, each with
 * the version that added it. Whether the kernel supports them is tested at run time.
 */
#ifndef COIL_KERNEL_LINUX_CONSTANTS_H
#define COIL_KERNEL_LINUX_CONSTANTS_H

#include <sys/mman.h>
#include <sys/wait.h>

/* Linux 6.13: makes accesses to the range fault, and does not split the mapping. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103
#endif

/* Linux 6.14: passed instead of a pidfd, this value refers to the calling thread. */
#define COIL__PIDFD_SELF (-10000)

/* Linux 6.18: write without SIGPIPE. (pwritev2(2), and io_uring's rw_flags) */
#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

/* Linux 5.11: close_range(2) closes the descriptors at the next exec. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

/*
 * Linux 6.9: pidfd_send_signal(2) sends to the process group that the process leads or
 * led.
 */
#define COIL__PIDFD_SIGNAL_PROCESS_GROUP (1u << 2)

/*
 * Linux 5.4: waitid(2) accepts a pidfd. In the C library this constant is an enumerator,
 * which #ifdef cannot test.
 */
#define COIL__P_PIDFD ((idtype_t)3)

#endif
