/* local_file.c - find and read local files, and list folders. */
#include "local.h"

#include "../base/array.h"
#include "../base/text.h"

#include <coil/directory.h>
#include <coil/file.h>
#include <coil/path.h>
#include <coil/poll.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES 65536

/* ---- content types ----------------------------------------------------------------- */

const char *local_content_type(const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {
        {".html", "text/html"},
        {".htm", "text/html"},
        {".xhtml", "application/xhtml+xml"},
        {".xht", "application/xhtml+xml"},
        {".md", "text/markdown"},
        {".markdown", "text/markdown"},
        {".mdown", "text/markdown"},
        {".mkdn", "text/markdown"},
        {".mkd", "text/markdown"},
        {".mdx", "text/mdx"},
        {".css", "text/css"},
        {".js", "text/javascript"},
        {".json", "application/json"},
        {".txt", "text/plain"},
        {".text", "text/plain"},
        {".xml", "application/xml"},
        {".pdf", "application/pdf"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".gif", "image/gif"},
        {".jpg", "image/jpeg"},
        {".jpeg", "image/jpeg"},
        {".webp", "image/webp"},
        {".ico", "image/vnd.microsoft.icon"},
        {".woff2", "font/woff2"},
    };
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t suffix_n = strlen(types[i].suffix);
        if (n > suffix_n && strcasecmp(name + n - suffix_n, types[i].suffix) == 0)
            return types[i].type;
    }
    return NULL;
}

bool local_is_page(const char *content_type)
{
    return content_type != NULL && (strcmp(content_type, "text/html") == 0 ||
                                    strcmp(content_type, "application/xhtml+xml") == 0 ||
                                    strcmp(content_type, "text/markdown") == 0 ||
                                    strcmp(content_type, "text/mdx") == 0);
}

bool local_is_text(const char *content_type)
{
    return content_type != NULL && strcmp(content_type, "text/plain") == 0;
}

bool local_is_sheet(const char *content_type)
{
    return content_type != NULL && strcmp(content_type, "text/css") == 0;
}

/* ---- finding ----------------------------------------------------------------------- */

/*
 * Call coil_stat(). If a part of the path is not a folder, or a name is too long, return
 * -ENOENT, because such a file cannot exist.
 */
static int stat_path(const char *path, struct statx *stx)
{
    int rc = coil_stat(path, 0, stx);

    return rc == -ENOTDIR || rc == -ENAMETOOLONG ? -ENOENT : rc;
}

/* Initialize `file` from the result of coil_stat(). On success, `file` owns `path`. */
static int set_file(struct local_file *file, char *path, const struct statx *stx)
{
    *file = (struct local_file){
        .kind = S_ISREG(stx->stx_mode)    ? LOCAL_FILE
                : S_ISDIR(stx->stx_mode)  ? LOCAL_FOLDER
                : S_ISFIFO(stx->stx_mode) ? LOCAL_PIPE
                                          : LOCAL_OTHER,
        .path = path,
        .url = local_url(path),
        .size = (int64_t)stx->stx_size,
        .content_type = local_content_type(path),
    };
    if (file->url != NULL)
        return 0;
    *file = (struct local_file){0};
    return -ENOMEM;
}

/*
 * Find the regular file whose path is the concatenation of `path`, `between` and `name`.
 * Fails with -ENOENT if there is none, or like stat_path().
 */
static int try_file(const char *path, const char *between, const char *name,
                    struct local_file *out)
{
    struct text text = {0};
    struct statx stx;
    char *joined;
    int rc;

    text_add(&text, path, strlen(path));
    text_add(&text, between, strlen(between));
    text_add(&text, name, strlen(name));
    joined = text_take(&text);
    if (joined == NULL)
        return -ENOMEM;
    rc = stat_path(joined, &stx);
    if (rc == 0 && !S_ISREG(stx.stx_mode))
        rc = -ENOENT;
    if (rc == 0)
        rc = set_file(out, joined, &stx);
    if (rc < 0)
        free(joined);
    return rc;
}

bool local_allows_folders(const struct local *local)
{
    const struct text_list *names = &local->options->index_files;

    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], ".") == 0)
            return true;
    return false;
}

