/*
 * option_text.c - the setters of options whose values are texts, files, URLs or headers.
 */
#include "option_value_inside.h"
#include "../base/text.h"
#include "../url/url.h"

#include <coil/timer.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- texts, files, URLs ------------------------------------------------------------ */

OPTION_SETTER(set_text)
{
    char *text;

    if (value[0] == '\0')
        return option_complain(source, row, "needs a value: %s", row->argument);
    text = options_keep(source->options, value, strlen(value));
    *(const char **)option_field_of(source, row) = text;
    return text != NULL ? 0 : -ENOMEM;
}

OPTION_SETTER(add_text)
{
    char *text;

    if (value[0] == '\0')
        return option_complain(source, row, "needs a value: %s", row->argument);
    text = options_keep(source->options, value, strlen(value));
    return text != NULL ? text_list_add(option_field_of(source, row), text) : -ENOMEM;
}

/*
 * True if the text contains control characters, which could end an HTTP header, or a line
 * on the terminal.
 */
static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return true;
    return false;
}

OPTION_SETTER(set_line)
{
    if (has_control(value))
        return option_complain(source, row, "control characters cannot be sent");
    return set_text(source, row, value);
}

OPTION_SETTER(set_file)
{
    struct stat info;

    if (stat(value, &info) < 0 || access(value, R_OK) < 0)
        return option_complain(source, row, "%s: %s", value, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return option_complain(source, row, "%s: %s", value, strerror(EISDIR));
    return set_text(source, row, value);
}

OPTION_SETTER(set_folder)
{
    struct stat info;

    if (stat(value, &info) < 0)
        return option_complain(source, row, "%s: %s", value, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return option_complain(source, row, "%s: %s", value, strerror(ENOTDIR));
    return set_text(source, row, value);
}

OPTION_SETTER(set_url)
{
    char *url;
    int rc = url_resolve(NULL, value, &url);

    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return option_complain(source, row, "not an http or https URL");
    rc = set_text(source, row, url);
    free(url);
    return rc;
}

/*
 * Set the address of --status: "9100", "HOST:9100" or "[::1]:9100". IPv6 addresses need
 * brackets, because otherwise the port would be ambiguous.
 */
OPTION_SETTER(set_status)
{
    const char *colon = strrchr(value, ':'), *host = "127.0.0.1", *port = value;
    size_t n = strlen(host);
    char *end;

    if (colon != NULL) {
        host = value;
        n = (size_t)(colon - value);
        port = colon + 1;
    }
    if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
        host++;
        n -= 2;
    } else if (memchr(host, ':', n) != NULL) {
        port = "";
    }
    if (*port < '0' || *port > '9' || strlen(port) > 5 ||
        strtoul(port, &end, 10) > 65535 || *end != '\0')
        return option_complain(source, row, "not a port, nor HOST:PORT or [IPV6]:PORT");
    source->options->status_host = options_keep(source->options, host, n);
    source->options->status_port = options_keep(source->options, port, strlen(port));
    return source->options->status_host != NULL && source->options->status_port != NULL
               ? 0
               : -ENOMEM;
}

/*
 * Set the proxy. As in libcurl, the value is a host, which may be preceded by the scheme
 * of a proxy.
 */
OPTION_SETTER(set_proxy)
{
    static const char schemes[] = "http https socks4 socks4a socks5 socks5h";
    const char *colon = strstr(value, "://");
    const char *host = colon != NULL ? colon + 3 : value;

    if (colon != NULL && option_word_index(schemes, value, (size_t)(colon - value)) < 0)
        return option_complain(
            source, row,
            "\"%.*s\" is not a scheme of proxies: http, https, socks4, "
            "socks4a, socks5, socks5h",
            (int)(colon - value), value);
    if (has_control(value) || strchr(value, ' ') != NULL ||
        (value[0] != '\0' && (host[0] == '\0' || host[0] == '/' || host[0] == ':')))
        return option_complain(source, row, "not a proxy: write http://HOST:PORT");
    if (value[0] != '\0')
        return set_text(source, row, value);
    source->options->proxy = "";
    return 0;
}

OPTION_SETTER(add_pattern)
{
    struct pattern_list *list = option_field_of(source, row);
    char *kept = options_keep(source->options, value, strlen(value));
    char why[PATTERN_WHY_BYTES];
    int rc = kept != NULL ? patterns_add(list, kept, why) : -ENOMEM;

    if (rc != -EINVAL)
        return rc;
    return option_complain(source, row, "\"%s\" is not a usable pattern: %s", value, why);
}

/* ---- headers ----------------------------------------------------------------------- */

bool option_is_header(const char *text)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(text, token);

    return n > 0 && text[n] == ':' && !has_control(text);
}

