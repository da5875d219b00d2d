/*
 * functions.h - the functions that libcoil-posix interposes, grouped by how they wait.
 *
 * scripts/posix-table generates the table in docs/manual/posix.md from this list. The
 * comment before each row contains the source files, the first version with these
 * functions, and the text of the row. The manual omits functions with names that begin
 * with __.
 */
#ifndef POSIX_FUNCTIONS_H
#define POSIX_FUNCTIONS_H

/* clang-format off */
/* suspends: the task waits until it is woken. */
#define POSIX__SUSPENDING(X)                                                             \
    /* plain.c, devices.c, 0.1: A socket is read and written as in the next two rows,    \
       a pipe with `RWF_NOWAIT`. For terminals and FIFOs the task first polls (see       \
       below). For regular files the C library makes the call */                         \
    X(read) X(readv) X(__read_chk) X(write) X(writev) X(eventfd_read) X(eventfd_write)   \
    /* receive.c, 0.1: The call receives with `MSG_DONTWAIT`, and obeys `MSG_WAITALL`    \
       and `SO_RCVTIMEO` */                                                              \
    X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(__recv_chk) X(__recvfrom_chk)           \
    /* send.c, 0.1: The call sends with `MSG_DONTWAIT`, and obeys `SO_SNDTIMEO`. It      \
       sends all bytes, like a blocking call */                                          \
    X(send) X(sendto) X(sendmsg) X(sendmmsg)                                             \
    /* plain.c, 0.1: If the output is a socket or pipe, the call copies with `read` and  \
       `write` */                                                                        \
    X(sendfile) X(sendfile64)                                                            \
    /* connecting.c, 0.1: The call obeys `SO_SNDTIMEO`. See below */                     \
    X(connect)                                                                           \
    /* connecting.c, 0.1: The call obeys `SO_RCVTIMEO`. Any number of tasks may wait on  \
       one listener */                                                                   \
    X(accept) X(accept4)                                                                 \
    /* plain.c, 0.1: With offset -1 the call works like `readv` and `writev`. With       \
       another offset, or with `RWF_NOWAIT`, the C library makes the call */             \
    X(preadv2) X(preadv64v2) X(pwritev2) X(pwritev64v2)                                  \
    /* splicing.c, 0.1: The task waits until both ends are ready. If the output is a     \
       socket, the call transfers 4 KiB at a time */                                     \
    X(splice) X(tee) X(vmsplice)                                                         \
    /* buffered.c, buffered_read.c, 0.1: If the buffer is empty, the call waits like     \
       `read`. See below */                                                              \
    X(fread) X(fread_unlocked) X(__fread_chk) X(__fread_unlocked_chk) X(fgets)           \
    X(fgets_unlocked) X(__fgets_chk) X(__fgets_unlocked_chk) X(fgetc) X(getc)            \
    X(getchar) X(fgetc_unlocked) X(getc_unlocked) X(getchar_unlocked) X(__uflow)         \
    X(__underflow) X(getline) X(getdelim) X(__getdelim) X(scanf) X(fscanf) X(vscanf)     \
    X(vfscanf) X(__isoc99_scanf) X(__isoc99_fscanf) X(__isoc99_vscanf)                   \
    X(__isoc99_vfscanf) X(__isoc23_scanf) X(__isoc23_fscanf) X(__isoc23_vscanf)          \
    X(__isoc23_vfscanf)                                                                  \
    /* buffered_write.c, 0.1: If the buffer is full, the call waits like `write` */      \
    X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts) X(fputc) X(putc)     \
    X(putchar) X(fputc_unlocked) X(putc_unlocked) X(putchar_unlocked) X(__overflow)      \
    X(printf) X(fprintf) X(vprintf) X(vfprintf) X(dprintf) X(vdprintf) X(__printf_chk)   \
    X(__fprintf_chk) X(__vprintf_chk) X(__vfprintf_chk) X(__dprintf_chk)                 \
    X(__vdprintf_chk)                                                                    \
    /* buffered_write.c, 0.1: The call waits like `write`. `fflush(NULL)` flushes only   \
       stdout and stderr without blocking */                                             \
    X(fflush) X(fflush_unlocked) X(fclose)                                               \
    /* buffered.c, 0.1: Both the task and its thread own the lock */                     \
    X(flockfile)                                                                         \
    /* polling.c, selecting.c, 0.1: If the call's signal mask unblocks a blocked signal, \
       this signal ends the wait with EINTR */                                           \
    X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk) X(select) X(pselect)                   \
    /* polling.c, 0.1: The call works like `poll`. It also fails with EINTR if the task  \
       is cancelled: see below */                                                        \
    X(epoll_wait) X(epoll_pwait) X(epoll_pwait2)                                         \
    /* message_queues.c, 0.1: The task polls the descriptor of the POSIX message queue   \
       */                                                                                \
    X(mq_receive) X(mq_timedreceive) X(mq_send) X(mq_timedsend)                          \
    /* sleeping.c, 0.1: The task sleeps on the loop's clock, even if this clock is       \
       virtual */                                                                        \
    X(nanosleep) X(clock_nanosleep) X(usleep) X(sleep)                                   \
    /* sleeping.c, 0.1: The call lets the other tasks run */                             \
    X(sched_yield)                                                                       \
    /* children.c, 0.1: To wait for one particular child, the task uses a pidfd. To wait \
       for any of several children, it polls at intervals */                             \
    X(wait) X(wait3) X(wait4) X(waitpid) X(waitid)                                       \
    /* signals.c, 0.1: The task waits with a signalfd */                                 \
    X(sigwait) X(sigwaitinfo) X(sigtimedwait)                                            \
    /* pausing.c, 0.1: The task waits with a signalfd, also in `sigpause`. See below */  \
    X(pause) X(sigsuspend) X(__xpg_sigpause) X(__sigpause)                               \
    /* locking.c, 0.1: The unlock wakes the task. See below */                           \
    X(pthread_mutex_lock) X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock)              \
    /* locking.c, 0.1: The task wakes at the unlock or at the given time. See below */   \
    X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) X(pthread_rwlock_timedrdlock)  \
    X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockrdlock)                          \
    X(pthread_rwlock_clockwrlock)                                                        \
    /* conditions.c, 0.1: A signal from any thread wakes a task. See below */            \
    X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait)             \
    /* semaphores.c, 0.1: A post wakes the task, even a post in a signal handler */      \
    X(sem_wait) X(sem_timedwait) X(sem_clockwait)                                        \
    /* futex_calls.c, 0.1: The task waits only in `SYS_futex` and similar calls (see     \
       below). All other numbers are passed on unchanged */                              \
    X(syscall)                                                                           \
    /* once.c, 0.1: The routine runs in the first task that calls, and may suspend that  \
       task. The other tasks are woken when the routine has ended. See below */          \
    X(pthread_once) X(call_once)                                                         \
    /* c11.c, 0.1: These calls work like the POSIX functions */                          \
    X(mtx_lock) X(mtx_timedlock) X(cnd_wait) X(cnd_timedwait) X(thrd_sleep)              \
    X(thrd_yield)

