/*
 * scenarios.h - programs that allocate memory in third-party libraries.
 *
 * Each program is a main task. The task returns 0 if it received all bytes, a negative
 * errno if a call failed, or 1 if the result is wrong although no call failed.
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
 * The servers that tests/suites/enomem/run started: a folder with server.pem, an HTTP
 * port and a DNS port.
 */
extern const char *peers_folder, *http_port, *dns_port;

#endif
