/*
 * children.h - functions shared by the tests of processes.
 */
#ifndef COIL_TESTS_NET_CHILDREN_H
#define COIL_TESTS_NET_CHILDREN_H

#include <coil.h>

/*
 * Start a process, or `sh -c command`, which must succeed. Skips the test if there are no
 * pidfds, as under Valgrind.
 */
coil_process *start_process(const coil_process_opts *opts);
coil_process *start_command(const char *command, const coil_process_opts *opts);

/* Like start_command(), but with the given stdin, stdout and stderr. */
coil_process *start_shell(const char *command, int in, int out, int err);

/*
 * Return the output of a process as text, after checking its exit status and destroying
 * it.
 */
const char *output_of(coil_process *process, int status);
const char *shell_output(const char *command, int status);

/* Wait until this process has no children any more, not even zombies. */
void wait_for_no_children(void);

/* Read a line of the child's output. */
void read_line(coil_stream *stream, char *line, size_t size);

#endif
