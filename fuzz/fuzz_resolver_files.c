/*
 * fuzz_resolver_files.c - checks the parsers of hosts(5) and resolv.conf(5) with any
 * contents.
 *
 * Each word of the hosts file is looked up. A look-up must not fail for another reason
 * than a missing name, and must return addresses only if it succeeds. The options from
 * resolv.conf must be within their bounds.
 */
#include "fuzz.h"

#include "../src/base/base.h"
#include "../src/names/resolver.h"

#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *write_file(const uint8_t *data, size_t n)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    CLAIM(ftruncate(fd, 0) == 0);
    CLAIM(pwrite(fd, data, n, 0) == (ssize_t)n);
    return path;
}

static void look_up(struct coil__hosts *hosts, const char *name)
{
    for (int kind = COIL__ASK_V4; kind <= COIL__ASK_V6; kind++) {
        struct coil__answer answer = {.rc = -EINPROGRESS};
        int rc = coil__hosts_find(hosts, name, (enum coil__question_kind)kind, &answer);

        CLAIM(rc == 0);
        CLAIM(answer.rc == 0 || answer.rc == -EINPROGRESS || answer.rc == -ENOENT);
        CLAIM((answer.rc == 0) == (answer.count > 0));
        coil__free(answer.addresses);
    }
}

/* Look up each word of the file, converted to lower case. */
static void look_up_words(struct coil__hosts *hosts, char *text)
{
    char *rest = NULL;
    int words = 0;

    for (char *c = text; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    for (char *word = strtok_r(text, " \t\r\n#", &rest); word != NULL && words < 100;
         word = strtok_r(NULL, " \t\r\n#", &rest), words++)
        look_up(hosts, word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = write_file(data, size);
    struct coil__hosts *hosts = NULL;
    char *text = fuzz_text(data, size);
    struct coil__resolv_conf conf;
    char name[COIL__SEARCH_NAME];
    unsigned count = 0;

    CLAIM(coil__resolv_conf_read(path, &conf) == 0);
    CLAIM(conf.timeout_ns >= COIL_SEC(1) && conf.timeout_ns <= COIL_SEC(30));
    CLAIM(conf.tries >= 1 && conf.tries <= 5 && conf.dots <= 15);
    while (count < 100 && coil__search_name(&conf, "host", count, name))
        count++;
    CLAIM(count >= 1);
    coil__resolv_conf_finish(&conf);
    CLAIM(coil__hosts_refresh(&hosts, path) == 0);
    look_up(hosts, "localhost");
    look_up_words(hosts, text);
    coil__hosts_destroy(hosts);
    free(text);
    return 0;
}
