/* retry.c - connect, with up to ten attempts and a pause that doubles. */
#include <coil.h>
#include <stdio.h>

static int connect_patiently(const char *port, coil_stream **out)
{
    int64_t pause = COIL_MSEC(10);
    int rc = -ECONNREFUSED;

    for (int attempt = 0; attempt < 10 && rc == -ECONNREFUSED; attempt++) {
        COIL_WITH_DEADLINE(COIL_SEC(5), rc)
        rc = coil_connect("127.0.0.1", port, out);
        if (rc == -ECONNREFUSED) {
            rc = coil_sleep(pause);
            if (rc < 0)
                return rc;
            rc = -ECONNREFUSED;
            pause *= 2;
        }
    }
    return rc;
}

static int app(void *arg)
{
    COIL_AUTO(coil_stream) stream = NULL;
    int rc = connect_patiently(arg, &stream);

    if (rc == 0)
        puts("connected");
    return rc;
}

int main(int argc, char **argv)
{
    return argc != 2 || coil_run(app, argv[1], NULL) < 0;
}
