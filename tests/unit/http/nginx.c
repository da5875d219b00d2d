/*
 * nginx.c - see nginx.h.
 *
 * nginx runs as a single process, without a master: it writes the log immediately, and
 * ends when the child is killed.
 */
#include "nginx.h"

#include "../../harness/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char common_config[] =
    "daemon off; master_process off; pid nginx.pid; error_log error.log;\n"
    "events { worker_connections 512; }\n"
    "http {\n"
    "  log_format test '$connection $status $server_protocol';\n"
    "  access_log access.log test;\n"
    "  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n"
    "  uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
    "  types { text/html html; } default_type text/plain;\n"
    "  keepalive_requests 100000;\n"
    "  large_client_header_buffers 4 256k;\n";

static const char locations[] =
    "    root .;\n"
    "    location /gzip/ { alias file/; gzip on; gzip_types *; gzip_min_length 1; }\n"
    "    location /slow/ { alias file/; limit_rate 10k; }\n"
    "    location /moved { return 302 /file/small; }\n"
    "    location /put/ { root .; dav_methods PUT; create_full_put_path on; }\n";

/* ---- files ------------------------------------------------------------------------- */

static FILE *create_file(const struct nginx *nginx, const char *name)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", nginx->folder, name);
    file = fopen(path, "we");
    CHECK(file != NULL);
    return file;
}

void nginx_put(const struct nginx *nginx, const char *name, size_t n)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "file/%s", name);
    file = create_file(nginx, path);
    for (size_t i = 0; i < n; i++)
        fputc('a' + (int)(i % 26), file);
    fclose(file);
}

