/*
 * option_value.c - convert the value of an option and store it in its field.
 *
 * If a setter rejects a value, its message lists the values that the option accepts.
 * Numbers are not parsed with strtod(), which would accept "inf", "0x10" and the formats
 * of the locale.
 */
#include "option_value_inside.h"
#include "../base/text.h"
#include "../url/url.h"

#include <coil/timer.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int option_complain(const struct option_source *source, const struct option_row *row,
                    const char *format, ...)
{
    FILE *to = source->complaints;
    va_list args;
    char *what;
    int n;

    va_start(args, format);
    n = vasprintf(&what, format, args);
    va_end(args);
    if (n < 0)
        return -ENOMEM;
    if (source->file != NULL)
        fprintf(to, "coil-crawl: %s:%u: %s: ", source->file, source->line, row->name);
    else
        fprintf(to, "coil-crawl: --%s: ", row->name);
    url_print(to, what); /* masks passwords */
    fputc('\n', to);
    free(what);
    return -EINVAL;
}

void *option_field_of(const struct option_source *source, const struct option_row *row)
{
    return (char *)source->options + row->offset;
}

/* True if an option still has its default, which its first value replaces. */
static bool is_default(const struct option_source *source, const struct option_row *row)
{
    return source->is_given != NULL && !source->is_given[row - option_rows];
}

/* ---- options as arguments ---------------------------------------------------------- */

/*
 * Return the command-line argument for a flag and its value, such as "--lenient" or
 * "--no-lenient". The opposite of "--no-robots" is "--robots".
 */
static char *argument_of_flag(struct options *options, const struct option_row *row,
                              const char *value)
{
    bool is_no = value[0] == 'n' || value[0] == 'f' || strcmp(value, "off") == 0;

    if (is_no && option_is_negative(row))
        return options_print(options, "--%s", row->name + 3);
    return options_print(options, "--%s%s", is_no ? "no-" : "", row->name);
}

/*
 * Return the command-line argument that sets an option to a value. Paths are made
 * absolute, to be independent of the working directory.
 */
static char *argument_of(struct options *options, const struct option_row *row,
                         const char *value)
{
    char *folder, *argument;

    if (row->argument == NULL)
        return argument_of_flag(options, row, value);
    if (row->hint == HINT_NONE || value[0] == '/')
        return options_print(options, "--%s=%s", row->name, value);
    folder = getcwd(NULL, 0);
    if (folder == NULL)
        return options_print(options, "--%s=%s", row->name, value);
    argument = options_print(options, "--%s=%s/%s", row->name, folder, value);
    free(folder);
    return argument;
}

/*
 * Record the command-line argument, so that it can be saved with the crawl and restored
 * later.
 */
static int record_argument(struct option_source *source, const struct option_row *row,
                           const char *value)
{
    struct options *options = source->options;
    bool decides = row->group < OPTION_REPORTS;
    char *argument;
    int rc = 0;

    if (decides && source->file != NULL && options->command != COMMAND_CRAWL)
        return 0; /* the options in the saved crawl are used instead */
    argument = argument_of(options, row, value);
    if (argument == NULL)
        return -ENOMEM;
    if (decides)
        rc = text_list_add(&options->decided, argument);
    return rc == 0 ? text_list_add(&options->given, argument) : rc;
}

int option_set(struct option_source *source, const struct option_row *row,
               const char *value)
{
    int rc = row->set(source, row, value);

    if (rc == 0)
        rc = option_check_output(source, row, value);
    if (rc == 0 && source->is_given != NULL)
        source->is_given[row - option_rows] = true;
    return rc == 0 ? record_argument(source, row, value) : rc;
}

/* ---- flags and numbers ------------------------------------------------------------- */

static int flag_value(struct option_source *source, const struct option_row *row,
                      const char *value, bool *out)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = i % 2 == 1;
            return 0;
        }
    return option_complain(source, row, "\"%s\" is neither true nor false", value);
}

OPTION_SETTER(set_flag)
{
    return flag_value(source, row, value, option_field_of(source, row));
}

OPTION_SETTER(clear_flag)
{
    bool yes = false;
    int rc = flag_value(source, row, value, &yes);

    if (rc == 0)
        *(bool *)option_field_of(source, row) = !yes;
    return rc;
}

bool option_read_digits(const char *text, size_t n, int64_t *out)
{
    int64_t value = 0;

    if (n == 0 || n > 15)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(text[i]))
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *out = value;
    return true;
}

/* True if the value is "none" and the option's default is also "none". */
static bool is_word_none(const struct option_row *row, const char *value)
{
    return row->initial != NULL && strcmp(row->initial, "none") == 0 &&
           strcmp(value, "none") == 0;
}

static int read_number(struct option_source *source, const struct option_row *row,
                       const char *value, int64_t *out)
{
    bool may_be_none = is_word_none(row, "none");

    if (option_read_digits(value, strlen(value), out) && *out >= row->min &&
        *out <= row->max)
        return 0;
    return option_complain(source, row, "\"%s\" is not a number from %lld to %lld%s",
                           value, (long long)row->min, (long long)row->max,
                           may_be_none ? ", nor \"none\"" : "");
}