/* by a module: a name service module suspends the task while it queries a server. */
#define POSIX__BY_MODULES(X)                                                             \
    /* name_service.c, 0.1: The calls suspend if the name service queries a server. Most \
       of them run in one task at a time. See below */                                   \
    X(getpwnam) X(getpwuid) X(getpwent) X(getpwent_r) X(setpwent) X(endpwent)            \
    X(fgetpwent) X(getpwnam_r) X(getpwuid_r) X(getgrnam) X(getgrgid) X(getgrent)         \
    X(getgrent_r) X(setgrent) X(endgrent) X(fgetgrent) X(getgrnam_r) X(getgrgid_r)       \
    X(initgroups) X(getgrouplist) X(getspnam) X(getspent) X(getspent_r) X(setspent)      \
    X(endspent) X(fgetspent) X(getspnam_r) X(getsgnam) X(getsgent) X(getsgent_r)         \
    X(setsgent) X(endsgent) X(fgetsgent) X(getsgnam_r) X(getservbyname)                  \
    X(getservbyport) X(getservent) X(getservent_r) X(setservent) X(endservent)           \
    X(getservbyname_r) X(getservbyport_r) X(getprotobyname) X(getprotobynumber)          \
    X(getprotoent) X(getprotoent_r) X(setprotoent) X(endprotoent) X(getprotobyname_r)    \
    X(getprotobynumber_r) X(getrpcbyname) X(getrpcbynumber) X(getrpcent)                 \
    X(getrpcent_r) X(setrpcent) X(endrpcent) X(getrpcbyname_r) X(getrpcbynumber_r)       \
    X(gethostent) X(gethostent_r) X(sethostent) X(endhostent) X(getnetbyname)            \
    X(getnetbyaddr) X(getnetent) X(getnetent_r) X(setnetent) X(endnetent)                \
    X(getnetbyname_r) X(getnetbyaddr_r) X(ether_hostton) X(ether_ntohost)                \
    X(getaliasbyname) X(getaliasent) X(getaliasent_r) X(setaliasent) X(endaliasent)      \
    X(getaliasbyname_r) X(setnetgrent) X(endnetgrent) X(getnetgrent) X(getnetgrent_r)    \
    X(innetgr)

