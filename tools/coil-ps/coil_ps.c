/*
 * coil_ps.c - coil-ps: the tasks of a running program.
 *
 *     coil-ps [OPTION...] PID|CORE
 *
 * coil-ps reads the memory of the process, which is not stopped and need not cooperate.
 * snapshot.c explains how. docs/manual/ps.md describes the options.
 */
#include "freeze.h"
#include "tree.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TREE_MAX 50
#define WATCH_LINES 20
#define WATCH_NS INT64_C(2000000000)
#define LOOPS_MAX 256
#define LIMIT_NS INT64_C(60000000000)

struct options {
    struct filter filter;
    size_t tree_max;
    bool json, stop;
    int64_t watch_ns; /* 0: print once */
    int64_t limit_ns; /* the maximum duration of a read */
    int pid;          /* or 0: */
    const char *core;
    const char *program; /* the core's program, or NULL */
};

static const char usage[] =
    "usage: coil-ps [OPTION...] PID|CORE\n"
    "Print the tasks of a running program, or of a core file, that uses coil.\n"
    "\n"
    "  -a, --all              print a tree of all tasks, not groups of more than 50\n"
    "  -e, --exe=FILE         the program of the core, if it was moved\n"
    "      --in=FUNCTION      only tasks with this function on their stack\n"
    "      --json             one JSON object per task, each on a line\n"
    "      --limit=TIME       stop reading after this time; 60s by default\n"
    "      --older=TIME       only tasks that have waited so long: 10s, 500ms, 2m\n"
    "      --stop             stop the process meanwhile: edges of the tree are exact,\n"
    "                         and running tasks have a stack\n"
    "      --waits=KIND       only tasks that wait for this: lock, sleep, queue.get, "
    "...\n"
    "  -w, --watch[=SECONDS]  print the busiest tasks again and again; 2 s by default\n"
    "  -h, --help             print this help\n"
    "      --version          print the version\n";

static void fail(const char *text)
{
    fprintf(stderr, "coil-ps: %s\n", text);
    exit(1);
}

static void refuse(const char *text)
{
    fprintf(stderr, "coil-ps: %s\n", text);
    exit(2);
}

/* ---- options ----------------------------------------------------------------------- */

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

/* Return the PID, or 0 if the argument is the name of a file. */
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

static void parse_options(struct options *o, int argc, char *argv[])
{
    enum { IN = 256, JSON, LIMIT, OLDER, STOP, WAITS, VERSION };
    static const struct option names[] = {{"all", no_argument, NULL, 'a'},
                                          {"exe", required_argument, NULL, 'e'},
                                          {"in", required_argument, NULL, IN},
                                          {"json", no_argument, NULL, JSON},
                                          {"limit", required_argument, NULL, LIMIT},
                                          {"older", required_argument, NULL, OLDER},
                                          {"stop", no_argument, NULL, STOP},
                                          {"waits", required_argument, NULL, WAITS},
                                          {"watch", optional_argument, NULL, 'w'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, VERSION},
                                          {NULL, 0, NULL, 0}};
    int option;

    *o = (struct options){.tree_max = TREE_MAX, .limit_ns = LIMIT_NS};
    while ((option = getopt_long(argc, argv, "ae:w::h", names, NULL)) >= 0)
        switch (option) {
        case 'a':
            o->tree_max = SIZE_MAX;
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
            o->limit_ns = parse_time(optarg);
            break;
        case OLDER:
            o->filter.older_ns = parse_time(optarg);
            break;
        case STOP:
            o->stop = true;
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
    if (optind != argc - 1) {
        fputs(usage, stderr);
        exit(2);
    }
    o->pid = parse_pid(argv[optind]);
    if (o->pid == 0) {
        o->core = argv[optind];
        if (o->watch_ns > 0)
            refuse("--watch needs a process: a core file does not change");
    }
}

/* ---- the process ------------------------------------------------------------------- */

/* Return the process's PID in its own namespace, or 0. */
static int inner_pid(int pid)
{
    char path[64], line[256];
    int inner = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0) {
            const char *last = strrchr(line, '\t');

            inner = last != NULL ? atoi(last + 1) : 0;
        }
    if (file != NULL)
        fclose(file);
    return inner;
}

