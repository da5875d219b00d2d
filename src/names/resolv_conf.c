/*
 * resolv_conf.c - reads the options and the search list of resolv.conf(5).
 *
 * c-ares itself reads the servers and all other options. The options `timeout` and
 * `attempts` are read here, because c-ares before 1.23 supports them only under the names
 * `retrans` and `retry`, which the C library does not know. The search list of c-ares is
 * not used: see search.c.
 */
#include "resolver.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The C library's defaults and maxima (RES_TIMEOUT, RES_DFLRETRY, RES_MAXNDOTS). */
#define TIMEOUT 5
#define TIMEOUT_MAX 30
#define TRIES 2
#define TRIES_MAX 5
#define DOTS 1
#define DOTS_MAX 15

/* ---- options ----------------------------------------------------------------------- */

/*
 * If the word is this option and a number, such as "timeout:3", store the number, limited
 * to the range from min to max.
 */
static void take_number(const char *word, const char *option, unsigned min, unsigned max,
                        unsigned *out)
{
    size_t n = strlen(option);
    unsigned long number;

    if (strncmp(word, option, n) != 0 || !isdigit((unsigned char)word[n]))
        return;
    number = strtoul(word + n, NULL, 10);
    *out = number > max ? max : number < min ? min : (unsigned)number;
}

static void take_options(char *words, struct coil__resolv_conf *conf, unsigned *timeout)
{
    char *save, *word = strtok_r(words, " \t\n", &save);

    for (; word != NULL; word = strtok_r(NULL, " \t\n", &save)) {
        take_number(word, "timeout:", 1, TIMEOUT_MAX, timeout);
        take_number(word, "attempts:", 1, TRIES_MAX, &conf->tries);
        take_number(word, "ndots:", 0, DOTS_MAX, &conf->dots);
    }
}

/* ---- the search list --------------------------------------------------------------- */

/* Replace the search list with n bytes of the text, unless n is 0. */
static int take_domains(struct coil__resolv_conf *conf, const char *text, size_t n)
{
    char *domains;

    if (strspn(text, " \t\n") >= n)
        return 0;
    domains = coil__alloc(n + 1);
    if (domains == NULL)
        return -ENOMEM;
    memcpy(domains, text, n);
    domains[n] = '\0';
    coil__free(conf->domains);
    conf->domains = domains;
    return 0;
}

/*
 * Replace the search list with the domain of a "domain" line. The last "search" or
 * "domain" line in the file applies.
 */
static int take_one_domain(struct coil__resolv_conf *conf, const char *text)
{
    text += strspn(text, " \t");
    return take_domains(conf, text, strcspn(text, " \t\n"));
}

/* Set the search list to the default: the domain of this machine's name. */
static int take_domain_of_host(struct coil__resolv_conf *conf)
{
    char name[HOST_NAME_MAX + 1] = "";
    const char *dot;

    if (gethostname(name, sizeof name - 1) < 0)
        return 0;
    dot = strchr(name, '.');
    return dot != NULL ? take_one_domain(conf, dot + 1) : 0;
}

/* ---- the file ---------------------------------------------------------------------- */

/* If the line begins with the keyword, return the text after it; otherwise NULL. */
static char *rest_of(char *line, const char *keyword)
{
    size_t n = strlen(keyword);

    return strncmp(line, keyword, n) == 0 && (line[n] == ' ' || line[n] == '\t')
               ? line + n
               : NULL;
}

static int take_line(struct coil__resolv_conf *conf, char *line, unsigned *timeout)
{
    char *rest = rest_of(line, "options");

    if (rest != NULL) {
        take_options(rest, conf, timeout);
        return 0;
    }
    rest = rest_of(line, "search");
    if (rest != NULL)
        return take_domains(conf, rest, strcspn(rest, "#;\n"));
    rest = rest_of(line, "domain");
    return rest != NULL ? take_one_domain(conf, rest) : 0;
}

static int take_file(struct coil__resolv_conf *conf, const char *path, unsigned *timeout)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file;
    int rc = coil__config_file_open(path, &file);

    while (rc == 0 && file != NULL && getline(&line, &size, file) > 0)
        rc = take_line(conf, line, timeout);
    rc = coil__config_file_close(file, rc);
    free(line);
    return rc;
}

static int take_environment(struct coil__resolv_conf *conf, unsigned *timeout)
{
    const char *options = getenv("RES_OPTIONS"), *domains = getenv("LOCALDOMAIN");
    char words[512];

    if (options != NULL) {
        snprintf(words, sizeof words, "%s", options);
        take_options(words, conf, timeout);
    }
    return domains != NULL ? take_domains(conf, domains, strlen(domains)) : 0;
}

int coil__resolv_conf_read(const char *path, struct coil__resolv_conf *conf)
{
    unsigned timeout = TIMEOUT;
    int rc;

    *conf = (struct coil__resolv_conf){.tries = TRIES, .dots = DOTS};
    rc = take_file(conf, path, &timeout);
    if (rc == 0)
        rc = take_environment(conf, &timeout);
    if (rc == 0 && conf->domains == NULL)
        rc = take_domain_of_host(conf);
    if (rc < 0)
        coil__resolv_conf_finish(conf);
    conf->timeout_ns = COIL_SEC(timeout);
    return rc;
}

void coil__resolv_conf_finish(struct coil__resolv_conf *conf)
{
    coil__free(conf->domains);
    conf->domains = NULL;
}
