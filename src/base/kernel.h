/*
 * kernel.h - what the kernel has and the C library's headers may lack, each with the
 * version that brought it. Whether it is there is asked at run time.
 */
#ifndef COIL_BASE_KERNEL_H
#define COIL_BASE_KERNEL_H

#include <sys/mman.h>

/* Linux 6.13: access to the range faults, without splitting the mapping. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Linux 6.18: write without SIGPIPE. (pwritev2(2), and io_uring's rw_flags) */
#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

/* Linux 6.6: there is no array between the queue's ring and its entries. Not asked for
   here, but newer libraries do by themselves. */
#define COIL__IORING_SETUP_NO_SQARRAY (1u << 16)

#endif
