/*
 * quota.h (internal) - the processor quota of a control group.
 */
#ifndef COIL_KERNEL_LINUX_QUOTA_H
#define COIL_KERNEL_LINUX_QUOTA_H

/*
 * Return the number of processors that a line of a cpu.max file allows, rounded up, such
 * as 2 for "150000 100000". Returns 0 if there is no limit ("max 100000"), or if the line
 * is invalid.
 */
unsigned coil__processors_of_quota(const char *line);

#endif
