/*
 * option_row.h - the description of an option, used by the parser, the help, the manual
 * and the shell completions.
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
    OPTION_HIDDEN = OPTION_GROUP_COUNT /* not listed in any output */
};

/* What a shell offers to complete a value. */
enum option_hint { HINT_NONE, HINT_FILE, HINT_FOLDER };

/* The source of a value, and the stream for error messages. */
struct option_source {
    struct options *options;
    FILE *complaints;
    const char *file; /* the configuration file; NULL: the command line */
    unsigned line;
    /* the file was found in the working directory, not given by the user */
    bool is_found;
    bool *is_given; /* for each row, whether a value replaced the default */
};

/*
 * A row of the table of options. The struct has many members, because a row describes
 * everything about an option, from its name to its help.
 */
struct option_row {
    const char *name;
    char letter;          /* short name, or 0 */
    const char *aliases;  /* further names, separated by spaces, or NULL */
    const char *argument; /* name of the option's value; NULL for a flag */
    /*
     * Sets the option to `value`, which for a flag is "yes" or "no". NULL for an action
     * such as --help, which is not allowed in a configuration file.
     */
    int (*set)(struct option_source *source, const struct option_row *row,
               const char *value);
    size_t offset;       /* offset of its field in struct options */
    const char *initial; /* the default as a user would write it; NULL for zero */
    int64_t min, max;    /* minimum and maximum of a numeric option */
    const char *choices; /* allowed values, separated by spaces, or NULL for any value */
    /* all values of a repeated option are used, not only the last one */
    bool repeats;
    bool writes; /* the value is a file or folder that will be written */
    enum option_hint hint;
    enum option_group group;
    const char *words; /* description */
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;
extern const char *const option_group_names[OPTION_GROUP_COUNT];

/* True for a flag such as --no-robots, whose name begins with "no-". */
bool option_is_negative(const struct option_row *row);

/*
 * Set an option to a value. The first value replaces the default. Fails like row->set().
 */
int option_set(struct option_source *source, const struct option_row *row,
               const char *value);

/*
 * Return the row of an option: option_named() for a name or an alias, and option_denied()
 * for the opposite of a flag, such as "no-lenient" or "robots". Both functions return
 * NULL for an unknown name.
 */
const struct option_row *option_named(const char *name, size_t n);
const struct option_row *option_denied(const char *name, size_t n);

/*
 * Print `before`, the name, and a message such as "no such option; did you mean
 * --lenient?". If `before` is "", print "--" before both names. Returns -EINVAL.
 */
int option_complain_unknown(FILE *to, const char *before, const char *name, size_t n);

/*
 * Read the configuration file `path` or, if that is NULL, ./coil-crawl.toml if it exists.
 * (option_file.c) Returns 0, -EINVAL after printing a message, or -ENOMEM.
 */
int option_read_file(struct option_source *source, const char *path);

/*
 * Check the path of an output. If the configuration file was found automatically, its
 * outputs must be below its folder. (option_output.c) Fails like option_complain().
 */
int option_check_output(const struct option_source *source, const struct option_row *row,
                        const char *value);

/*
 * Check that no two outputs of a run are the same file. (option_output.c) Returns 0,
 * -EINVAL after printing a message, or -ENOMEM.
 */
int options_check_outputs(const struct options *options, FILE *complaints);

/*
 * Add a file, folder or URL to options->starts. (option_parser.c) Returns 0, -EINVAL
 * after printing a message, or -ENOMEM.
 */
int option_add_start(struct option_source *source, const char *operand);

/* Print a message about an operand or a line of a list. Returns -EINVAL. */
int option_complain_of_start(const struct option_source *source, const char *operand,
                             const char *what);

/*
 * Add the URLs and files in a list ("-" is standard input), the files whose names match a
 * pattern, or the file of a file:// URL. option_is_pattern() and option_is_file_url()
 * recognise such operands. (option_inputs.c) Fail like option_add_start().
 */
int option_add_list(struct option_source *source, const char *path);
bool option_is_pattern(const char *operand);
int option_add_matches(struct option_source *source, const char *pattern);
bool option_is_file_url(const char *operand);
int option_add_file_url(struct option_source *source, const char *operand);

/*
 * The first function is true if an operand begins with a scheme and "://", unlike
 * "h/?to=http://other", or with "mailto:" or "tel:". The second is true for valid URLs
 * such as "http:/h/", but false for "http:80", a host. (option_inputs.c)
 */
bool option_has_scheme(const char *operand);
bool option_has_web_scheme(const char *operand);

/*
 * Print a message about the value of an option. Returns -EINVAL, or -ENOMEM without
 * printing if memory runs out.
 */
int option_complain(const struct option_source *source, const struct option_row *row,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Write the choices of an option to `to`, such as "site, all, none", each enclosed in
 * `quote`. A result that does not fit is truncated. Returns `to`.
 */
#define OPTION_CHOICES_BYTES 256
const char *option_choices(const struct option_row *row, const char *quote,
                           char to[OPTION_CHOICES_BYTES]);

/* Return the index of a word of `n` bytes in a list separated by spaces, or -1. */
int option_word_index(const char *list, const char *word, size_t n);

/* Return a copy of the text, owned by the options. Returns NULL if memory runs out. */
char *options_keep(struct options *options, const char *text, size_t n);

/* Return a formatted text, owned by the options. Returns NULL if memory runs out. */
char *options_print(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Return the header for a login "user:password" of n bytes, owned by the options. Returns
 * NULL if memory runs out. (RFC 7617)
 */
const char *options_basic(struct options *options, const char *login, size_t n);

int text_list_add(struct text_list *list, const char *text);

/*
 * Setters are in option_value.c and option_text.c, and in option_host.c if the value may
 * apply to a single host.
 */
#define OPTION_SETTER(name)                                                              \
    int name(struct option_source *source, const struct option_row *row,                 \
             const char *value)
OPTION_SETTER(set_flag);
/* for a flag whose "yes" sets the field to false */
OPTION_SETTER(clear_flag);
OPTION_SETTER(set_count);
OPTION_SETTER(set_unsigned);
OPTION_SETTER(set_size); /* sets a field of type size_t */
OPTION_SETTER(set_bytes);
OPTION_SETTER(set_duration);
/* sets an enum, whose constants are in the order of the choices */
OPTION_SETTER(set_choice);
OPTION_SETTER(set_text);
OPTION_SETTER(set_line); /* sets a text that is sent in a header, without newlines */
OPTION_SETTER(set_file); /* the path of a readable file */
OPTION_SETTER(set_folder);
OPTION_SETTER(set_url);
OPTION_SETTER(set_proxy);
OPTION_SETTER(set_status); /* sets the address to listen on */
OPTION_SETTER(add_names);  /* adds the names in a list separated by commas */
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
/* sets the backend to the value or, for a flag such as --epoll, to `words` */
OPTION_SETTER(set_backend);
OPTION_SETTER(refuse_iocp);

/* An element of a comma-separated list, without the white space around it. */
struct option_part {
    const char *at;
    size_t n;
};

/*
 * Get the next element of the list. Returns false if there is none. After the last
 * element, *list is NULL.
 */
bool option_next_part(const char **list, struct option_part *part);

/*
 * Parse a number of n digits. Returns false if there are other characters, or too many
 * digits.
 */
bool option_read_digits(const char *text, size_t n, int64_t *out);

/* True for a header "Name: value" if the name is a token. (RFC 9110, 5.6.2) */
bool option_is_header(const char *text);

/* Reject a header that only the crawler may set. Fails like option_complain(). */
int option_check_header(const struct option_source *source, const struct option_row *row,
                        const char *header);

/* Printing: option_printer.c. */
void option_print_help(FILE *to);
void option_print_table(FILE *to); /* prints the table of options for docs/manual */
void option_print_man(FILE *to);
/* `shell` is "bash", "zsh" or "fish". */
void option_print_completions(FILE *to, const char *shell);

#endif