/* on a thread: the C library's function runs on another thread, and the task waits. */
#define POSIX__ON_LANES(X)                                                               \
    /* syncing.c, 0.1: A thread of the file lane makes the call */                       \
    X(fsync) X(fdatasync) X(sync) X(syncfs) X(sync_file_range) X(msync)                  \
    /* lookup.c, 0.1: The C library's function runs on a thread of the dns lane, with a  \
       copy of the caller's `_res`. For a numeric address, and with `NI_NUMERICHOST`, it \
       is called at once */                                                              \
    X(getaddrinfo) X(getnameinfo)                                                        \
    /* lookup.c, 0.1: The call works like `getaddrinfo`, but always on a thread */       \
    X(gethostbyname) X(gethostbyname2) X(gethostbyaddr) X(gethostbyname_r)               \
    X(gethostbyname2_r) X(gethostbyaddr_r)                                               \
    /* resolving.c, 0.1: A thread of the dns lane makes the call, with a copy of the     \
       state (the caller's `_res`) and without `RES_STAYOPEN` */                         \
    X(res_query) X(res_search) X(res_querydomain) X(res_send) X(res_nquery)              \
    X(res_nsearch) X(res_nquerydomain) X(res_nsend)                                      \
    /* joining.c, c11.c, 0.1: A separate thread joins, so the task wakes when the joined \
       thread ends. See below */                                                         \
    X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np) X(thrd_join)         \
    /* children.c, buffered_write.c, 0.1: A separate thread makes the call */            \
    X(system) X(pclose)                                                                  \
    /* children.c, 0.1: A separate thread makes the call if it may run a command */      \
    X(wordexp)                                                                           \
    /* barriers.c, 0.1: Each waiting task has a separate thread that waits in its place. \
       Tasks and threads can use the same barrier */                                     \
    X(pthread_barrier_wait)                                                              \
    /* draining.c, 0.1: A separate thread waits until all bytes are sent. For            \
       `tcsetattr` this is done only with `TCSADRAIN` or `TCSAFLUSH` */                  \
    X(tcdrain) X(tcsendbreak) X(tcsetattr)

/* at intervals: the task sleeps between two attempts. */
#define POSIX__AT_INTERVALS(X)                                                           \
    /* opening.c, 0.1: For a FIFO, the task checks whether its other end is open */      \
    X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) X(__open_2)              \
    X(__open64_2) X(__openat_2) X(__openat64_2) X(fopen) X(fopen64)                      \
    /* messages.c, 0.1: The task tries the call with `IPC_NOWAIT` */                     \
    X(msgrcv) X(msgsnd) X(semop) X(semtimedop)                                           \
    /* aio.c, 0.1: The task checks the asynchronous I/O of the C library's threads;      \
       `lio_listio` waits only with `LIO_WAIT` */                                        \
    X(aio_suspend) X(aio_suspend64) X(lio_listio) X(lio_listio64)                        \
    /* lookup_requests.c, 0.1: The task checks the look-ups of the C library's threads;  \
       `getaddrinfo_a` waits only with `GAI_WAIT` */                                     \
    X(gai_suspend) X(getaddrinfo_a)                                                      \
    /* file_lock.c, 0.1: The task tries to lock the file (`F_SETLKW`, `F_OFD_SETLKW`) */ \
    X(flock) X(lockf) X(lockf64) X(fcntl) X(fcntl64)

