/*
 * option_parser.c - parse the command line.
 *
 * First, the command line is parsed into operands and settings. A setting consists of a
 * row and a value. Next, the configuration file is read (option_file.c). The settings of
 * the command line are applied last, so that they take precedence.
 *
 * Options and operands may be mixed, and "--" ends the options. Long names may be
 * abbreviated if they remain unambiguous. Each flag has an opposite, such as --no-lenient
 * or --robots.
 */
#include "option_names.h"
#include "../base/text.h"
#include "../url/url.h"

#include <coil/run.h>

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct setting {
    const struct option_row *row;
    const char *value;
};

struct command {
    /* one element for each byte of the arguments, which is always enough */
    struct setting *settings;
    size_t setting_count;
    char *const *operands;
    size_t operand_count;
    FILE *complaints;
};

/* ---- the command line -------------------------------------------------------------- */

static void add_setting(struct command *command, const struct option_row *row,
                        const char *value)
{
    command->settings[command->setting_count++] = (struct setting){row, value};
}

static int complain_missing(struct command *command, const struct option_row *row)
{
    fprintf(command->complaints, "coil-crawl: --%s: needs a value: %s\n", row->name,
            row->argument);
    return -EINVAL;
}

/*
 * Parse "--name", "--name=value" or "--name value". As in a configuration file, a name
 * may contain "_" instead of "-". *next points to the next argument, and is advanced if
 * this argument is the value.
 */
static int read_long(struct command *command, const char *text, char *const **next)
{
    size_t n = strcspn(text, "="), count = 1;
    const char *value = text[n] == '=' ? text + n + 1 : NULL;
    const struct option_row *row, *denied = NULL;
    char name[LONGEST_NAME + 1];

    snprintf(name, sizeof name, "%.*s", (int)n, text);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    if (n > LONGEST_NAME)
        return option_complain_unknown(command->complaints, "", text, n);
    row = option_named(name, n);
    if (row == NULL)
        denied = option_denied(name, n);
    if (row == NULL && denied == NULL)
        count = option_rows_that_begin(name, n, &row);
    if (count == 0 || n == 0)
        return option_complain_unknown(command->complaints, "", text, n);
    if (count > 1)
        return option_complain_ambiguous(command->complaints, text, n);
    if (denied != NULL)
        row = denied;
    if (row->argument == NULL && value != NULL) {
        fprintf(command->complaints, "coil-crawl: --%.*s: takes no value\n", (int)n,
                text);
        return -EINVAL;
    }
    if (row->argument != NULL && value == NULL) {
        if (**next == NULL)
            return complain_missing(command, row);
        value = *(*next)++;
    }
    add_setting(command, row, value != NULL ? value : denied != NULL ? "no" : "yes");
    return 0;
}

/* Parse short options such as "-q", "-qv", "-f FORMAT" or "-fFORMAT". */
static int read_letters(struct command *command, const char *text, char *const **next)
{
    while (*text != '\0') {
        const struct option_row *row = option_row_lettered(*text++);

        if (row == NULL) {
            fprintf(command->complaints,
                    "coil-crawl: -%c: no such option; coil-crawl --help lists them\n",
                    text[-1]);
            return -EINVAL;
        }
        if (row->argument == NULL) {
            add_setting(command, row, "yes");
            continue;
        }
        if (*text == '\0' && **next == NULL)
            return complain_missing(command, row);
        add_setting(command, row, *text != '\0' ? text : *(*next)++);
        return 0;
    }
    return 0;
}

static int read_arguments(struct command *command, char *const *next, char **operands)
{
    bool only_operands = false;
    int rc = 0;

    command->operands = operands;
    while (rc == 0 && *next != NULL) {
        char *text = *next++;

        if (only_operands || text[0] != '-' || text[1] == '\0')
            operands[command->operand_count++] = text;
        else if (strcmp(text, "--") == 0)
            only_operands = true;
        else if (text[1] == '-')
            rc = read_long(command, text + 2, &next);
        else
            rc = read_letters(command, text + 1, &next);
    }
    return rc;
}

static const char *last_value(const struct command *command, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < command->setting_count; i++)
        if (strcmp(command->settings[i].row->name, name) == 0)
            value = command->settings[i].value;
    return value;
}

/* ---- where to start ---------------------------------------------------------------- */

int option_complain_of_start(const struct option_source *source, const char *operand,
                             const char *what)
{
    fputs("coil-crawl: ", source->complaints);
    if (source->file != NULL)
        fprintf(source->complaints, "%s:%u: ", source->file, source->line);
    url_print(source->complaints, operand);
    fprintf(source->complaints, ": %s\n", what);
    return -EINVAL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), length = strlen(end);

    return n > length && strcmp(text + n - length, end) == 0;
}