int option_check_header(const struct option_source *source, const struct option_row *row,
                        const char *header)
{
    static const char *const names[] = {
        "Accept-Encoding",     "Content-Length", "If-Match",
        "If-Modified-Since",   "If-None-Match",  "If-Range",
        "If-Unmodified-Since", "Range",          "Transfer-Encoding"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(header, names[i], n) == 0 && header[n] == ':')
            return option_complain(
                source, row,
                "%s is not for you to say: an answer must be whole, and "
                "encoded as coil-crawl reads it",
                names[i]);
    }
    return 0;
}

OPTION_SETTER(add_header)
{
    char *kept;
    int rc;

    if (!option_is_header(value))
        return option_complain(source, row, "not a header: write \"Name: value\"");
    rc = option_check_header(source, row, value);
    if (rc < 0)
        return rc;
    kept = options_keep(source->options, value, strlen(value));
    return kept != NULL ? text_list_add(&source->options->headers, kept) : -ENOMEM;
}

/*
 * Return the header with this name, such as "Cookie:", among the headers for start URLs,
 * or NULL.
 */
static const char **find_header(struct options *options, const char *name)
{
    for (size_t i = 0; i < options->headers.count; i++)
        if (strncasecmp(options->headers.at[i], name, strlen(name)) == 0)
            return &options->headers.at[i];
    return NULL;
}

static int put_header(struct options *options, const char **place, const char *header)
{
    if (header == NULL)
        return -ENOMEM;
    if (place == NULL)
        return text_list_add(&options->headers, header);
    *place = header;
    return 0;
}

/* Add a cookie. All cookies are sent in one header. (RFC 6265, 5.4) */
OPTION_SETTER(add_cookie)
{
    struct options *options = source->options;
    const char **place = find_header(options, "Cookie:");
    const char *equals = strchr(value, '=');

    if (equals == NULL || equals == value || has_control(value))
        return option_complain(source, row, "not a cookie: write \"name=value\"");
    if (place != NULL)
        return put_header(options, place,
                          options_print(options, "%s; %s", *place, value));
    return put_header(options, NULL, options_print(options, "Cookie: %s", value));
}

/*
 * Encode n bytes in base 64. `to` must have space for 4 bytes per 3 bytes of text,
 * rounded up, and for a NUL. (RFC 4648, section 4)
 */
static void base64(const char *text, size_t n, char *to)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *s = (const unsigned char *)text;

    for (size_t i = 0; i < n; i += 3) {
        unsigned group = (unsigned)s[i] << 16 | (i + 1 < n ? s[i + 1] << 8 : 0) |
                         (i + 2 < n ? s[i + 2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = i + 1 < n ? digits[group >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[group & 63] : '=';
    }
    *to = '\0';
}

const char *options_basic(struct options *options, const char *login, size_t n)
{
    char *encoded = malloc((n + 2) / 3 * 4 + 1);
    const char *header;

    if (encoded == NULL)
        return NULL;
    base64(login, n, encoded);
    header = options_print(options, "Authorization: Basic %s", encoded);
    free(encoded);
    return header;
}

/*
 * Set the credentials. If the option is repeated, the last value is used. Messages must
 * not contain the value, which is secret.
 */
OPTION_SETTER(set_credentials)
{
    struct options *options = source->options;

    if (strchr(value, ':') == NULL || has_control(value))
        return option_complain(source, row, "write USER:PASSWORD");
    return put_header(options, find_header(options, "Authorization:"),
                      options_basic(options, value, strlen(value)));
}
