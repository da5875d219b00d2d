/*
 * options.c - parses the options of coil-ps.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TREE_MAX 50
#define WATCH_NS INT64_C(2000000000)
#define TRACE_NS INT64_C(5000000000)
#define LIMIT_NS INT64_C(60000000000)

static const char usage[] =
    "usage: coil-ps [OPTION...] PID|CORE\n"
    "Print the tasks of a running program, or of a core file, that uses coil.\n"
    "\n"
    "  -a, --all              print a tree of all tasks, not groups of more than 50\n"
    "      --debuginfod       look for debug data on the servers in DEBUGINFOD_URLS\n"
    "  -e, --exe=FILE         the program of the core, if it was moved\n"
    "      --in=FUNCTION      only tasks with this function on their stack\n"
    "      --json             one JSON object per task, each on a line\n"
    "      --limit=TIME       stop reading after this time; 60s by default\n"
    "      --older=TIME       only tasks that have waited so long: 10s, 500ms, 2m\n"
    "  -o, --output=FILE      write the trace to this file\n"
    "      --pause=TIME       like --stop, but for at most this time, again and again\n"
    "      --save=FILE        stop the process, and write a core file of it\n"
    "      --stop             stop the process meanwhile: edges of the tree are exact,\n"
    "                         and running tasks have a stack\n"
    "      --trace [TIME]     trace the process for this time, 5s by default, or read "
    "the\n"
    "                         trace in a core, for ui.perfetto.dev\n"
    "      --waits=KIND       only tasks that wait for this: lock, sleep, queue.get, "
    "...\n"
    "  -w, --watch[=SECONDS]  print the busiest tasks again and again; 2 s by default\n"
    "  -h, --help             print this help\n"
    "      --version          print the version\n";

static void refuse(const char *text)
{
    fprintf(stderr, "coil-ps: %s\n", text);
    exit(2);
}

static int64_t parse_time(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},
                 {"us", 1e3}, {"m", 6e10}, {"h", 3.6e12}};
    char *end;
    double value = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0 && value >= 0 && value * units[i].ns < 9e18)
            return (int64_t)(value * units[i].ns);
    fprintf(stderr, "coil-ps: %s is not a time; write 10s, 500ms or 2m\n", text);
    exit(2);
}

/* Parse a PID. Returns 0 if the text is not a number but a file name. */
static int parse_pid(const char *text)
{
    char *end;
    long pid;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    pid = strtol(text, &end, 10);
    if (*end != '\0')
        return 0;
    if (errno != 0 || pid < 1 || pid > INT_MAX) {
        fprintf(stderr, "coil-ps: there is no process %s\n", text);
        exit(1);
    }
    return (int)pid;
}

void parse_options(struct options *o, int argc, char *argv[])
{
    enum {
        DEBUGINFOD = 256,
        IN,
        JSON,
        LIMIT,
        OLDER,
        PAUSE,
        SAVE,
        STOP,
        TRACE,
        WAITS,
        VERSION
    };
    static const struct option names[] = {{"all", no_argument, NULL, 'a'},
                                          {"debuginfod", no_argument, NULL, DEBUGINFOD},
                                          {"exe", required_argument, NULL, 'e'},
                                          {"in", required_argument, NULL, IN},
                                          {"json", no_argument, NULL, JSON},
                                          {"limit", required_argument, NULL, LIMIT},
                                          {"older", required_argument, NULL, OLDER},
                                          {"output", required_argument, NULL, 'o'},
                                          {"pause", required_argument, NULL, PAUSE},
                                          {"save", required_argument, NULL, SAVE},
                                          {"stop", no_argument, NULL, STOP},
                                          {"trace", optional_argument, NULL, TRACE},
                                          {"waits", required_argument, NULL, WAITS},
                                          {"watch", optional_argument, NULL, 'w'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, VERSION},
                                          {NULL, 0, NULL, 0}};
    int option;

    *o = (struct options){.tree_max = TREE_MAX, .how = {.limit_ns = LIMIT_NS}};
    while ((option = getopt_long(argc, argv, "ae:o:w::h", names, NULL)) >= 0)
        switch (option) {
        case 'a':
            o->tree_max = SIZE_MAX;
            break;
        case DEBUGINFOD:
            o->debuginfod = true;
            break;
        case 'e':
            o->program = optarg;
            break;
        case IN:
            o->filter.function = optarg;
            break;
        case JSON:
            o->json = true;
            break;
        case LIMIT:
            o->how.limit_ns = parse_time(optarg);
            break;
        case OLDER:
            o->filter.older_ns = parse_time(optarg);
            break;
        case PAUSE:
            o->how.stop = true;
            o->how.pause_ns = parse_time(optarg);
            if (o->how.pause_ns <= 0)
                refuse("--pause needs a time above 0");
            break;
        case SAVE:
            o->save = optarg;
            break;
        case STOP:
            o->how.stop = true;
            break;
        case 'o':
            o->output = optarg;
            break;
        case TRACE:
            o->trace = true;
            o->trace_ns = optarg != NULL ? parse_time(optarg) : 0;
            break;
        case WAITS:
            o->filter.waits = optarg;
            break;
        case 'w':
            o->watch_ns = optarg != NULL ? parse_time(optarg) : WATCH_NS;
            if (o->watch_ns <= 0)
                refuse("--watch needs a time above 0");
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        case VERSION:
            puts("coil-ps " COIL_PS_VERSION);
            exit(0);
        default:
            exit(2);
        }
    if (o->trace && o->trace_ns == 0 && optind == argc - 2)
        o->trace_ns = parse_time(argv[optind++]);
    if (o->trace_ns == 0)
        o->trace_ns = TRACE_NS;
    if (o->output != NULL && !o->trace)
        refuse("--output is the file of --trace");
    if (o->trace && (o->json || o->how.stop || o->watch_ns > 0 || o->save != NULL))
        refuse(
            "--trace is an action of its own: not with --json, --pause, --save, --stop "
            "or --watch");
    if (optind != argc - 1) {
        fputs(usage, stderr);
        exit(2);
    }
    o->pid = parse_pid(argv[optind]);
    if (o->pid == 0) {
        o->core = argv[optind];
        if (o->watch_ns > 0)
            refuse("--watch needs a process: a core file does not change");
        if (o->save != NULL)
            refuse("--save needs a process");
    }
}
