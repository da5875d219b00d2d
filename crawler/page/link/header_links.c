/*
 * header_links.c - see header_links.h. (RFC 8288, appendix B)
 */
#include "header_links.h"

#include "link_visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANK " \t"

static char *skip_blank(char *s)
{
    return s + strspn(s, BLANK);
}

/* ---- parameters -------------------------------------------------------------------- */

/* Read a quoted string and decode it in place. Returns the address after it. (B.4) */
static char *read_quoted(char *s, char **value)
{
    char *to = ++s;

    *value = to;
    while (*s != '\0' && *s != '"') {
        s += s[0] == '\\' && s[1] != '\0';
        *to++ = *s++;
    }
    s += *s == '"';
    *to = '\0';
    return s;
}

/*
 * Read a value after '='. If the value is not NUL-terminated yet, the caller must write a
 * NUL at *end. Otherwise, *end is set to NULL.
 */
static char *read_value(char *s, char **value, char **end)
{
    *end = NULL;
    if (*s == '"')
        return read_quoted(s, value);
    *value = s;
    s += strcspn(s, ";,");
    for (*end = s; *end > *value && strchr(BLANK, (*end)[-1]) != NULL;)
        --*end;
    return s;
}

/*
 * Read the parameters after "<...>", and return the address after them. Stores the value
 * of the first `rel`, or NULL, in *relations. (B.3)
 */
static char *read_parameters(char *s, char **relations)
{
    char *ends = NULL; /* where to write the NUL after the value of `rel` */

    *relations = NULL;
    for (s = skip_blank(s); *s == ';'; s = skip_blank(s)) {
        char *name = skip_blank(s + 1), *value = NULL, *end = NULL;
        size_t n = strcspn(name, BLANK "=;,");

        s = skip_blank(name + n);
        if (*s == '=')
            s = read_value(skip_blank(s + 1), &value, &end);
        if (n == 3 && strncasecmp(name, "rel", 3) == 0 && value != NULL &&
            *relations == NULL) {
            *relations = value;
            ends = end;
        }
    }
    s += strcspn(s, ","); /* skip malformed text */
    s += *s == ',';
    if (ends != NULL)
        *ends = '\0';
    return s;
}

/* ---- headers ----------------------------------------------------------------------- */

static int visit_links(struct link_visit *visit, char *s)
{
    int rc = 0;

    while (rc == 0 && *(s += strspn(s, "," BLANK)) == '<') {
        char *target = s + 1, *relations;
        size_t n = strcspn(target, ">");

        if (target[n] == '\0')
            break;
        s = read_parameters(target + n + 1, &relations);
        if (relations != NULL && link_relations_of(relations).to_resources > 0)
            rc = link_visit_part(visit, target, n);
    }
    return rc;
}

int header_links_visit(enum header_kind kind, const char *value,
                       links_visit_function function, void *arg)
{
    struct link_visit visit = {
        .function = function,
        .arg = arg,
        .link = {.kind = LINK_OTHER,
                 .has_no_encoding = true,
                 .attribute = kind == HEADER_LINK ? "Link" : "Refresh"}};
    char *copy = strdup(value);
    int rc;

    if (copy == NULL)
        return -ENOMEM;
    rc = kind == HEADER_LINK ? visit_links(&visit, copy)
                             : link_visit_refresh(&visit, copy);
    free(copy);
    return rc;
}