/* True if an operand without "http://" must be a path, even if the file is missing. */
static bool must_be_path(const char *operand)
{
    static const char *const suffixes[] = {
        ".html", ".htm",  ".xhtml", ".md",  ".markdown", ".mdx", ".txt", ".xml", ".css",
        ".rst",  ".adoc", ".gz",    ".pdf", ".json",     ".svg", ".png", ".jpg"};
    size_t host = strcspn(operand, "/");

    if (operand[0] == '.' || operand[0] == '/' || operand[0] == '~')
        return true;
    /* "docs/a.html" is a path, but "example.org/a.html" and "localhost/" are URLs */
    if (operand[host] == '/')
        return memchr(operand, '.', host) == NULL && memchr(operand, ':', host) == NULL &&
               strncmp(operand, "localhost/", 10) != 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(operand, suffixes[i]))
            return true;
    return false;
}

/* Resolve a start URL. Remove its fragment, unless the command is `explain`. */
static int resolve_start(const struct options *options, const char *operand, char **out)
{
    struct url url;
    int rc;

    if (!options->explain || options->starts.count > 0)
        return url_resolve(NULL, operand, out);
    rc = url_parse(NULL, operand, &url);
    if (rc == 0 && url.kind != URL_WEB) {
        free(url.href);
        rc = -EPROTONOSUPPORT;
    }
    *out = url.href;
    return rc;
}

/*
 * Store the credentials of a start URL for its host. A link such as "/a" inherits them
 * from the page's URL, but an absolute link such as "http://example.org/a" does not. (RFC
 * 7617, section 2)
 */
static int add_login(struct options *options, const char *start)
{
    struct whatwg_span written = url_credentials(start);
    const char *colon = memchr(written.at, ':', written.n);
    struct login *longer;
    char *login;
    size_t n;

    if (written.n == 0)
        return 0;
    longer = realloc(options->logins, (options->login_count + 1) * sizeof *longer);
    if (longer == NULL)
        return -ENOMEM;
    options->logins = longer;
    login = malloc(written.n + 2);
    if (login == NULL)
        return -ENOMEM;
    memcpy(login, written.at, written.n);
    n = written.n;
    if (colon == NULL)
        login[n++] = ':';
    n = url_decode(login, n);
    longer += options->login_count;
    *longer = (struct login){start, options_basic(options, login, n)};
    free(login);
    if (longer->header == NULL)
        return -ENOMEM;
    options->login_count++;
    return 0;
}

static int add_url(struct option_source *source, const char *operand)
{
    struct options *options = source->options;
    bool is_whole = option_has_scheme(operand) || option_has_web_scheme(operand);
    char *url, *kept;
    int rc;

    if (!is_whole) {
        operand = options_print(options, "http://%s", operand);
        if (operand == NULL)
            return -ENOMEM;
    }
    rc = resolve_start(options, operand, &url);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return option_complain_of_start(source, operand + (is_whole ? 0 : 7),
                                        "not an http or https URL, nor a file");
    kept = options_keep(options, url, strlen(url));
    free(url);
    rc = kept != NULL ? text_list_add(&options->starts, kept) : -ENOMEM;
    return rc == 0 ? add_login(options, kept) : rc;
}

/*
 * Add a start URL. If a file or folder has this name, such as a folder "example.org", add
 * the file or folder, not a URL.
 */
int option_add_start(struct option_source *source, const char *operand)
{
    struct options *options = source->options;
    struct stat info;
    char *kept;

    if (option_is_file_url(operand))
        return option_add_file_url(source, operand);
    if (option_has_scheme(operand))
        return add_url(source, operand);
    if (stat(operand, &info) == 0) {
        if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode) && !S_ISFIFO(info.st_mode))
            return option_complain_of_start(source, operand,
                                            "neither a file nor a folder, nor a pipe");
        kept = options_keep(options, operand, strlen(operand));
        return kept != NULL ? text_list_add(&options->starts, kept) : -ENOMEM;
    }
    if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return option_complain_of_start(source, operand, strerror(errno));
    if (must_be_path(operand))
        return option_complain_of_start(
            source, operand, "no such file or folder; write http:// before a host");
    return add_url(source, operand);
}

/*
 * Return the last string of the list. If the list contains an equal string before it,
 * remove the last one.
 */
static const char *take_last(struct text_list *list)
{
    const char *last = list->at[list->count - 1];

    for (size_t i = 0; i + 1 < list->count; i++)
        if (strcmp(list->at[i], last) == 0) {
            list->count--;
            break;
        }
    return last;
}

