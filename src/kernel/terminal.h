/*
 * terminal.h (internal) - opens and resizes pseudo-terminals.
 */
#ifndef COIL_KERNEL_TERMINAL_H
#define COIL_KERNEL_TERMINAL_H

/*
 * Open a pseudo-terminal. fds[0] is the controlling program's end, which is non-blocking,
 * and fds[1] is the terminal. Both are close-on-exec. Returns 0 or a negative errno.
 */
int coil__terminal_open(int fds[2]);

/*
 * Set the size of the terminal's window, through either end. Returns 0 or a negative
 * errno.
 */
int coil__terminal_resize(int fd, unsigned short rows, unsigned short columns);

#endif
