/*
 * processors.h (internal) - how many processors there are for us.
 */
#ifndef COIL_BASE_PROCESSORS_H
#define COIL_BASE_PROCESSORS_H

/* See coil_processor_count() in coil/threads.h. */
unsigned coil__processor_count(void);

/*
 * How many processors the line of a cpu.max file is worth, rounded up: "150000 100000" is
 * 2. 0: no limit ("max 100000"), or nothing that can be understood.
 */
unsigned coil__processors_of_quota(const char *line);

#endif
