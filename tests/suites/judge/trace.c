/*
 * trace.c - prints the trace of coil-judge.
 */
#include "judge.h"

#include <stdarg.h>

static const struct {
    int rc;
    const char *name;
} names[] = {
    {-ECANCELED, "ECANCELED"},
    {-ETIMEDOUT, "ETIMEDOUT"},
    {-ESHUTDOWN, "ESHUTDOWN"},
    {-EALREADY, "EALREADY"},
    {-EINPROGRESS, "EINPROGRESS"},
    {-EINVAL, "EINVAL"},
    {-EPERM, "EPERM"},
    {-EAGAIN, "EAGAIN"},
    {-EIO, "EIO"},
    {-EPROTO, "EPROTO"},
    {-ENOENT, "ENOENT"},
    {-EPIPE, "EPIPE"},
    {-EOVERFLOW, "EOVERFLOW"},
    {-ENOMEM, "ENOMEM"},
    {ABSENT, "absent"},
    {BUSY, "busy"},
};

struct word word_of(int rc)
{
    struct word word;

    snprintf(word.text, sizeof word.text, "%d", rc);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].rc == rc)
            snprintf(word.text, sizeof word.text, "%s", names[i].name);
    return word;
}

int rc_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].rc;
    return -EINVAL;
}

void trace(const char *who, const char *format, ...)
{
    va_list args;

    printf("%lld %s ", (long long)(coil_now() / TICK), who);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

const char *name_of(const struct body *body)
{
    return coil_task_name(body->task);
}

void add_detail(struct body *body, const char *format, ...)
{
    size_t used = strlen(body->detail);
    va_list args;

    va_start(args, format);
    vsnprintf(body->detail + used, sizeof body->detail - used, format, args);
    va_end(args);
}

void add_states(struct body *body, const int rcs[], size_t n)
{
    add_detail(body, " [");
    for (size_t i = 0; i < n; i++)
        add_detail(body, "%s%s", i > 0 ? " " : "", word_of(rcs[i]).text);
    add_detail(body, "]");
}
