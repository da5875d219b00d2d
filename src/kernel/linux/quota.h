/*
 * quota.h (internal) - the processor quota of a control group.
 */
#ifndef COIL_KERNEL_LINUX_QUOTA_H
#define COIL_KERNEL_LINUX_QUOTA_H

/*
 * Return the number of processors that a line of a cpu.max file allows, rounded up: 2 for
 * "150000 100000". 0: no limit ("max 100000"), or an invalid line.
 */
unsigned coil__processors_of_quota(const char *line);

#endif
