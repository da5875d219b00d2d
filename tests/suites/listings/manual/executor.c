/* executor.c - compiles and runs the examples in docs/manual/executor.md. */
#include "listings.h"

struct file {
    const char *bytes;
    size_t length;
    int sum;
};

static int sum_of(const char *bytes, size_t length)
{
    int sum = 0;

    for (size_t i = 0; i < length; i++)
        sum += bytes[i];
    return sum;
}

#include "executor.md/the-executor-blocking-calls-on-threads"

static int load(void *job)
{
    *(int *)job = 7;
    return 0;
}

static void free_job(void *job)
{
    free(job);
}

static void use(const int *job)
{
    CHECK(*job == 7);
}

static int app(void *arg)
{
    struct file file = {"\1\2\3", 3, 0};
    int *job = calloc(1, sizeof *job), rc;

    (void)arg;
    CHECK(digest_on_a_thread(&file) == 0 && file.sum == 6);
#include "executor.md/cancelling"
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