/*
 * True if the value of --sitemap must be a file, such as "sitemap.xml", but this file
 * does not exist. False for "example.org/sitemap.xml", which may be a URL.
 */
static bool is_missing_file(const char *sitemap)
{
    struct stat info;

    return strstr(sitemap, "://") == NULL && strchr(sitemap, '/') == NULL &&
           stat(sitemap, &info) < 0;
}

/* Add each sitemap to the start URLs. */
static int add_sitemaps(struct option_source *source)
{
    struct options *options = source->options;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < options->sitemaps.count; i++) {
        if (is_missing_file(options->sitemaps.at[i]))
            return option_complain_of_start(
                source, options->sitemaps.at[i],
                "no such file; write http:// before a host, and the path of its sitemap");
        rc = option_add_start(source, options->sitemaps.at[i]);
        if (rc == 0)
            options->sitemaps.at[i] = take_last(&options->starts);
    }
    return rc;
}

/* The commands for saved crawls, and the number of folders of each. */
static const struct {
    const char *word;
    size_t folders;
    enum options_command command;
} commands[] = {
    {"resume", 1, COMMAND_RESUME}, {"recheck", 1, COMMAND_RECHECK},
    {"report", 1, COMMAND_REPORT}, {"collect", 1, COMMAND_COLLECT},
    {"diff", 2, COMMAND_DIFF},
};

static int complain_of_command(const struct command *command, const char *usage)
{
    const char *word = command->operands[0];

    fprintf(
        command->complaints,
        "coil-crawl: %s: write coil-crawl %s %s; a folder of that name is ./%s, and a "
        "host http://%s/\n",
        word, word, usage, word, word);
    return -EINVAL;
}

/*
 * True if the first operand is the command `word`. False if a file or folder has this
 * name, and the number of other operands is wrong for the command.
 */
static bool is_command(const struct command *command, const char *word, size_t wanted)
{
    struct stat info;

    return command->operand_count > 0 && strcmp(command->operands[0], word) == 0 &&
           (command->operand_count == wanted + 1 || stat(word, &info) < 0);
}

/* Find the command and its folders. If it has the wrong number of arguments, print a
   message and return -EINVAL. */
static int find_command(struct options *options, const struct command *command)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t folders = commands[i].folders;

        if (!is_command(command, commands[i].word, folders))
            continue;
        if (command->operand_count != folders + 1)
            return complain_of_command(command, folders == 1 ? "DIR" : "DIR DIR");
        options->command = commands[i].command;
        options->state = command->operands[1];
        options->later_state = command->operands[folders];
    }
    return 0;
}

static int add_operand(struct option_source *source, const char *operand)
{
    struct stat info;

    if (strcmp(operand, "-") == 0)
        return option_add_list(source, operand);
    if (option_is_pattern(operand) && stat(operand, &info) < 0)
        return option_add_matches(source, operand);
    return option_add_start(source, operand);
}

static int add_lists(struct option_source *source)
{
    const struct text_list *lists = &source->options->lists;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < lists->count; i++)
        rc = option_add_list(source, lists->at[i]);
    return rc;
}

/*
 * Find the command again after all options were set, because its folder may have been
 * given with --state.
 */
static int end_command(struct option_source *source, const struct command *command)
{
    if (source->options->lists.count == 0)
        return find_command(source->options, command);
    fprintf(source->complaints, "coil-crawl: %s: --files-from is only for a new crawl\n",
            command->operands[0]);
    return -EINVAL;
}

static int add_starts(struct option_source *source, const struct command *command)
{
    struct options *options = source->options;
    char *const *operands = command->operands;
    size_t count = command->operand_count;
    int rc = 0;

    if (options->command != COMMAND_CRAWL)
        return end_command(source, command);
    if (count == 1 && is_command(command, "explain", 1))
        return complain_of_command(command, "URL");
    if (count > 1 && strcmp(operands[0], "explain") == 0) {
        options->explain = true;
        operands++;
        count--;
    }
    if (count == 0 && options->sitemaps.count == 0 && options->lists.count == 0) {
        fputs("coil-crawl: name a URL, a folder or a file; coil-crawl --help says more\n",
              source->complaints);
        return -EINVAL;
    }
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_operand(source, operands[i]);
    if (rc == 0)
        rc = add_lists(source);
    return rc == 0 && !options->explain ? add_sitemaps(source) : rc;
}

/* ---- whole ------------------------------------------------------------------------- */

/*
 * Handle options such as --help, which print information. Returns OPTIONS_PRINTED, or 0
 * if no such option was given.
 */