static int find_index(const struct local *local, const char *path, struct local_file *out)
{
    const struct text_list *names = &local->options->index_files;
    int rc = -ENOENT;

    for (size_t i = 0; i < names->count && rc == -ENOENT; i++)
        rc = try_file(path, path[strlen(path) - 1] == '/' ? "" : "/", names->at[i], out);
    return rc;
}

/* Find the file at a path. On success, *out owns `path`. */
static int find_path(const struct local *local, char *path, struct local_file *out)
{
    bool is_folder = path[strlen(path) - 1] == '/';
    struct statx stx;
    int found = stat_path(path, &stx), rc = found;

    if (found == 0 && !S_ISDIR(stx.stx_mode))
        return set_file(out, path, &stx);
    if (found == 0)
        rc = find_index(local, path, out);
    if (rc == -ENOENT && local->options->clean_urls && !is_folder)
        rc = try_file(path, "", ".html", out);
    if (rc == -ENOENT && found == 0)
        return set_file(out, path, &stx);
    if (rc == 0)
        free(path);
    return rc;
}

int local_find(const struct local *local, const char *url, struct local_file *out)
{
    char *path;
    int rc = local_path(url, &path);

    *out = (struct local_file){0};
    if (rc < 0)
        return rc;
    rc = find_path(local, path, out);
    if (rc < 0)
        free(path);
    return rc;
}

void local_file_finish(struct local_file *file)
{
    free(file->path);
    free(file->url);
    *file = (struct local_file){0};
}

/* ---- reading ----------------------------------------------------------------------- */

/*
 * Return -ENXIO if the open file is not a regular file: it may have been replaced since
 * it was found.
 */
static int check_regular(coil_file *file)
{
    struct statx stx;
    int rc = coil_file_stat(file, &stx);

    return rc == 0 && !S_ISREG(stx.stx_mode) ? -ENXIO : rc;
}

/* An open file: a coil_file, or the descriptor of a pipe that does not block. */
struct opened {
    coil_file *file; /* NULL for a pipe */
    int pipe;
};

/* Read from a pipe like coil_file_read(). Unlike a read in a thread of the executor, the
   wait for a writer can be cancelled. */
static ssize_t read_pipe(int fd, char *piece)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    ssize_t n;

    do {
        int rc = coil_poll(&wanted, 1, COIL_NEVER);

        if (rc < 0)
            return rc;
        n = read(fd, piece, PIECE_BYTES);
    } while (n < 0 && errno == EAGAIN);
    return n < 0 ? -errno : n;
}

static ssize_t read_piece(const struct opened *from, char *piece)
{
    return from->file != NULL ? coil_file_read(from->file, piece, PIECE_BYTES)
                              : read_pipe(from->pipe, piece);
}

static int read_pieces(const struct opened *from, size_t max,
                       int (*feed)(const char *bytes, size_t n, void *arg), void *arg)
{
    char *piece = malloc(PIECE_BYTES);
    size_t total = 0;
    ssize_t n = 0;
    int rc = piece != NULL ? 0 : -ENOMEM;

    while (rc == 0 && (n = read_piece(from, piece)) > 0) {
        size_t room = max > 0 ? max - total : SIZE_MAX, part = (size_t)n;

        part = part < room ? part : room;
        rc = part > 0 ? feed(piece, part, arg) : 0;
        total += part;
        rc = rc < 0 ? rc : part < (size_t)n ? -EFBIG : 0;
    }
    free(piece);
    return rc == 0 && n < 0 ? (int)n : rc;
}

