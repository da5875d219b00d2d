/*
 * thread.h (internal) - threads' kernel ids and states, waits, and alarms for one thread.
 */
#ifndef COIL_KERNEL_THREAD_H
#define COIL_KERNEL_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Return this thread's id, which is unique in the system while the thread exists.
 * Async-signal-safe.
 */
pid_t coil__thread_id(void);

/* True if this is the thread on which main() was called. Async-signal-safe. */
bool coil__thread_is_main(void);

/*
 * Like coil__thread_id(), but makes no system call in a program that has not started a
 * thread. `pid` is the process's id.
 */
pid_t coil__thread_id_in(pid_t pid);

/* Set this thread's name in top(1) and gdb to the first 15 bytes of `name`. */
void coil__thread_set_name(const char *name);

/*
 * Return this thread's timer slack in ns: the time by which the kernel may prolong its
 * timed waits, such as poll(2), but not io_uring_enter(2).
 */
int64_t coil__thread_timer_slack(void);

/*
 * Send a signal to thread `id` of this process. Returns false if the thread does not
 * exist.
 */
bool coil__thread_signal(pid_t id, int signo);

/*
 * True if /proc shows that thread `id` of this process is sleeping in a system call. In
 * that case, also store the stack pointer and program counter with which it made the
 * call.
 */
bool coil__thread_sleeps_at(pid_t id, uintptr_t *sp, uintptr_t *pc);

/*
 * True if /proc shows that thread `id` of this process is sleeping in futex(2), but not
 * in coil__thread_wait_own(). In that case, also store how often the thread has gone to
 * sleep so far. If this number is unchanged later, the thread is still in the same wait.
 */
bool coil__thread_waits_for_lock(pid_t id, unsigned long *sleeps);

/*
 * True if all other threads of this process are sleeping in futex(2), without a time-out,
 * for a futex of this process, and not in coil__thread_wait_own(). In that case, also
 * store how often all of them together have gone to sleep so far.
 */
bool coil__thread_others_wait_for_locks(unsigned long *sleeps);

/*
 * True if this process has more than `n` threads, not counting the kernel's workers, or
 * if the number is unknown.
 */
bool coil__thread_count_exceeds(unsigned n);

/* True if another thread of this process is running or runnable. */
bool coil__thread_others_run(void);

/*
 * If *word is `value`, block the thread until coil__thread_wake_all() is called for the
 * same word. May also return spuriously.
 */
void coil__thread_wait_while(_Atomic uint32_t *word, uint32_t value);
void coil__thread_wake_all(_Atomic uint32_t *word);

/*
 * Block the thread while *word is `value`, at most until the monotonic clock reads
 * `until` (or later by up to the thread's timer slack). `until` may be COIL_NEVER. A
 * thread or signal handler of this process ends the wait with coil__thread_wake_own()
 * after it has changed the word. A signal whose handler was installed without SA_RESTART
 * also ends the wait.
 */
void coil__thread_wait_own(_Atomic uint32_t *word, uint32_t value, int64_t until);
void coil__thread_wake_own(_Atomic uint32_t *word); /* async-signal-safe */

/* ---- alarms that send a signal to one thread --------------------------------------- */

struct coil__thread_alarm {
    void *timer; /* the kernel's timer id */
};

/*
 * Create an alarm that sends `signo`, with si_code SI_TIMER, to this thread. The alarm is
 * not armed yet. Returns false if the kernel cannot create the alarm.
 */
bool coil__thread_alarm_create(struct coil__thread_alarm *alarm, int signo);

/*
 * Arm the alarm to send its signal once, in `span_ns`, or disarm it if `span_ns` is 0.
 * Async-signal-safe.
 */
void coil__thread_alarm_set(const struct coil__thread_alarm *alarm, int64_t span_ns);

void coil__thread_alarm_destroy(const struct coil__thread_alarm *alarm);

#endif