OPTION_SETTER(set_unsigned)
{
    int64_t number = 0;
    int rc = is_word_none(row, value) ? 0 : read_number(source, row, value, &number);

    if (rc == 0)
        *(unsigned *)option_field_of(source, row) =
            is_word_none(row, value) ? UINT_MAX : (unsigned)number;
    return rc;
}

OPTION_SETTER(set_size)
{
    int64_t number = 0;
    int rc = is_word_none(row, value) ? 0 : read_number(source, row, value, &number);

    if (rc == 0)
        *(size_t *)option_field_of(source, row) = (size_t)number;
    return rc;
}

/* Set a flag that may be repeated: "-vv", or "verbose = 2" in a file. */
OPTION_SETTER(set_count)
{
    unsigned *count = option_field_of(source, row);
    int64_t number;
    bool yes = false;
    int rc;

    if (option_read_digits(value, strlen(value), &number) && number <= 9) {
        *count = (unsigned)number;
        return 0;
    }
    rc = flag_value(source, row, value, &yes);
    if (rc == 0)
        *count = yes ? *count + 1 : 0;
    return rc;
}

OPTION_SETTER(set_bytes)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(value, "0123456789");
    const char *unit = value + digits;
    int64_t bytes = 0;
    bool well = option_read_digits(value, digits, &bytes);

    for (int i = 0; well && *unit != '\0' && units[i] != '\0'; i++)
        if ((*unit & ~0x20) == units[i]) {
            well = bytes <= INT64_MAX >> (10 * (i + 1));
            bytes = well ? bytes << (10 * (i + 1)) : 0;
            unit++;
            if (strcmp(unit, "B") == 0 || strcmp(unit, "iB") == 0)
                unit += strlen(unit);
            break;
        }
    if (!well || *unit != '\0' || bytes < row->min || bytes > row->max)
        return option_complain(
            source, row,
            "\"%s\" is not a size from %lld to %lld bytes, such as 2048, "
            "64K or 16M",
            value, (long long)row->min, (long long)row->max);
    *(size_t *)option_field_of(source, row) = (size_t)bytes;
    return 0;
}

/*
 * Return the duration of a time unit in nanoseconds, or 0 if it is unknown. "" stands for
 * seconds.
 */
static int64_t time_unit(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"", COIL_SEC(1)},   {"s", COIL_SEC(1)},    {"ms", COIL_MSEC(1)},
                 {"m", COIL_SEC(60)}, {"h", COIL_SEC(3600)}, {"d", COIL_SEC(86400)}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ns;
    return 0;
}

/*
 * Convert "90", "1.5", "30s" or "5m" to nanoseconds. To prevent overflow, at most 31
 * years are accepted.
 */
static bool read_time(const char *text, int64_t *out)
{
    size_t whole = strspn(text, "0123456789"), fraction = 0;
    const char *point = text + whole, *unit = point;
    int64_t number = 0, ns, scale;

    if (*point == '.') {
        fraction = strspn(point + 1, "0123456789");
        if (fraction == 0)
            return false;
        unit = point + 1 + fraction;
    }
    scale = time_unit(unit);
    if (scale == 0 || !option_read_digits(text, whole, &number) ||
        number > COIL_SEC(1000000000) / scale)
        return false;
    ns = number * scale;
    for (size_t i = 0; i < fraction; i++) {
        scale /= 10;
        ns += (point[1 + i] - '0') * scale;
    }
    *out = ns;
    return true;
}

OPTION_SETTER(set_duration)
{
    int64_t ns = 0;

    if (!is_word_none(row, value) && (!read_time(value, &ns) || ns < row->min))
        return option_complain(
            source, row, "\"%s\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d%s",
            value, is_word_none(row, "none") ? ", nor \"none\"" : "");
    *(int64_t *)option_field_of(source, row) = ns;
    return 0;
}

/* ---- words ------------------------------------------------------------------------- */

int option_word_index(const char *list, const char *word, size_t n)
{
    for (int i = 0; *list != '\0'; i++) {
        size_t length = strcspn(list, " ");

        if (length == n && memcmp(list, word, n) == 0)
            return i;
        list += length + (list[length] == ' ');
    }
    return -1;
}

const char *option_choices(const struct option_row *row, const char *quote,
                           char to[OPTION_CHOICES_BYTES])
{
    size_t used = 0;

    to[0] = '\0';
    for (const char *word = row->choices; *word != '\0' && used < OPTION_CHOICES_BYTES;) {
        size_t n = strcspn(word, " ");

        used += (size_t)snprintf(to + used, OPTION_CHOICES_BYTES - used, "%s%s%.*s%s",
                                 used > 0 ? ", " : "", quote, (int)n, word, quote);
        word += n + (word[n] == ' ');
    }
    return to;
}

