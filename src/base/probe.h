/*
 * probe.h - static probes (USDT) for bpftrace, SystemTap and perf. The build option
 * -Dusdt=true enables these probes.
 *
 * A probe is a nop instruction, and a note in the ELF file that contains its address and
 * arguments. docs/manual/trace.md lists the probes.
 */
#ifndef COIL_BASE_PROBE_H
#define COIL_BASE_PROBE_H

#ifndef COIL__USDT
#define COIL__USDT 0
#endif

#if COIL__USDT
#include <sys/sdt.h>
#define COIL__PROBE(name) DTRACE_PROBE(coil, name)
#define COIL__PROBE1(name, a) DTRACE_PROBE1(coil, name, a)
#define COIL__PROBE2(name, a, b) DTRACE_PROBE2(coil, name, a, b)
#else
#define COIL__PROBE(name) ((void)0)
#define COIL__PROBE1(name, a) ((void)0)
#define COIL__PROBE2(name, a, b) ((void)0)
#endif

#endif