/* Remove a folder that contains at most one level of subfolders. */
static void remove_all(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    char below[512];

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (unlink(below) != 0)
            remove_all(below);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* ---- processes --------------------------------------------------------------------- */

static pid_t start_program(const struct nginx *nginx, char *const argv[])
{
    posix_spawn_file_actions_t actions;
    char log[128];
    pid_t pid;
    int rc;

    snprintf(log, sizeof log, "%s/output", nginx->folder);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 ? pid : -1;
}

static bool run_program(const struct nginx *nginx, char *const argv[])
{
    pid_t pid = start_program(nginx, argv);
    int status;

    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool make_certificate(struct nginx *nginx)
{
    static const char script[] =
        "cd \"$0\" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256"
        " -nodes -days 2 -subj '/CN=coil test CA' -keyout ca.key -out ca.pem"
        " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        " -subj /CN=localhost -keyout key.pem -out request.pem"
        " && echo subjectAltName=DNS:localhost >names"
        " && openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial"
        " -days 2 -extfile names -out cert.pem"
        " && mkdir trusted"
        " && cp ca.pem trusted/$(openssl x509 -hash -noout -in ca.pem).0"
        " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256"
        " -nodes -days 2 -subj '/CN=another CA' -keyout other.key -out other.pem";
    char *argv[] = {"sh", "-c", (char *)script, nginx->folder, NULL};

    snprintf(nginx->ca_file, sizeof nginx->ca_file, "%s/ca.pem", nginx->folder);
    return run_program(nginx, argv);
}

/*
 * Return a port that is free now. If another process takes the port, launch() tries
 * again.
 */
static int free_port(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (struct sockaddr *)&name, length);
    getsockname(fd, (struct sockaddr *)&name, &length);
    close(fd);
    return ntohs(name.sin_port);
}

static void write_config(struct nginx *nginx, bool tls)
{
    FILE *file = create_file(nginx, "nginx.conf");

    nginx->port = free_port();
    fputs(common_config, file);
    fprintf(file, "  server { listen 127.0.0.1:%d;\n%s", nginx->port, locations);
    /*
     * nginx is a proxy for its own compressed file, and decompresses it. So nginx does
     * not know the Content-Length, and sends chunks.
     */
    fprintf(file,
            "    location /chunked/ { gunzip on; proxy_http_version 1.1;\n"
            "      proxy_set_header Accept-Encoding gzip;\n"
            "      proxy_pass http://127.0.0.1:%d/gzip/; }\n  }\n",
            nginx->port);
    if (tls) {
        nginx->tls_port = free_port();
        fprintf(file,
                "  server { listen 127.0.0.1:%d ssl http2; ssl_certificate cert.pem;\n"
                "    ssl_certificate_key key.pem;\n%s  }\n",
                nginx->tls_port, locations);
    }
    fputs("}\n", file);
    fclose(file);
}

/*
 * Return true if nginx is listening, after which it writes its pid to a file. A
 * successful connection would not prove this, because another process may be listening on
 * the port.
 */
static bool is_up(const struct nginx *nginx)
{
    char path[128];

    snprintf(path, sizeof path, "%s/nginx.pid", nginx->folder);
    return access(path, F_OK) == 0;
}

/* ---- nginx ------------------------------------------------------------------------- */

static void give_up(struct nginx *nginx, const char *why)
{
    remove_all(nginx->folder);
    test_skip(why);
}

/*
 * Wait until nginx is listening. Returns false if nginx has exited, because another
 * process is using one of its ports.
 */
static bool wait_until_up(struct nginx *nginx)
{
    while (!is_up(nginx)) {
        if (waitpid(nginx->pid, NULL, WNOHANG) != 0) {
            nginx->pid = 0;
            return false;
        }
        usleep(10000);
    }
    return true;
}

static void launch(struct nginx *nginx, bool tls)
{
    char prefix[80], *argv[] = {"nginx", "-p", prefix, "-c", "nginx.conf", NULL};

    snprintf(prefix, sizeof prefix, "%s/", nginx->folder);
    for (int i = 0; i < 5; i++) {
        write_config(nginx, tls);
        nginx->pid = start_program(nginx, argv);
        if (nginx->pid > 0 && wait_until_up(nginx))
            return;
    }
    nginx_stop(nginx);
    test_skip("nginx does not start here");
}

/*
 * Return true if nginx is installed. Debian installs nginx in /usr/sbin, so this function
 * adds that folder to PATH, which may lack it.
 */
static bool has_nginx(void)
{
    const char *path = getenv("PATH");
    char *longer;

    if (asprintf(&longer, "%s:/usr/sbin", path != NULL ? path : "/usr/bin:/bin") < 0)
        return false;
    setenv("PATH", longer, 1);
    free(longer);
    return access("/usr/sbin/nginx", X_OK) == 0 || access("/usr/bin/nginx", X_OK) == 0;
}

void nginx_start(struct nginx *nginx, bool tls)
{
    char path[128];

    *nginx = (struct nginx){.folder = "/tmp/coil-nginx-XXXXXX"};
    if (!has_nginx())
        test_skip("nginx is not installed");
    CHECK(mkdtemp(nginx->folder) != NULL);
    chmod(nginx->folder, 0755);
    snprintf(path, sizeof path, "%s/file", nginx->folder);
    mkdir(path, 0755);
    nginx_put(nginx, "small", 26);
    nginx_put(nginx, "large", 3000000);
    if (tls && !make_certificate(nginx))
        give_up(nginx, "openssl(1) makes no certificate here");
    launch(nginx, tls);
}

void nginx_stop(struct nginx *nginx)
{
    if (nginx->pid > 0 && kill(nginx->pid, SIGKILL) == 0)
        waitpid(nginx->pid, NULL, 0);
    nginx->pid = 0;
    remove_all(nginx->folder);
}

/* ---- its log ----------------------------------------------------------------------- */

/* Count the lines of the log, or the different connection numbers in them. */
static int count_in_log(const struct nginx *nginx, bool connections)
{
    enum { MOST = 4096 };
    static int known[MOST];
    int serial, requests = 0, distinct = 0;
    char path[128];
    FILE *log;

    snprintf(path, sizeof path, "%s/access.log", nginx->folder);
    log = fopen(path, "re");
    while (log != NULL && fscanf(log, "%d%*[^\n]", &serial) == 1) {
        int i = 0;
        requests++;
        while (i < distinct && known[i] != serial)
            i++;
        if (i == distinct && distinct < MOST)
            known[distinct++] = serial;
    }
    if (log != NULL)
        fclose(log);
    return connections ? distinct : requests;
}

int nginx_connections(const struct nginx *nginx)
{
    return count_in_log(nginx, true);
}

int nginx_requests(const struct nginx *nginx)
{
    return count_in_log(nginx, false);
}
