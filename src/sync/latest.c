/*
 * latest.c - a variable whose changes tasks can await. (tokio: sync::watch)
 */
#include "waiters.h"

#include <coil/latest.h>

#include <string.h>

/* Abort if the object has no value because it was never initialised or is finished. */
static void check(const coil_latest *latest, const char *caller)
{
    coil__waiters_check(&latest->waiters, caller);
    if (COIL__UNLIKELY(latest->value == NULL))
        coil__misuse("%s: the object is not initialised: call coil_latest_init() first",
                     caller);
}

void coil_latest_init(coil_latest *latest, void *value, size_t bytes)
{
    COIL__REQUIRE(latest, "an object");
    COIL__REQUIRE(value, "memory for a value");
    *latest = (coil_latest)COIL_LATEST_INIT(value, bytes);
    coil__waiters_bind_in_debug_mode(&latest->waiters);
}

void coil_latest_finish(coil_latest *latest)
{
    if (latest == NULL)
        return;
    coil__waiters_finish(&latest->waiters, "coil_latest_finish");
    latest->value = NULL;
}

int coil_latest_set(coil_latest *latest, const void *value)
{
    COIL__REQUIRE(latest, "an object");
    COIL__REQUIRE(value, "a value");
    check(latest, "coil_latest_set");
    if (latest->is_shut_down)
        return coil__failed(-ESHUTDOWN);
    /* `value` may be latest->value itself */
    memmove(latest->value, value, latest->bytes);
    latest->version++;
    coil__waiters_wake_all(&latest->waiters);
    return 0;
}

void coil_latest_get(const coil_latest *latest, void *value)
{
    COIL__REQUIRE(latest, "an object");
    COIL__REQUIRE(value, "memory for a value");
    check(latest, "coil_latest_get");
    memmove(value, latest->value, latest->bytes);
}

int coil_latest_wait(coil_latest *latest, uint64_t *seen, void *value)
{
    COIL__REQUIRE(latest, "an object");
    COIL__REQUIRE(seen, "a number");
    COIL__REQUIRE(value, "memory for a value");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("latest.wait", "coil_latest_wait");
    int rc;

    check(latest, "coil_latest_wait");
    while (*seen == latest->version) {
        if (latest->is_shut_down)
            return coil__failed(-ESHUTDOWN);
        rc = coil__waiters_wait(&latest->waiters, &class, latest);
        if (rc < 0)
            return rc;
    }
    *seen = latest->version;
    coil_latest_get(latest, value);
    return 0;
}

void coil_latest_shutdown(coil_latest *latest)
{
    COIL__REQUIRE(latest, "an object");
    check(latest, "coil_latest_shutdown");
    latest->is_shut_down = true;
    coil__waiters_wake_all(&latest->waiters);
}
