/*
 * scenarios.h - scenarios in which third-party libraries allocate memory.
 *
 * Each scenario is the function of a main task. The function returns 0 if it received all
 * bytes, a negative errno if a call failed, or 1 if the result is wrong although no call
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

/*
 * The folder with server.pem, and the ports of the HTTP server and the DNS server that
 * tests/suites/enomem/run started.
 */
extern const char *peers_folder, *http_port, *dns_port;

#endif
