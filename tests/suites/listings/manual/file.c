/* file.c - compiles and runs the examples in docs/manual/file.md. */
#include "listings.h"

#include "file.md/files"

static int handled, shown, files;

static void handle(const char *line)
{
    CHECK(strcmp(line, "all is well") == 0);
    handled++;
}

static ssize_t read_lines(void)
{
    coil_file *f;
    char line[100];
    ssize_t n;

    CHECK(coil_file_open("report", O_RDONLY, 0, &f) == 0);
#include "file.md/lines"
    coil_file_destroy(f);
    return n;
}

static int save_state(void)
{
    void *data;
    size_t n;
    int rc;

#include "file.md/whole-files"
    return rc;
}

static void show(int64_t done, int64_t total, void *bar)
{
    (void)bar;
    CHECK(done <= total);
    shown++;
}

static int copy(void)
{
    int bar = 0, rc;

#include "file.md/whole-files-2"
    return rc;
}

static void add_file(const char *name)
{
    CHECK(name[0] != '\0');
    files++;
}

static int list(void)
{
    coil_directory *d;
    int rc;

    CHECK(coil_directory_open(".", &d) == 0);
#include "file.md/names-and-directories"
    coil_directory_destroy(d);
    return rc;
}

static int app(void *arg)
{
    (void)arg;
    CHECK(save("all is well\n", 12) == 0);
    CHECK(read_lines() == 0 && handled == 1);
    CHECK(coil_write_file("config", "x", 1, 0666, 0) == 0);
    CHECK(coil_write_file("disk.img", "x", 1, 0666, 0) == 0);
    CHECK(save_state() == 0 && copy() == 0 && shown > 0);
    CHECK(list() == 0 && files >= 4);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
