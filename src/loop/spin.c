/*
 * spin.c - waits for another thread's post for some microseconds before the loop sleeps.
 *
 * If two threads take turns, such as a task that awaits short calls on another thread,
 * each of them sleeps and is woken once a call. If the threads run on two processors,
 * both processors become idle each time, and waking an idle processor takes up to 30 us,
 * far longer than the call. If both threads spin instead, no processor becomes idle.
 *
 * Spinning wastes processor time if no post comes soon, so a loop learns whether to spin:
 *
 * - It tries for the first time after some waits, so a short program never spins.
 * - After a failure, it skips twice as many waits as after the failure before. In the
 *   end, a loop whose waits are long spins once in 4,096 waits.
 * - On average, a spin must take at most MEAN_MAX. The first ones may take longer, because
 *   the other thread does not spin yet, so its processor must be woken.
 * - A long streak of quick successes makes the loop forget its failures. One success does
 *   not: if both threads share a processor, the kernel may have switched to the other
 *   thread during the spin.
 *
 * docs/decisions/0012 gives the reasons and figures.
 */
#include "spin.h"

#include "../base/base.h"
#include "../kernel/processors.h"

#include <limits.h>

#define SPIN_MAX COIL_USEC(50) /* more than it takes to wake a processor */
#define MEAN_MAX COIL_USEC(10)
#define EXCESS_MAX COIL_USEC(500) /* more time above the mean than this is a failure */
#define LONG_STREAK 256
#define FIRST_TRY 16 /* number of waits before the first try */
#define GAP_MAX 4096
#define LOOKS_PER_READING                                                                \
    16 /* number of looks at the word between readings of the clock */

void coil__spin_init(struct coil__spin *spin)
{
    *spin = (struct coil__spin){.waits_left = FIRST_TRY};
}

/* Pause for some nanoseconds, to save power and to let the other hyper-thread run. */
static inline void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Wait until the word is not 0. Returns how long this took, or -1 after SPIN_MAX. */
static int64_t spin_on(const _Atomic uint32_t *word)
{
    int64_t start = coil__clock_monotonic(), took;

    do {
        for (int looks = 0; looks < LOOKS_PER_READING; looks++) {
            if (atomic_load_explicit(word, memory_order_acquire) != 0)
                return coil__clock_monotonic() - start;
            relax();
        }
        took = coil__clock_monotonic() - start;
    } while (took < SPIN_MAX);
    return -1;
}

static void succeeded(struct coil__spin *spin, int64_t took_ns)
{
    spin->excess_ns += took_ns - MEAN_MAX;
    if (spin->excess_ns < 0)
        spin->excess_ns = 0;
    if (++spin->streak >= LONG_STREAK && spin->excess_ns == 0)
        spin->gap = 1;
}

static void failed(struct coil__spin *spin)
{
    spin->streak = 0;
    spin->excess_ns = 0;
    spin->waits_left = spin->gap;
    if (spin->gap < GAP_MAX)
        spin->gap *= 2;
}

bool coil__spin_wait(struct coil__spin *spin, const _Atomic uint32_t *word,
                     int64_t timeout_ns)
{
    int64_t took_ns;

    if (timeout_ns <= SPIN_MAX)
        return false;
    if (spin->waits_left > 0) {
        spin->waits_left--;
        return false;
    }
    if (spin->gap == 0) { /* this is the first try */
        if (coil__processor_count() == 1) {
            spin->waits_left = UINT_MAX;
            return false;
        }
        spin->gap = 1;
    }
    took_ns = spin_on(word);
    if (took_ns >= 0)
        succeeded(spin, took_ns);
    if (took_ns < 0 || spin->excess_ns > EXCESS_MAX)
        failed(spin);
    return took_ns >= 0;
}
