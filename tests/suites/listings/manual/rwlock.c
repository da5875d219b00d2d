/* rwlock.c - compiles and runs the examples in docs/manual/rwlock.md. */
#include "listings.h"

static struct {
    size_t count, row_bytes;
    const char *rows[2];
} table = {2, 3, {"ab\n", "cd\n"}};

#include "rwlock.md/read-write-locks"

static int app(void *arg)
{
    coil_stream *ends[2];
    char bytes[6];

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    CHECK(send_table(ends[0]) == 0);
    CHECK(!coil_rwlock_locked(&lock));
    CHECK(coil_read_exact(ends[1], bytes, 6) == 6 && memcmp(bytes, "ab\ncd\n", 6) == 0);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
