/*
 * terminal.h (internal) - the transport of a stream on a pseudo-terminal.
 */
#ifndef COIL_OS_TERMINAL_H
#define COIL_OS_TERMINAL_H

#include "../stream/stream.h"

extern const struct coil__transport coil__transport_terminal;

#endif
