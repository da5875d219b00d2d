/*
 * option_printer.c - print the table of options as help, as reference for the manual, as
 * manual page, and as shell completions.
 */
#include "option_row.h"

#include <coil/run.h>

#include <string.h>

/* The help: the column at which descriptions begin, and the maximum width of lines. */
#define WORDS_AT 28
#define WIDTH 80

/* Maximum width of lines in the source of the manual page, before escapes are added. */
#define ROFF_WIDTH 68

static const char summary[] =
    "Check every link of a web site, or of HTML and Markdown files, and report what is "
    "broken, and where.";

static const struct {
    const char *status, *meaning;
} statuses[] = {
    {"0", "nothing is broken"},
    {"1",
     "out of memory, or a report, the cache or the saved crawl could not be written"},
    {"2", "something is broken (--fail-on)"},
    {"3", "wrong usage"},
    {"4", "nothing could be fetched"},
    {"6", "interrupted, or ended early by --max-duration before anything broken was "
          "found"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- the help ---------------------------------------------------------------------- */

/*
 * Print `text` and a newline, breaking lines at spaces. The text begins at `column`, and
 * continuation lines begin at column `indent`.
 */
static void print_wrapped(FILE *to, const char *text, size_t column, size_t indent)
{
    while (*text != '\0') {
        size_t n = strcspn(text, " "), start = column > indent ? column : indent;

        if (column > indent && start + 1 + n > WIDTH) {
            fputc('\n', to);
            column = 0;
        }
        if (column < indent) {
            fprintf(to, "%*s", (int)(indent - column), "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, n, to);
        column += n;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', to);
}

/*
 * Print the names of an option, such as "  -f, --format FORMAT[:FILE]". Returns the
 * printed length.
 */
static size_t print_names(FILE *to, const struct option_row *row)
{
    int n = row->letter != 0 ? fprintf(to, "  -%c, --%s", row->letter, row->name)
                             : fprintf(to, "      --%s", row->name);

    if (row->argument != NULL)
        n += fprintf(to, " %s", row->argument);
    return (size_t)n;
}

/* Write the description of an option: its text, its choices and its default. */
static void make_description(const struct option_row *row, char *to, size_t capacity)
{
    size_t n = (size_t)snprintf(to, capacity, "%s", row->words);
    char choices[OPTION_CHOICES_BYTES];

    if (row->choices != NULL && n < capacity)
        n += (size_t)snprintf(to + n, capacity - n, ": %s",
                              option_choices(row, "", choices));
    if (row->initial != NULL && n < capacity)
        snprintf(to + n, capacity - n, " (%s)", row->initial);
}

static void print_row(FILE *to, const struct option_row *row)
{
    char words[512];
    size_t column = print_names(to, row);

    make_description(row, words, sizeof words);
    if (column + 2 > WORDS_AT) {
        fputc('\n', to);
        column = 0;
    }
    print_wrapped(to, words, column, WORDS_AT);
}

static void print_statuses(FILE *to)
{
    char text[512] = "Exit status:";

    for (size_t i = 0, n; i < COUNT_OF(statuses); i++) {
        n = strlen(text);
        snprintf(text + n, sizeof text - n, " %s %s%s", statuses[i].status,
                 statuses[i].meaning, i + 1 < COUNT_OF(statuses) ? "," : ".");
    }
    fputc('\n', to);
    print_wrapped(to, text, 0, 0);
}

void option_print_help(FILE *to)
{
    fputs(
        "Usage: coil-crawl [OPTION]... URL|FOLDER|FILE|-...\n"
        "       coil-crawl [OPTION]... explain URL [START]...\n"
        "       coil-crawl [OPTION]... resume|recheck|report DIR\n"
        "       coil-crawl [OPTION]... diff DIR DIR\n"
        "       coil-crawl --frontier URL --crawl NAME [OPTION]... URL...|collect DIR\n",
        to);
    print_wrapped(to, summary, 0, 0);
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        fprintf(to, "\n%s:\n", option_group_names[group]);
        for (size_t i = 0; i < option_row_count; i++)
            if ((int)option_rows[i].group == group)
                print_row(to, &option_rows[i]);
    }
    fputs("\n", to);
    print_wrapped(
        to,
        "TIME is in seconds, or 500ms, 30s, 5m, 2h, 1d. SIZE is in bytes, or 64K, "
        "16M, 1G. Defaults are in parentheses. Each flag has an "
        "opposite: --no-lenient, --robots.",
        0, 0);
    print_statuses(to);
    fputs("\nCtrl-C ends the crawl early; the reports contain its results so far.\n", to);
    print_wrapped(
        to,
        "COIL_BACKEND=io_uring, epoll, poll or select in the environment selects the "
        "event backend.",
        0, 0);
}

/* ---- the manual's table ------------------------------------------------------------ */

/*
 * Escape '|', which separates the cells of a Markdown table, '<', which begins a tag, and
 * '*' and '_', which mark emphasis.
 */
static void print_markdown(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<' || *text == '*' || *text == '_')
            fputc('\\', to);
        fputc(*text, to);
    }
}

static void print_table_row(FILE *to, const struct option_row *row)
{
    char choices[OPTION_CHOICES_BYTES];

    fputs("| ", to);
    if (row->letter != 0)
        fprintf(to, "`-%c`, ", row->letter);
    fprintf(to, "`--%s%s%s` | ", row->name, row->argument != NULL ? " " : "",
            row->argument != NULL ? row->argument : "");
    print_markdown(to, row->words);
    if (row->choices != NULL)
        fprintf(to, ": %s", option_choices(row, "`", choices));
    if (row->initial != NULL)
        fprintf(to, " | `%s` |\n", row->initial);
    else
        fputs(" | |\n", to);
}

void option_print_table(FILE *to)
{
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        fprintf(to, "%s| **%s** | | |\n",
                group == 0 ? "| option | meaning | default |\n|---|---|---|\n" : "",
                option_group_names[group]);
        for (size_t i = 0; i < option_row_count; i++)
            if ((int)option_rows[i].group == group)
                print_table_row(to, &option_rows[i]);
    }
}

/* ---- the manual page (man(7)) ------------------------------------------------------ */

/*
 * Print text in lines of at most ROFF_WIDTH characters, unless a word is longer. Escape
 * minus signs, which roff would print as hyphens, and a '.' or "'" at the beginning of a
 * line, which would be a request of roff.
 */
static void print_roff(FILE *to, const char *text)
{
    size_t column = 0;

    for (; *text != '\0'; text++) {
        if (*text == ' ' && column + 1 + strcspn(text + 1, " ") > ROFF_WIDTH) {
            fputc('\n', to);
            column = 0;
            continue;
        }
        if (column == 0 && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
        column++;
    }
}

static void print_man_row(FILE *to, const struct option_row *row)
{
    char words[512];

    fputs(".TP\n", to);
    if (row->letter != 0)
        fprintf(to, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", to);
    print_roff(to, row->name);
    fputs("\\fR", to);
    if (row->argument != NULL) {
        fputs(" \\fI", to);
        print_roff(to, row->argument);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    make_description(row, words, sizeof words);
    print_roff(to, words);
    fputs(".\n", to);
    if (row->aliases == NULL)
        return;
    fputs("Also\n", to);
    for (const char *name = row->aliases; *name != '\0';) {
        size_t n = strcspn(name, " ");
        char alias[64];

        snprintf(alias, sizeof alias, "--%.*s", (int)n, name);
        fputs("\\fB", to);
        print_roff(to, alias);
        name += n + (name[n] == ' ');
        fputs(*name != '\0' ? "\\fR,\n" : "\\fR.\n", to);
    }
}

static void print_man_options(FILE *to)
{
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        fprintf(to, ".SS %s\n", option_group_names[group]);
        for (size_t i = 0; i < option_row_count; i++)
            if ((int)option_rows[i].group == group)
                print_man_row(to, &option_rows[i]);
    }
    fputs(".PP\n"
          "A time is in seconds, or as 500ms, 30s, 5m, 2h, 1d;\n"
          "a size in bytes, or as 64K, 16M, 1G.\n"
          "Each flag has an opposite:\n"
          "\\fB\\-\\-no\\-lenient\\fR, \\fB\\-\\-robots\\fR.\n"
          "Long names may be shortened as long as one option is meant.\n",
          to);
}

void option_print_man(FILE *to)
{
    fprintf(to,
            ".\\\" Made from the table of options: coil-crawl --print man\n"
            ".TH COIL-CRAWL 1 2026-11-22 \"coil %s\" \"User Commands\"\n"
            ".SH NAME\n"
            "coil-crawl \\- check the links of a web site or of local files\n"
            ".SH SYNOPSIS\n"
            "\\fBcoil\\-crawl\\fR [\\fIOPTION\\fR]... "
            "\\fIURL\\fR|\\fIFOLDER\\fR|\\fIFILE\\fR|\\-...\n"
            ".br\n"
            "\\fBcoil\\-crawl\\fR [\\fIOPTION\\fR]... \\fBexplain\\fR \\fIURL\\fR "
            "[\\fISTART\\fR]...\n"
            ".br\n"
            "\\fBcoil\\-crawl\\fR [\\fIOPTION\\fR]... "
            "\\fBresume\\fR|\\fBrecheck\\fR|\\fBreport\\fR \\fIDIR\\fR\n"
            ".br\n"
            "\\fBcoil\\-crawl\\fR [\\fIOPTION\\fR]... \\fBdiff\\fR \\fIDIR\\fR "
            "\\fIDIR\\fR\n"
            ".br\n"
            "\\fBcoil\\-crawl \\-\\-frontier\\fR \\fIURL\\fR "
            "\\fB\\-\\-crawl\\fR \\fINAME\\fR [\\fIOPTION\\fR]... "
            "\\fIURL\\fR...|\\fBcollect\\fR \\fIDIR\\fR\n"
            ".SH DESCRIPTION\n",
            coil_version());
    print_roff(to, summary);
    fputs("\n"
          "Existing files and folders are local; everything else is a URL,\n"
          "to which \"http://\" is added if it has no scheme.\n"
          ".PP\n"
          "\\fBexplain\\fR describes how a URL is treated in a crawl from "
          "\\fISTART\\fR, and why.\n"
          ".PP\n"
          "\\fBresume\\fR continues a crawl that \\fB\\-\\-state\\fR saved, "
          "\\fBreport\\fR writes reports of it, \\fBrecheck\\fR fetches pages "
          "again that may have changed, and \\fBdiff\\fR compares two saved crawls.\n"
          "\\fBcollect\\fR saves a crawl that many processes share.\n"
          ".SH OPTIONS\n",
          to);
    print_man_options(to);
    fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        fprintf(to, ".TP\n%s\n", statuses[i].status);
        print_roff(to, statuses[i].meaning);
        fputs(".\n", to);
    }
    fputs(".SH ENVIRONMENT\n"
          ".TP\n\\fBhttp_proxy\\fR, \\fBhttps_proxy\\fR, \\fBall_proxy\\fR, "
          "\\fBno_proxy\\fR\n"
          "Proxies, as in libcurl(3).\n"
          ".TP\n\\fBSSL_CERT_FILE\\fR\nThe certificates to trust, without "
          "\\fB\\-\\-cacert\\fR.\n"
          ".TP\n\\fBNO_COLOR\\fR\nIf it is set and not empty, there are no colours.\n"
          ".TP\n\\fBCOIL_BACKEND\\fR\n"
          "The event backend: io_uring, epoll, poll or select.\n"
          ".SH FILES\n"
          ".TP\n\\fI./coil\\-crawl.toml\\fR\n"
          "Options in TOML: name = value, where a flag is true or false and what may be\n"
          "repeated may be a list.\n"
          "The command line takes precedence, and lists are concatenated.\n"
          ".SH EXAMPLES\n"
          ".TP\n\\fBcoil\\-crawl https://example.org/\\fR\nA site.\n"
          ".TP\n\\fBcoil\\-crawl \\-\\-offline public/\\fR\n"
          "What a generator has written, without the network.\n"
          ".TP\n\\fBcoil\\-crawl \\-f jsonl:crawl.jsonl \\-q https://example.org/\\fR\n"
          "A report for programs, in addition to the text report.\n",
          to);
}

/* ---- completions ------------------------------------------------------------------- */

static void print_bash(FILE *to)
{
    fputs("# bash completion for coil-crawl; made by coil-crawl --completions bash\n"
          "_coil_crawl()\n"
          "{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n"
          "    case $prev in\n",
          to);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (row->argument == NULL || row->group == OPTION_HIDDEN)
            continue;
        fprintf(to, "    --%s", row->name);
        if (row->letter != 0)
            fprintf(to, "|-%c", row->letter);
        if (row->choices != NULL)
            fprintf(to, ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                    row->choices);
        else
            fprintf(to, ") %s ;;\n",
                    row->hint == HINT_FILE
                        ? "COMPREPLY=($(compgen -f -- \"$cur\")); return"
                    : row->hint == HINT_FOLDER
                        ? "COMPREPLY=($(compgen -d -- \"$cur\")); return"
                        : "return");
    }
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          to);
    for (size_t i = 0; i < option_row_count; i++)
        if (option_rows[i].group != OPTION_HIDDEN)
            fprintf(to, "%s--%s", i > 0 ? " " : "", option_rows[i].name);
    fputs("' -- \"$cur\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _coil_crawl coil-crawl\n",
          to);
}

/*
 * Print text inside shell quotes, with a backslash before each character that is in
 * `also`.
 */
static void print_quoted(FILE *to, const char *text, const char *also)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr(also, *text) != NULL)
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
}

