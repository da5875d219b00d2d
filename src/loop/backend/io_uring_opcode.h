/*
 * io_uring_opcode.h (internal) - io_uring's operation codes.
 *
 * The numbers belong to the kernel's stable ABI, whose headers may not be installed. A
 * build with liburing checks the numbers (io_uring_entry.c).
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_OPCODE_H
#define COIL_LOOP_BACKEND_IO_URING_OPCODE_H

/* clang-format off */
#define COIL__URING_OPCODES(X)                                                           \
    X(NOP, 0) X(FSYNC, 3) X(POLL_ADD, 6) X(FALLOCATE, 17) X(OPENAT, 18) X(CLOSE, 19)     \
    X(STATX, 21) X(READ, 22) X(WRITE, 23) X(SPLICE, 30) X(RENAMEAT, 35) X(UNLINKAT, 36)  \
    X(MKDIRAT, 37) X(SYMLINKAT, 38) X(LINKAT, 39)

enum coil__uring_opcode {
#define COIL__URING_OPCODE(name, number) COIL__URING_##name = (number),
    COIL__URING_OPCODES(COIL__URING_OPCODE)
#undef COIL__URING_OPCODE
    COIL__URING_FTRUNCATE = 55 /* since Linux 6.9, so the headers may lack it */
};
/* clang-format on */

#endif