static int print_information(const struct command *command, FILE *out)
{
    const char *shell = last_value(command, "completions");
    const char *what = last_value(command, "print");

    if (last_value(command, "help") != NULL)
        option_print_help(out);
    else if (last_value(command, "version") != NULL)
        fprintf(out, "coil-crawl %s, %s\n", coil_version(), curl_version());
    else if (shell != NULL)
        option_print_completions(out, shell);
    else if (what != NULL && strcmp(what, "man") == 0)
        option_print_man(out);
    else if (what != NULL)
        option_print_table(out);
    else
        return 0;
    return OPTIONS_PRINTED;
}

/* Check the values of options such as --completions that have no setter. */
static int check_choices(const struct command *command)
{
    for (size_t i = 0; i < command->setting_count; i++) {
        const struct setting *setting = &command->settings[i];
        const struct option_row *row = setting->row;
        char choices[OPTION_CHOICES_BYTES];

        if (row->set != NULL || row->choices == NULL)
            continue;
        if (option_word_index(row->choices, setting->value, strlen(setting->value)) < 0) {
            fprintf(command->complaints, "coil-crawl: --%s: \"%s\" is none of %s\n",
                    row->name, setting->value, option_choices(row, "", choices));
            return -EINVAL;
        }
    }
    return 0;
}

static int set_all(struct option_source *source, const struct command *command)
{
    const char *file = last_value(command, "config");
    bool reads_file = file != NULL || last_value(command, "no-config") == NULL;
    int rc;

    rc = find_command(source->options, command);
    if (rc == 0 && reads_file)
        rc = option_read_file(source, file);
    for (size_t i = 0; rc == 0 && i < command->setting_count; i++)
        if (command->settings[i].row->set != NULL)
            rc = option_set(source, command->settings[i].row, command->settings[i].value);
    if (rc == 0)
        rc = options_check_outputs(source->options, source->complaints);
    return rc < 0 ? rc : add_starts(source, command);
}

int options_parse(struct options *options, int argc, char *const argv[], FILE *out,
                  FILE *complaints)
{
    struct command command = {.complaints = complaints};
    struct option_source source = {.options = options, .complaints = complaints};
    char **operands = calloc((size_t)argc + 1, sizeof *operands);
    size_t bytes = 1;
    int rc = -ENOMEM;

    for (int i = 1; i < argc; i++)
        bytes += strlen(argv[i]);
    command.settings = calloc(bytes, sizeof *command.settings);
    source.is_given = calloc(option_row_count, sizeof *source.is_given);
    if (operands != NULL && command.settings != NULL && source.is_given != NULL)
        rc = read_arguments(&command, argv + (argc > 0), operands);
    if (rc == 0)
        rc = check_choices(&command);
    if (rc == 0)
        rc = print_information(&command, out);
    if (rc == 0)
        rc = set_all(&source, &command);
    free(operands);
    free(command.settings);
    free(source.is_given);
    return rc;
}

/* ---- a crawl that is kept ---------------------------------------------------------- */

static size_t put_all(char **argv, size_t n, const struct text_list *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        argv[n++] = (char *)texts->at[i];
    return n;
}

/* Check that this version has all options of the original command. Returns 0 or -EINVAL. */
static int check_saved_names(const struct text_list *decided, FILE *complaints)
{
    for (size_t i = 0; i < decided->count; i++) {
        const char *option = decided->at[i], *name = option + strspn(option, "-");
        size_t n = strcspn(name, "=");

        if (option_named(name, n) == NULL && option_denied(name, n) == NULL) {
            fprintf(complaints,
                    "coil-crawl: the crawl was begun with the option --%.*s, which this "
                    "version of coil-crawl does not have\n",
                    (int)n, name);
            return -EINVAL;
        }
    }
    return 0;
}

int options_restore(struct options *options, const struct options *now,
                    const struct text_list *decided, const struct text_list *starts,
                    FILE *complaints)
{
    size_t count = decided->count + now->given.count + starts->count, n = 0;
    char **argv;
    int rc = check_saved_names(decided, complaints);

    if (rc < 0)
        return rc;
    argv = calloc(count + 4, sizeof *argv);
    if (argv == NULL)
        return -ENOMEM;
    argv[n++] = (char *)"coil-crawl";
    argv[n++] = (char *)"--no-config";
    n = put_all(argv, n, decided);
    n = put_all(argv, n, &now->given);
    argv[n++] = (char *)"--";
    n = put_all(argv, n, starts);
    rc = options_parse(options, (int)n, argv, stdout, complaints);
    free(argv);
    options->command = now->command;
    options->state = now->state;
    return rc;
}
