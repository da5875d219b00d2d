/*
 * option_row.h - one option: what the parser, the help, the manual and the completions of
 * shells know of it.
 */
#ifndef CRAWLER_OPTION_ROW_H
#define CRAWLER_OPTION_ROW_H

#include "options.h"

enum option_group {
    OPTION_SITE,
    OPTION_LIMITS,
    OPTION_HTTP,
    OPTION_FILES,
    OPTION_VERDICTS,
    OPTION_REPORTS,
    OPTION_OTHER,
    OPTION_GROUP_COUNT,
    OPTION_HIDDEN = OPTION_GROUP_COUNT /* left out of all that is printed */
};

/* What a shell offers for a value. */
enum option_hint { HINT_NONE, HINT_FILE, HINT_FOLDER };

/* Where a value comes from, for complaints, and where those go. */
struct option_source {
    struct options *options;
    FILE *complaints;
    const char *file; /* NULL: the command line */
    unsigned line;
    bool is_found;  /* the file was not named, but lay in the working directory */
    bool *is_given; /* for each row: its default has been replaced */
};

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *aliases;  /* further names, with spaces between them; NULL: none */
    const char *argument; /* the name of its value; NULL: a flag */
    /* Set the option to `value`, which is "yes" or "no" for a flag. NULL: something to be
       done rather than to be set, which no configuration file may hold. */
    int (*set)(struct option_source *source, const struct option_row *row,
               const char *value);
    size_t offset;       /* of its field in struct options */
    const char *initial; /* its default as a user would write it; NULL: zero */
    int64_t min, max;    /* of a number */
    const char *choices; /* with spaces between them; NULL: free */
    bool repeats;        /* each value counts; else the last */
    bool writes;         /* the value names a file or folder that is written */
    enum option_hint hint;
    enum option_group group;
    const char *words; /* what it does */
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;
extern const char *const option_group_names[OPTION_GROUP_COUNT];

/* True if the flag's own value is "no": --no-robots. */
bool option_is_negative(const struct option_row *row);

/* Set a row's option; a default that stands is replaced. 0 or as row->set(). */
int option_set(struct option_source *source, const struct option_row *row,
               const char *value);

/* The option of that name, an alias included, or NULL; the flag that it is the contrary of:
   "no-lenient", "robots". */
const struct option_row *option_named(const char *name, size_t n);
const struct option_row *option_denied(const char *name, size_t n);

/* "no such option; did you mean --lenient?", behind `before`, or dashes if that is "". -EINVAL. */
int option_complain_unknown(FILE *to, const char *before, const char *name, size_t n);

/* Set what the configuration file says; NULL: ./coil-crawl.toml, if it is there. option_file.c.
   0, -EINVAL after a sentence, or -ENOMEM. */
int option_read_file(struct option_source *source, const char *path);

/* A value that names an output: a configuration file that was found, and not named, may only
   write below its folder. option_output.c. 0, or fails as option_complain(). */
int option_check_output(const struct option_source *source, const struct option_row *row,
                        const char *value);

/* Add a file, folder or URL to the starts. option_parser.c. 0, -EINVAL after a sentence, or -ENOMEM. */
int option_add_start(struct option_source *source, const char *operand);

/* A sentence about an operand, or a line of a list. -EINVAL. */
int option_complain_of_start(const struct option_source *source, const char *operand,
                             const char *what);

/*
 * Add the starts that a file lists ("-": standard input), the files that match a pattern, or the file of
 * a file:// URL. option_inputs.c. Fail as option_add_start().
 */
int option_add_list(struct option_source *source, const char *path);
bool option_is_pattern(const char *operand);
int option_add_matches(struct option_source *source, const char *pattern);
bool option_is_file_url(const char *operand);
int option_add_file_url(struct option_source *source, const char *operand);

/* A sentence about a row's value, printf's way, and -EINVAL, or -ENOMEM without one. */
int option_complain(const struct option_source *source, const struct option_row *row,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "site, all, none": the choices of a row, each between two `quote`s; cut to fit. Returns `to`. */
#define OPTION_CHOICES_BYTES 256
const char *option_choices(const struct option_row *row, const char *quote,
                           char to[OPTION_CHOICES_BYTES]);

/* The index of a word, `n` bytes, among those of a list with spaces, or -1. */
int option_word_index(const char *list, const char *word, size_t n);

/* A copy that lives as long as the options; NULL without memory. */
char *options_keep(struct options *options, const char *text, size_t n);

/* The same of printf's text. */
char *options_print(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The header of a login "user:password" of n bytes, kept; NULL without memory. (RFC 7617) */
const char *options_basic(struct options *options, const char *login, size_t n);

int text_list_add(struct text_list *list, const char *text);

/* The setters: option_value.c, and option_host.c where a value may be for one host. */
#define OPTION_SETTER(name)                                                              \
    int name(struct option_source *source, const struct option_row *row,                 \
             const char *value)
OPTION_SETTER(set_flag);
OPTION_SETTER(clear_flag); /* "yes" makes the field false */
OPTION_SETTER(set_count);
OPTION_SETTER(set_unsigned);
OPTION_SETTER(set_size); /* a number that is a size_t */
OPTION_SETTER(set_bytes);
OPTION_SETTER(set_duration);
OPTION_SETTER(set_choice); /* an enum, in the order of the choices */
OPTION_SETTER(set_text);
OPTION_SETTER(set_line); /* a text for a header */
OPTION_SETTER(set_file); /* of a file that can be read */
OPTION_SETTER(set_folder);
OPTION_SETTER(set_url);
OPTION_SETTER(set_proxy);
OPTION_SETTER(set_status); /* where to listen */
OPTION_SETTER(add_names);  /* a list with commas */
OPTION_SETTER(add_text);
OPTION_SETTER(add_pattern);
OPTION_SETTER(add_header);
OPTION_SETTER(add_cookie);
OPTION_SETTER(set_credentials);
OPTION_SETTER(add_host_header);
OPTION_SETTER(add_sitemap);
OPTION_SETTER(set_traps);
OPTION_SETTER(add_statuses);
OPTION_SETTER(add_verdicts);
OPTION_SETTER(add_format);
OPTION_SETTER(set_backend); /* a choice, or a flag whose `words` name the backend */
OPTION_SETTER(refuse_iocp);

/* What setters share. A struct option_part is a part of a list with commas: no white space
   around it. */
struct option_part {
    const char *at;
    size_t n;
};

/* The next one; false behind the last, where *list is NULL. */
bool option_next_part(const char **list, struct option_part *part);

/* Digits only; false if there is another character, or too many. */
bool option_read_digits(const char *text, size_t n, int64_t *out);

/* "Name: value", the name a token. (RFC 9110, 5.6.2) */
bool option_is_header(const char *text);

/* That a header is none that the crawler must decide: 0, or fails as option_complain(). */
int option_check_header(const struct option_source *source, const struct option_row *row,
                        const char *header);

/* What is printed: option_printer.c. */
void option_print_help(FILE *to);
void option_print_table(FILE *to); /* of docs/manual/coil-crawl.md */
void option_print_man(FILE *to);
/* For "bash", "zsh", "fish". */
void option_print_completions(FILE *to, const char *shell);

#endif
