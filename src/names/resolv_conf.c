/*
 * resolv_conf.c - how long and how often to ask, as resolv.conf(5) says.
 *
 * c-ares reads all else that stands there. These two options it knows only since 1.23;
 * before, it has names for them that the C library has not (retrans, retry).
 */
#include "resolver.h"

#include "../base/fault.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Defaults and maxima of the C library (RES_TIMEOUT, RES_DFLRETRY). */
#define TIMEOUT 5
#define TIMEOUT_MAX 30
#define TRIES 2
#define TRIES_MAX 5

/* Store the 3 of "timeout:3"; other words change nothing. 0 becomes 1. */
static void take_number(const char *word, const char *option, unsigned max, unsigned *out)
{
    size_t n = strlen(option);
    unsigned long number;

    if (strncmp(word, option, n) != 0 || !isdigit((unsigned char)word[n]))
        return;
    number = strtoul(word + n, NULL, 10);
    *out = number > max ? max : number > 0 ? (unsigned)number : 1;
}

static void take_options(char *words, unsigned *timeout, unsigned *tries)
{
    char *save, *word = strtok_r(words, " \t\n", &save);

    for (; word != NULL; word = strtok_r(NULL, " \t\n", &save)) {
        take_number(word, "timeout:", TIMEOUT_MAX, timeout);
        take_number(word, "attempts:", TRIES_MAX, tries);
    }
}

/* What follows the word "options" in "options timeout:3 rotate"; else NULL. */
static char *options_of(char *line)
{
    static const char keyword[] = "options";
    char *rest = line + sizeof keyword - 1;

    if (strncmp(line, keyword, sizeof keyword - 1) != 0)
        return NULL;
    return *rest == ' ' || *rest == '\t' ? rest : NULL;
}

void coil__resolv_conf_read(const char *path, int64_t *timeout_ns, unsigned *tries)
{
    FILE *file = coil__call_fails(EMFILE, "fopen") ? NULL : fopen(path, "re");
    const char *environment = getenv("RES_OPTIONS");
    unsigned timeout = TIMEOUT;
    char line[512];

    *tries = TRIES;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (options_of(line) != NULL)
            take_options(options_of(line), &timeout, tries);
    if (file != NULL)
        fclose(file);
    if (environment != NULL) {
        snprintf(line, sizeof line, "%s", environment);
        take_options(line, &timeout, tries);
    }
    *timeout_ns = COIL_SEC(timeout);
}
