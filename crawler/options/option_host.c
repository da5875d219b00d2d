/*
 * option_host.c - the setters of options whose values can be limited to one host.
 *
 * A host is stored in normalized form, as in URLs. Its port is stored separately, because
 * URLs do not contain the default port of their scheme.
 */
#include "option_row.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- hosts ------------------------------------------------------------------------- */

/* Return the length of a valid port such as ":8443" at the end of a host, or 0. */
static size_t port_length(const char *text, size_t n, unsigned *port)
{
    size_t digits = 0;
    int64_t number;

    while (digits < n && text[n - digits - 1] >= '0' && text[n - digits - 1] <= '9')
        digits++;
    if (digits == n || text[n - digits - 1] != ':' ||
        !option_read_digits(text + n - digits, digits, &number) || number == 0 ||
        number > 65535)
        return 0;
    *port = (unsigned)number;
    return digits + 1;
}

/*
 * Parse a host such as "example.org", "example.org:8443" or "[::1]:80". Returns 0,
 * -EINVAL or -ENOMEM.
 */
static int read_host(struct options *options, const char *text, size_t n,
                     struct host_name *out)
{
    struct host_name host = {NULL, 0};
    struct whatwg_span span;
    const char *guess;
    char *url;
    int rc;

    n -= text[n - 1] == ']' ? 0 : port_length(text, n, &host.port);
    for (size_t i = 0; i < n; i++)
        if (strchr("/\\?#@ \t", text[i]) != NULL)
            return -EINVAL;
    guess = options_print(options, "http://%.*s/", (int)n, text);
    if (guess == NULL)
        return -ENOMEM;
    rc = url_resolve(NULL, guess, &url);
    if (rc < 0)
        return rc;
    span = url_host_and_port(url);
    if (span.at[span.n - 1] != ']' && memchr(span.at, ':', span.n) != NULL) {
        free(url);
        return -EINVAL; /* no port follows the colon */
    }
    host.name = options_keep(options, span.at, span.n);
    free(url);
    *out = host;
    return host.name != NULL ? 0 : -ENOMEM;
}

/* ---- --header-for ------------------------------------------------------------------ */

/*
 * Return the length of the host before ":HEADER", or 0 if there is none. Examples of
 * hosts: "github.com", "github.com:8443", "[::1]:80".
 */
static size_t host_length(const char *text)
{
    size_t n = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/ \t@");
    size_t digits;

    if (n > strlen(text) || n == 0 || text[n] != ':')
        return 0;
    digits = strspn(text + n + 1, "0123456789");
    if (digits > 0 && text[n + 1 + digits] == ':')
        n += 1 + digits;
    return n;
}

OPTION_SETTER(add_host_header)
{
    struct options *options = source->options;
    size_t n = host_length(value), count = options->host_header_count;
    const char *header = value + n + (n > 0) + strspn(value + n + (n > 0), " ");
    struct host_header *longer, added;
    int rc = n > 0 && option_is_header(header) ? read_host(options, value, n, &added.host)
                                               : -EINVAL;

    if (rc == -EINVAL)
        return option_complain(source, row, "write \"HOST:Name: value\"");
    if (rc == 0)
        rc = option_check_header(source, row, header);
    if (rc < 0)
        return rc;
    added.header = options_keep(options, header, strlen(header));
    longer = realloc(options->host_headers, (count + 1) * sizeof *longer);
    if (longer != NULL)
        options->host_headers = longer;
    if (longer == NULL || added.header == NULL)
        return -ENOMEM;
    longer[count] = added;
    options->host_header_count = count + 1;
    return 0;
}

/* ---- --accept ---------------------------------------------------------------------- */

/* Parse "200", "200..299", lychee's "200..=299", or "200-299". */
static bool read_range(struct option_part part, struct status_range *out)
{
    int64_t first, last;
    const char *second = part.at + 3;
    size_t between;

    if (part.n < 3 || !option_read_digits(part.at, 3, &first))
        return false;
    between = part.n == 3                                    ? 0
              : part.n == 9 && memcmp(second, "..=", 3) == 0 ? 3
              : part.n == 8 && memcmp(second, "..", 2) == 0  ? 2
              : part.n == 7 && second[0] == '-'              ? 1
                                                             : 4;
    if (between == 4)
        return false;
    last = first;
    if (between > 0 && !option_read_digits(second + between, 3, &last))
        return false;
    *out = (struct status_range){.first = (int)first, .last = (int)last};
    return first >= 100 && first <= last;
}

static int add_range(struct options *options, const struct status_range *range)
{
    size_t count = options->accept_count;
    struct status_range *longer = realloc(options->accept, (count + 1) * sizeof *longer);

    if (longer == NULL)
        return -ENOMEM;
    options->accept = longer;
    longer[count] = *range;
    options->accept_count = count + 1;
    return 0;
}

/*
 * If the ranges for all hosts are still the default, remove them. Ranges for single hosts
 * remain.
 */
static void drop_default(struct options *options)
{
    size_t kept = 0;

    if (!options->accept_is_default)
        return;
    for (size_t i = 0; i < options->accept_count; i++)
        if (options->accept[i].host.name != NULL)
            options->accept[kept++] = options->accept[i];
    options->accept_count = kept;
    options->accept_is_default = false;
}

/*
 * Parse a prefix such as "example.org=", which applies to all statuses after it, and
 * remove it from *part. Returns 1 if there is a prefix, 0 if not, or a negative errno.
 */
static int read_host_prefix(struct options *options, struct option_part *part,
                            struct host_name *host)
{
    const char *equals = memchr(part->at, '=', part->n);
    size_t n = equals != NULL ? (size_t)(equals - part->at) : 0;
    int rc;

    if (n == 0)
        return 0;
    rc = read_host(options, part->at, n, host);
    *part = (struct option_part){equals + 1, part->n - n - 1};
    return rc < 0 ? rc : 1;
}

static int add_part(struct option_source *source, const struct option_row *row,
                    struct option_part part, struct host_name *host)
{
    struct option_part whole = part;
    struct status_range range;
    bool is_range = read_range(part, &range);
    int rc = is_range ? 0 : read_host_prefix(source->options, &part, host);

    if (rc == -EINVAL)
        return option_complain(source, row, "\"%.*s\" is not a host",
                               (int)(part.at - whole.at - 1), whole.at);
    if (rc < 0)
        return rc;
    if (!is_range && !read_range(part, &range))
        return option_complain(
            source, row,
            "\"%.*s\" is neither a status from 100 to 999 nor a range such "
            "as 200..299",
            (int)part.n, part.at);
    range.host = *host;
    if (host->name == NULL)
        drop_default(source->options);
    return add_range(source->options, &range);
}

OPTION_SETTER(add_statuses)
{
    struct host_name host = {NULL, 0};
    struct option_part part;
    int rc = 0;

    while (rc == 0 && option_next_part(&value, &part))
        rc = add_part(source, row, part, &host);
    if (source->is_given == NULL) /* options_init() is setting the default */
        source->options->accept_is_default = true;
    return rc;
}