static int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

/* Find the threads that run the loops. */
static size_t find_threads(struct image *image, const struct table *table,
                           struct frozen *threads, size_t n)
{
    for (uint32_t i = 0; i < table->loop_count && n < LOOPS_MAX; i++) {
        uint64_t loop = 0;

        if (image_read(image, table->loops + i * sizeof loop, &loop, sizeof loop) &&
            loop != 0 && table->has[COIL__AT_LOOP_THREAD] &&
            image_read(image, loop + table->values[COIL__AT_LOOP_THREAD],
                       &threads[n].thread, sizeof threads[n].thread))
            n++;
    }
    return n;
}

/* Stop the threads that run the loops. Returns their number. */
static size_t stop(const struct options *o, struct image *image,
                   const struct table *table, struct frozen *threads)
{
    size_t n = frozen_find(o->pid, threads, find_threads(image, table, threads, 0));

    if (!freeze(threads, n)) {
        fprintf(stderr, "coil-ps: process %d cannot be stopped: %s\n", o->pid,
                errno == EPERM ? "another program traces it" : strerror(errno));
        exit(1);
    }
    image->frozen = threads;
    image->frozen_count = n;
    image->stands = true;
    return n;
}

static void take(const struct options *o, struct image *image, const struct table *table,
                 struct unwinder *unwinder, struct snapshot *snapshot)
{
    const struct circumstances circumstances = {
        .pid = o->core == NULL ? inner_pid(o->pid) : 0,
        .monotonic = o->core == NULL ? monotonic_ns() : 0,
        .limit_ns = o->limit_ns,
        .on_stack = unwinder_stack,
        .arg = unwinder};
    struct frozen threads[LOOPS_MAX];
    size_t stopped = o->stop && o->core == NULL ? stop(o, image, table, threads) : 0;
    bool ok = snapshot_take(image, table, &circumstances, snapshot);

    thaw(threads, stopped);
    image->frozen_count = 0;
    image->stands = o->core != NULL;
    if (!ok)
        fail("out of memory");
}

/* Print the busiest tasks again and again. */
static void watch(const struct options *o, struct image *image, const struct table *table,
                  struct unwinder *unwinder)
{
    struct snapshot before, now;
    int64_t begun = monotonic_ns(), elapsed;

    take(o, image, table, unwinder, &before);
    for (;;) {
        sleep_ns(o->watch_ns);
        elapsed = monotonic_ns() - begun;
        begun += elapsed;
        take(o, image, table, unwinder, &now);
        if (isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout);
        tree_print_top(&now, &before, (double)elapsed / 1e9, unwinder, &o->filter,
                       WATCH_LINES, stdout);
        snapshot_free(&before);
        before = now;
        if (now.loop_count == 0 || fflush(stdout) != 0)
            break;
    }
    snapshot_free(&before);
}

static void show(const struct options *o, struct image *image, const struct table *table,
                 struct unwinder *unwinder)
{
    struct snapshot snapshot;

    take(o, image, table, unwinder, &snapshot);
    if (o->json)
        tree_print_json(&snapshot, unwinder, &o->filter, stdout);
    else
        tree_print(&snapshot, unwinder, &o->filter, o->tree_max, stdout);
    snapshot_free(&snapshot);
}

int main(int argc, char *argv[])
{
    struct options options;
    struct image *image;
    struct unwinder unwinder;
    struct table table;
    char why[300];

    parse_options(&options, argc, argv);
    image = options.core != NULL
                ? image_of_core(options.core, options.program, why, sizeof why)
                : image_of_process(options.pid, why, sizeof why);
    if (image == NULL)
        fail(why);
    image_begin(image, options.limit_ns);
    if (!table_find(image, &table, why, sizeof why))
        fail(image->budget.cut != NULL ? image->budget.cut : why);
    if (!unwinder_open(&unwinder, image, &table, options.pid, options.core, why,
                       sizeof why))
        fail(why);
    if (options.watch_ns > 0)
        watch(&options, image, &table, &unwinder);
    else
        show(&options, image, &table, &unwinder);
    unwinder_close(&unwinder);
    table_free(&table);
    image_close(image);
    return ferror(stdout) != 0 || fflush(stdout) != 0;
}
