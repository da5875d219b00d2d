/*
 * scenarios.h - programs that allocate in other libraries.
 *
 * Each is a main task. It returns 0 when it has got what it wanted, every byte of it;
 * below 0 where a call has failed; 1 if something is wrong without anything having
 * failed.
 */
#ifndef COIL_TESTS_ENOMEM_SCENARIOS_H
#define COIL_TESTS_ENOMEM_SCENARIOS_H

#include <coil.h>

struct scenario {
    const char *name;
    coil_task_fn run;
};

extern const struct scenario scenarios[];
extern const int scenario_count;

/* Who answers, by tests/enomem/run: a folder with server.pem, a port for HTTP and one for
   DNS. */
extern const char *peers_folder, *http_port, *dns_port;

#endif
