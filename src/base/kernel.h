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

#endif
