/* executor.c - compiles and runs the examples in include/coil/executor.h. */
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

#include "executor.h/1"

static int make_thumbnail(void *picture)
{
    *(int *)picture = 1;
    return 0;
}

static int app(void *arg)
{
    struct file file = {"\1\2\3", 3, 0};
    int rc, picture = 0;

    (void)arg;
#include "executor.h/2"
    CHECK(rc == 0 && file.sum == 6);
#include "executor.h/3"
    CHECK(rc == 0 && picture == 1);
    coil_executor_destroy(thumbnails);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