static void print_zsh_name(FILE *to, const struct option_row *row, const char *dashes,
                           const char *name)
{
    fprintf(to, "    '*%s%s", dashes, name);
    if (row->argument != NULL && dashes[1] == '-')
        fputc('=', to);
    fputc('[', to);
    print_quoted(to, row->words, "[]:\\");
    fputc(']', to);
    if (row->argument != NULL) {
        fputc(':', to);
        print_quoted(to, row->argument, "[]:\\");
        fputc(':', to);
    }
    if (row->choices != NULL)
        fprintf(to, "(%s)", row->choices);
    else if (row->hint != HINT_NONE)
        fputs(row->hint == HINT_FILE ? "_files" : "_files -/", to);
    fputs("' \\\n", to);
}

static void print_zsh(FILE *to)
{
    fputs("#compdef coil-crawl\n"
          "# made by coil-crawl --completions zsh\n"
          "_arguments -s -S \\\n",
          to);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        char letter[] = {row->letter, '\0'};

        if (row->group == OPTION_HIDDEN)
            continue;
        print_zsh_name(to, row, "--", row->name);
        if (row->letter != 0)
            print_zsh_name(to, row, "-", letter);
    }
    fputs("    '*:URL, folder or file:_files'\n", to);
}

static void print_fish(FILE *to)
{
    fputs("# fish completion for coil-crawl; made by coil-crawl --completions fish\n",
          to);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

        if (row->group == OPTION_HIDDEN)
            continue;
        fprintf(to, "complete -c coil-crawl -l %s", row->name);
        if (row->letter != 0)
            fprintf(to, " -s %c", row->letter);
        if (row->argument != NULL)
            fputs(row->hint == HINT_NONE ? " -x" : " -r", to);
        if (row->choices != NULL)
            fprintf(to, " -a '%s'", row->choices);
        else if (row->hint == HINT_FOLDER)
            fputs(" -a '(__fish_complete_directories)'", to);
        fputs(" -d '", to);
        for (const char *c = row->words; *c != '\0'; c++)
            fputs(*c == '\'' ? "\\'" : (char[]){*c, '\0'}, to);
        fputs("'\n", to);
    }
}

void option_print_completions(FILE *to, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(to);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(to);
    else
        print_fish(to);
}