/* Read a pipe until all of its writers have closed it, and at least one has opened it. */
static int read_whole_pipe(const char *path, size_t max,
                           int (*feed)(const char *bytes, size_t n, void *arg), void *arg)
{
    struct opened opened = {.pipe =
                                open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
    int rc = opened.pipe >= 0 ? 0 : -errno;

    if (rc == 0 && feed != NULL)
        rc = read_pieces(&opened, max, feed, arg);
    if (opened.pipe >= 0)
        close(opened.pipe);
    return rc;
}

int local_read(const struct local_file *file, size_t max,
               int (*feed)(const char *bytes, size_t n, void *arg), void *arg)
{
    struct opened opened = {.pipe = -1};
    int rc;

    if (file->kind == LOCAL_PIPE)
        return read_whole_pipe(file->path, max, feed, arg);
    rc = coil_file_open(file->path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0, &opened.file);
    if (rc < 0)
        return rc;
    rc = check_regular(opened.file);
    if (rc == 0 && feed != NULL)
        rc = read_pieces(&opened, max, feed, arg);
    coil_file_destroy(opened.file);
    return rc;
}

/* ---- folders below ----------------------------------------------------------------- */

/* A stack of paths to visit. Paths of folders end in "/". */
struct pending {
    char **at;
    size_t count, capacity;
};

static int push_path(struct pending *pending, const char *folder, const char *name,
                     bool is_folder)
{
    struct text text = {0};

    if (pending->count == pending->capacity &&
        array_grow(&pending->at, &pending->capacity, sizeof *pending->at) < 0)
        return -ENOMEM;
    text_add(&text, folder, strlen(folder));
    text_add(&text, name, strlen(name));
    text_add(&text, "/", is_folder);
    pending->at[pending->count] = text_take(&text);
    return pending->at[pending->count] != NULL ? (pending->count++, 0) : -ENOMEM;
}

/*
 * Return 1 for a file or a symbolic link to a file, 0 for anything else, -ENOMEM or
 * -ECANCELED. Symbolic links to folders are not followed, because they may form a loop.
 */
static int is_file(const char *folder, const coil_directory_entry *entry)
{
    struct statx stx;
    struct text text = {0};
    char *path;
    int rc;

    if (entry->type != DT_LNK)
        return entry->type == DT_REG;
    text_add(&text, folder, strlen(folder));
    text_add(&text, entry->name, strlen(entry->name));
    path = text_take(&text);
    rc = path != NULL ? coil_stat(path, 0, &stx) : -ENOMEM;
    free(path);
    if (rc == -ENOMEM || rc == -ECANCELED)
        return rc;
    return rc == 0 && S_ISREG(stx.stx_mode);
}

static int push_entry(struct pending *pending, const char *folder,
                      const coil_directory_entry *entry)
{
    const char *type = local_content_type(entry->name);
    int rc;

    if (entry->name[0] == '.' || strcmp(entry->name, "node_modules") == 0)
        return 0;
    if (entry->type == DT_DIR)
        return push_path(pending, folder, entry->name, true);
    if (!local_is_page(type) && !local_is_sheet(type))
        return 0;
    rc = is_file(folder, entry);
    return rc > 0 ? push_path(pending, folder, entry->name, false) : rc;
}

static int compare_backwards(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Push the contents of a folder onto the stack, with the first name on top. */
static int push_folder(struct pending *pending, const char *folder)
{
    size_t before = pending->count;
    coil_directory *directory;
    coil_directory_entry entry;
    int rc = coil_directory_open(folder, &directory);

    if (rc < 0)
        return rc;
    while (rc >= 0 && (rc = coil_directory_next(directory, &entry)) > 0)
        rc = push_entry(pending, folder, &entry);
    coil_directory_destroy(directory);
    if (pending->count > before)
        qsort(pending->at + before, pending->count - before, sizeof *pending->at,
              compare_backwards);
    return rc;
}

static int visit_next(struct pending *pending,
                      int (*visit)(const char *path, int rc, void *arg), void *arg)
{
    char *path = pending->at[--pending->count];
    int rc;

    if (path[strlen(path) - 1] == '/') {
        rc = push_folder(pending, path);
        if (rc < 0 && rc != -ENOMEM && rc != -ECANCELED)
            rc = visit(path, rc, arg);
    } else {
        rc = visit(path, 0, arg);
    }
    free(path);
    return rc;
}

int local_walk(const char *folder, int (*visit)(const char *path, int rc, void *arg),
               void *arg)
{
    size_t n = strlen(folder);
    struct pending pending = {0};
    int rc = push_path(&pending, folder, "", n == 0 || folder[n - 1] != '/');

    while (rc == 0 && pending.count > 0)
        rc = visit_next(&pending, visit, arg);
    while (pending.count > 0)
        free(pending.at[--pending.count]);
    free(pending.at);
    return rc;
}
