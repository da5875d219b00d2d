/* flood.c - see flood.h. */
#include "flood.h"

#include "../../harness/harness.h"
#include "../socket/sockets.h"

int flood_out(void *arg)
{
    struct flood *f = arg;
    unsigned char *bytes = malloc(f->bytes);

    for (size_t i = 0; i < f->bytes; i++)
        bytes[i] = pattern_byte(i);
    CHECK_INT(coil_write(f->stream, bytes, f->bytes), f->bytes);
    CHECK_INT(coil_stream_write_transferred(f->stream), f->bytes);
    CHECK_INT(coil_stream_shutdown_write(f->stream), 0);
    free(bytes);
    return 0;
}

int flood_in(void *arg)
{
    struct flood *f = arg;
    unsigned char buf[10007];
    ssize_t n;

    while ((n = coil_read(f->stream, buf, sizeof buf)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            f->wrong += buf[i] != pattern_byte(f->received + (size_t)i);
        f->received += (size_t)n;
        if (f->slow && f->received / 500000 != (f->received - (size_t)n) / 500000)
            coil_sleep(COIL_MSEC(2));
    }
    return (int)n;
}

void check_floods_both_ways(coil_stream *ends[2], size_t bytes)
{
    struct flood floods[2];
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < 2; i++) {
        floods[i] = (struct flood){.stream = ends[i], .bytes = bytes, .slow = i == 0};
        CHECK_INT(coil_group_spawn(&g, flood_out, &floods[i], NULL, NULL), 0);
        CHECK_INT(coil_group_spawn(&g, flood_in, &floods[i], NULL, NULL), 0);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(floods[i].received, bytes);
        CHECK_INT(floods[i].wrong, 0);
    }
}