/* never waits: interposed because the call may end the wait of a task. */
#define POSIX__NEVER_WAITING(X)                                                          \
    /* plain.c, 0.1: If tasks wait for the descriptor, their waits fail with EBADF */    \
    X(close) X(dup2) X(dup3)                                                             \
    /* buffered.c, 0.1: Both the task and its thread own the lock */                     \
    X(ftrylockfile) X(funlockfile)                                                       \
    /* locking.c, c11.c, 0.1: An unlock wakes a waiting task */                          \
    X(pthread_mutex_trylock) X(pthread_mutex_unlock) X(pthread_rwlock_trywrlock)         \
    X(pthread_rwlock_unlock) X(mtx_trylock) X(mtx_unlock)                                \
    /* conditions.c, semaphores.c, c11.c, 0.1: The call wakes a task or a thread */      \
    X(pthread_cond_signal) X(pthread_cond_broadcast) X(cnd_signal) X(cnd_broadcast)      \
    X(sem_post)                                                                          \
    /* children.c, 0.1: Calls in such a child never suspend the parent's task */         \
    X(vfork) X(_Fork)                                                                    \
    /* keys.c, thread_locals.c, 0.1: The calls are recorded for                          \
       `coil_hooks_thread_keys()` and `coil_hooks_thread_locals()` */                    \
    X(pthread_key_create) X(pthread_key_delete) X(__cxa_thread_atexit_impl)

#define POSIX__FUNCTIONS(X)                                                              \
    POSIX__SUSPENDING(X) POSIX__BY_MODULES(X) POSIX__ON_LANES(X)                         \
    POSIX__AT_INTERVALS(X) POSIX__NEVER_WAITING(X)

/* blocks: if such a call waits, it blocks all tasks of the thread. Not interposed. */
#define POSIX__BLOCKING(X)                                                               \
    /* the C library: Some commands wait, for example commands for terminals and drives  \
       */                                                                                \
    X(ioctl)                                                                             \
    /* the C library: These calls use FILEs of wide characters */                        \
    X(fgetwc) X(getwc) X(getwchar) X(fgetws) X(fputwc) X(putwc) X(putwchar) X(fputws)    \
    X(wprintf) X(fwprintf) X(vwprintf) X(vfwprintf) X(wscanf) X(fwscanf) X(vwscanf)      \
    X(vfwscanf)                                                                          \
    /* the C library: These calls block if they have to read or to flush. `freopen` of a \
       FIFO, and `fopen` of a FIFO with `,ccs=`, block until its other end is open */    \
    X(getw) X(putw) X(gets) X(freopen) X(fseek) X(fseeko) X(fsetpos) X(rewind)           \
    /* the C library: These calls block while standard error, or the socket of the log,  \
       does not accept more bytes */                                                     \
    X(perror) X(psignal) X(psiginfo) X(fmtmsg) X(getopt) X(err) X(errx) X(warn) X(warnx) \
    X(syslog) X(vsyslog)                                                                 \
    /* the C library: The call blocks if the name service queries a server for hosts */  \
    X(gethostid)                                                                         \
    /* the C library: These calls block while another process has locked the list of     \
       logins */                                                                         \
    X(pututxline) X(getutxent) X(getutxid) X(getutxline)                                 \
    /* the C library: For regular files, these calls block until the disk access is      \
       complete */                                                                       \
    X(pread) X(pwrite) X(preadv) X(pwritev) X(pread64) X(pwrite64) X(preadv64)           \
    X(pwritev64) X(copy_file_range) X(fallocate) X(posix_fallocate) X(ftruncate)
/* clang-format on */

#endif