static int no_choice(struct option_source *source, const struct option_row *row,
                     const char *word, size_t n)
{
    char list[OPTION_CHOICES_BYTES];

    return option_complain(source, row, "\"%.*s\" is none of %s", (int)n, word,
                           option_choices(row, "", list));
}

OPTION_SETTER(set_choice)
{
    int index = option_word_index(row->choices, value, strlen(value));

    if (index < 0)
        return no_choice(source, row, value, strlen(value));
    *(unsigned *)option_field_of(source, row) = (unsigned)index;
    return 0;
}

OPTION_SETTER(set_backend)
{
    bool chosen = true;
    int rc = 0;

    if (row->argument == NULL)
        rc = flag_value(source, row, value, &chosen);
    else if (option_word_index(row->choices, value, strlen(value)) < 0)
        rc = no_choice(source, row, value, strlen(value));
    if (rc < 0)
        return rc;
    const char *name = row->argument != NULL ? value : row->words;
    const char *copy = chosen ? options_keep(source->options, name, strlen(name)) : NULL;

    *(const char **)option_field_of(source, row) = copy;
    return copy != NULL || !chosen ? 0 : -ENOMEM;
}

OPTION_SETTER(refuse_iocp)
{
    (void)value;
    return option_complain(source, row,
                           "I/O completion ports are an interface of Windows, and "
                           "coil-crawl runs on Linux; --io-uring is the nearest");
}

bool option_next_part(const char **list, struct option_part *part)
{
    const char *at = *list, *end;

    if (at == NULL)
        return false;
    end = at + strcspn(at, ",");
    *list = *end == ',' ? end + 1 : NULL;
    at += strspn(at, " \t");
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *part = (struct option_part){at, (size_t)(end - at)};
    return true;
}

OPTION_SETTER(set_traps)
{
    struct options *options = source->options;
    struct option_part part;

    while (option_next_part(&value, &part)) {
        int index = option_word_index(row->choices, part.at, part.n);

        if (index < 0)
            return no_choice(source, row, part.at, part.n);
        options->trap_repeat_off |= index == 0 || index == 3;
        options->trap_session_off |= index == 1 || index == 3;
        options->trap_calendar_off |= index == 2 || index == 3;
    }
    return 0;
}

/* Add a sitemap. After all options are set, option_parser.c adds it to the start URLs. */
OPTION_SETTER(add_sitemap)
{
    struct options *options = source->options;
    bool is_off = strcmp(value, "off") == 0;
    char *kept;

    if (*value == '\0')
        return option_complain(source, row, "it takes a URL, a file, auto or off");
    if (is_off || strcmp(value, "auto") == 0) {
        options->no_sitemaps = is_off;
        return 0;
    }
    kept = options_keep(options, value, strlen(value));
    return kept != NULL ? text_list_add(&options->sitemaps, kept) : -ENOMEM;
}

OPTION_SETTER(add_verdicts)
{
    bool *fail_on = source->options->fail_on;
    struct option_part part;

    if (is_default(source, row))
        memset(fail_on, 0, sizeof source->options->fail_on);
    while (option_next_part(&value, &part)) {
        char word[16];

        if (option_word_index(row->choices, part.at, part.n) < 0)
            return no_choice(source, row, part.at, part.n);
        snprintf(word, sizeof word, "%.*s", (int)part.n, part.at);
        /* for "none", this sets the element of VERDICT_OPEN, which is cleared below */
        fail_on[verdict_of_word(word)] = true;
    }
    fail_on[VERDICT_OPEN] = false;
    return 0;
}

OPTION_SETTER(add_names)
{
    struct text_list *list = option_field_of(source, row);
    struct option_part part;
    int rc = 0;

    if (is_default(source, row))
        list->count = 0;
    while (rc == 0 && option_next_part(&value, &part)) {
        char *name;

        if (part.n == 0 || memchr(part.at, '/', part.n) != NULL)
            return option_complain(source, row, "\"%.*s\" is not the name of a file",
                                   (int)part.n, part.at);
        name = options_keep(source->options, part.at, part.n);
        rc = name != NULL ? text_list_add(list, name) : -ENOMEM;
    }
    return rc;
}

/* ---- reports ----------------------------------------------------------------------- */

/* Add a format, which is stored as "FORMAT:FILE", with "-" for stdout. */
OPTION_SETTER(add_format)
{
    struct options *options = source->options;
    size_t n = strcspn(value, ":");
    const char *file = value[n] == ':' ? value + n + 1 : "-";
    char *kept;

    if (option_word_index(row->choices, value, n) < 0)
        return no_choice(source, row, value, n);
    if (file[0] == '\0')
        return option_complain(source, row, "\"%s\" does not name a file", value);
    for (size_t i = 0; i < options->formats.count; i++)
        if (strcmp(strchr(options->formats.at[i], ':') + 1, file) == 0)
            return option_complain(source, row, "two reports to %s",
                                   strcmp(file, "-") == 0 ? "stdout" : file);
    kept = options_print(options, "%.*s:%s", (int)n, value, file);
    return kept != NULL ? text_list_add(&options->formats, kept) : -ENOMEM;
}
