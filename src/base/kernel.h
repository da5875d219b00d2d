/*
 * kernel.h - what the kernel has and the C library's headers may lack, each with the
 * version that brought it. Whether it is there is asked at run time.
 */
#ifndef COIL_BASE_KERNEL_H
#define COIL_BASE_KERNEL_H

#include <sys/mman.h>
#include <sys/wait.h>

/* Linux 6.13: access to the range faults, without splitting the mapping. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Linux 6.18: write without SIGPIPE. (pwritev2(2), and io_uring's rw_flags) */
#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

/* Linux 6.9: an operation of io_uring's. */
#define COIL__IORING_OP_FTRUNCATE 55

/* Linux 5.11: close_range(2) does so at the next exec. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

/* Linux 5.4: waitid(2) takes a pidfd. In the C library it is no macro to ask for. */
#define COIL__P_PIDFD ((idtype_t)3)
/* Linux 6.9: an operation of io_uring's. */
#define COIL__IORING_OP_FTRUNCATE 55

#endif
