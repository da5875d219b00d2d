/*
 * test_unix.c - local sockets: paths, stale socket files, and the abstract namespace.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test has its own folder. */
static char folder[64], path[80];

static void make_folder(void)
{
    strcpy(folder, "/tmp/coil-unix-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/socket", folder);
}

static void remove_folder(void)
{
    CHECK_INT(rmdir(folder), 0); /* the folder must be empty */
}

static bool exists(const char *name)
{
    struct stat info;

    return lstat(name, &info) == 0;
}

static void check_connection(const char *name, coil_listener *listener)
{
    coil_stream *client, *served;
    char buf[8] = "";

    CHECK_INT(coil_connect_unix(name, &client), 0);
    CHECK_INT(coil_accept(listener, &served), 0);
    CHECK_INT(coil_write(client, "hello", 5), 5);
    CHECK_INT(coil_read(served, buf, sizeof buf), 5);
    CHECK_STR(buf, "hello");
    coil_stream_destroy(client);
    CHECK_INT(coil_read(served, buf, sizeof buf), 0);
    coil_stream_destroy(served);
}

/* Check the addresses of both ends, and that the listener removes its file. */
IO_TEST(unix_listen_and_connect_by_address)
{
    char abstract[64]; /* unique, because the namespace belongs to the whole machine */

    make_folder();
    snprintf(abstract, sizeof abstract, "@coil-test-of-addresses-%ld", (long)getpid());
    for (int i = 0; i < 2; i++) {
        coil_listener *listener = NULL;
        coil_stream *client = NULL, *served = NULL;
        coil_address at, name;
        char byte;

        CHECK_INT(coil_address_of_path(i == 0 ? path : abstract, &at), 0);
        CHECK_INT(coil_connect_address(&at, &client), i == 0 ? -ENOENT : -ECONNREFUSED);
        CHECK_INT(coil_listen_address(&at, 0, &listener), 0);
        CHECK_INT(exists(path), i == 0);
        CHECK_INT(coil_listener_name(listener, &name), 0);
        CHECK_INT(coil_connect_address(&name, &client), 0);
        CHECK_INT(coil_accept(listener, &served), 0);
        CHECK_INT(coil_write(client, "x", 1), 1);
        CHECK_INT(coil_read(served, &byte, 1), 1);
        coil_stream_destroy(client);
        coil_stream_destroy(served);
        coil_listener_destroy(listener);
        CHECK(!exists(path));
    }
    remove_folder();
}

IO_TEST(datagram_by_local_addresses)
{
    coil_datagram *server = NULL, *client = NULL;
    coil_address at, from;
    char buf[8];

    make_folder();
    CHECK_INT(coil_address_of_path(path, &at), 0);
    CHECK_INT(coil_datagram_open_address(&at, COIL_DATAGRAM_REUSE_PORT, &server),
              -EINVAL);
    CHECK_INT(coil_datagram_open_address(&at, 0, &server), 0);
    CHECK_INT(coil_datagram_connect_address(&at, &client), 0);
    CHECK_INT(coil_send(client, "hello", 5), 5);
    CHECK_INT(coil_receive_from(server, buf, sizeof buf, &from), 5);
    CHECK_INT(coil_send_to(server, "you", 3, &from.any, from.length), 3);
    CHECK_INT(coil_receive(client, buf, sizeof buf), 3);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
    unlink(path);
    remove_folder();
}

IO_TEST(unix_listen_and_connect)
{
    coil_listener *listener;
    coil_address name;
    char text[COIL_ADDRESS_TEXT];

    make_folder();
    CHECK_INT(coil_listen_unix(path, 0, &listener), 0);
    CHECK_INT(coil_listener_port(listener), 0);
    CHECK_INT(coil_listener_name(listener, &name), 0);
    CHECK_STR(coil_address_format(&name, text, sizeof text), path);
    check_connection(path, listener);
    check_connection(path, listener);
    CHECK_INT(coil_listener_close(listener), 0);
    CHECK(!exists(path));
    coil_listener_destroy(listener);
    remove_folder();
}

IO_TEST(unix_abstract_name)
{
    coil_listener *listener, *second;
    coil_stream *client;
    coil_address name;
    char text[COIL_ADDRESS_TEXT], abstract[64];

    snprintf(abstract, sizeof abstract, "@coil-test-%d", (int)getpid());
    CHECK_INT(coil_listen_unix(abstract, 0, &listener), 0);
    CHECK_INT(coil_listener_name(listener, &name), 0);
    CHECK_STR(coil_address_format(&name, text, sizeof text), abstract);
    CHECK_INT(coil_listen_unix(abstract, 0, &second), -EADDRINUSE);
    check_connection(abstract, listener);
    coil_listener_destroy(listener);
    CHECK_INT(coil_connect_unix(abstract, &client), -ECONNREFUSED);
}

IO_TEST(unix_paths_that_are_invalid)
{
    coil_listener *listener;
    coil_stream *client;
    char longest[110];

    memset(longest, 'x', sizeof longest);
    longest[108] = '\0';
    CHECK_INT(coil_listen_unix(longest, 0, &listener), -ENAMETOOLONG);
    CHECK_INT(coil_connect_unix(longest, &client), -ENAMETOOLONG);
    CHECK(strstr(coil_error_message(coil_last_error()), "cannot connect") != NULL);
    CHECK_INT(coil_listen_unix("", 0, &listener), -EINVAL);
    CHECK_INT(coil_connect_unix("", &client), -EINVAL);
    CHECK_INT(coil_connect_unix("/tmp/coil-no-such-folder/socket", &client), -ENOENT);
    CHECK_INT(coil_listen_unix("/tmp/coil-no-such-folder/socket", 0, &listener), -ENOENT);
    CHECK_INT(coil_listen_opts(
                  &(coil_listen_options){.path = "/tmp/socket", .port = "80"}, &listener),
              -EINVAL);
}

/* ---- the file ---------------------------------------------------------------------- */

/* Create a socket file without a listener, as a killed server leaves one behind. */
static void leave_socket_behind(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(name.sun_path, path);
    CHECK_INT(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
    CHECK(exists(path));
}

IO_TEST(unix_socket_left_behind_is_replaced)
{
    coil_listener *listener;
    coil_stream *client;

    make_folder();
    leave_socket_behind();
    CHECK_INT(coil_connect_unix(path, &client), -ECONNREFUSED);
    CHECK_INT(coil_listen_unix(path, 0, &listener), 0);
    check_connection(path, listener);
    coil_listener_destroy(listener);
    remove_folder();
}

IO_TEST(unix_other_files_are_left_alone)
{
    coil_listener *listener;
    char target[100];
    int fd;

    make_folder();
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    CHECK_INT(coil_listen_unix(path, 0, &listener), -EADDRINUSE);
    CHECK(exists(path));
    unlink(path);
    /* coil must not remove a symbolic link to a socket, nor the target of the link. */
    leave_socket_behind();
    snprintf(target, sizeof target, "%s/link", folder);
    CHECK_INT(symlink(path, target), 0);
    CHECK_INT(coil_listen_unix(target, 0, &listener), -EADDRINUSE);
    CHECK(exists(target) && exists(path));
    unlink(target);
    unlink(path);
    remove_folder();
}

/* Based on asyncio's tests unix_server_cleanup_replaced, _inode and _gone. */
IO_TEST(unix_file_of_a_successor_is_left_alone)
{
    coil_listener *first, *second;

    make_folder();
    CHECK_INT(coil_listen_unix(path, 0, &first), 0);
    CHECK_INT(coil_listen_unix(path, 0, &second), 0);
    coil_listener_destroy(first);
    CHECK(exists(path));
    check_connection(path, second);
    unlink(path);
    CHECK_INT(coil_listener_close(second), 0);
    coil_listener_destroy(second);
    remove_folder();
}

IO_TEST(unix_file_may_be_kept_and_have_a_mode)
{
    coil_listen_options opts = {.path = path, .keep_file = true, .mode = 0600};
    coil_listener *listener;
    struct stat info;

    make_folder();
    CHECK_INT(coil_listen_opts(&opts, &listener), 0);
    CHECK_INT(stat(path, &info), 0);
    CHECK_INT(info.st_mode & 0777, 0600);
    coil_listener_destroy(listener);
    CHECK(exists(path));
    opts.keep_file = false;
    opts.mode = 0666;
    CHECK_INT(coil_listen_opts(&opts, &listener), 0);
    CHECK_INT(stat(path, &info), 0);
    CHECK_INT(info.st_mode & 0777, 0666);
    coil_listener_destroy(listener);
    remove_folder();
}

/* ---- the rest ---------------------------------------------------------------------- */

struct connecting {
    coil_stream *stream;
    int rc;
    bool ended;
};

static int do_connect(void *arg)
{
    struct connecting *c = arg;

    c->rc = coil_connect_unix(path, &c->stream);
    c->ended = true;
    return 0;
}

IO_TEST(unix_connect_waits_for_room_in_the_queue)
{
    coil_listener *listener;
    coil_stream *fillers[8], *served;
    struct connecting c = {.rc = 0};
    coil_task *task;
    int filled = 0, fd;

    make_folder();
    CHECK_INT(coil_listen_unix(path, 1, &listener), 0);
    /* fill the backlog until connect(2) fails with EAGAIN */
    for (fd = 0; filled < 8; filled++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        strcpy(name.sun_path, path);
        if (connect(fd, (struct sockaddr *)&name, sizeof name) < 0)
            break;
        CHECK_INT(coil_stream_adopt(fd, &fillers[filled]), 0);
    }
    close(fd);
    CHECK(filled > 0 && filled < 8);
    for (int round = 0; round < 2; round++) {
        CHECK_INT(coil_spawn(do_connect, &c, NULL, &task), 0);
        coil_sleep(COIL_MSEC(3));
        CHECK(!c.ended);
        if (round == 0)
            coil_task_cancel(task, NULL);
        else
            CHECK_INT(coil_accept(listener, &served), 0);
        CHECK_INT(coil_task_await(task), 0);
        coil_task_release(task);
        CHECK_INT(c.rc, round == 0 ? -ECANCELED : 0);
        c.ended = false;
    }
    coil_stream_destroy(served);
    coil_stream_destroy(c.stream);
    while (filled > 0)
        coil_stream_destroy(fillers[--filled]);
    coil_listener_destroy(listener);
    remove_folder();
}

IO_TEST(unix_credentials_of_the_peer)
{
    coil_stream *ends[2];
    pid_t pid = 0;
    uid_t uid = 99999;
    gid_t gid = 99999;

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_stream_credentials(ends[0], &pid, &uid, &gid), 0);
    CHECK_INT(pid, getpid());
    CHECK_INT(uid, getuid());
    CHECK_INT(gid, getgid());
    coil_stream_close(ends[1]);
    CHECK_INT(coil_stream_credentials(ends[1], &pid, &uid, &gid), -EBADF);
    destroy_streams(ends);
    make_stream_pair(ends);
    CHECK_INT(coil_stream_credentials(ends[0], &pid, &uid, &gid), -EOPNOTSUPP);
    destroy_streams(ends);
    CHECK_INT(coil_pipe(ends), 0);
    CHECK_INT(coil_stream_credentials(ends[0], &pid, &uid, &gid), -ENOTSOCK);
    destroy_streams(ends);
}

struct credentials {
    int fd, rc;
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

static int ask_for_credentials(void *arg)
{
    struct credentials *c = arg;
    coil_stream *stream;

    c->rc = coil_stream_adopt(c->fd, &stream);
    if (c->rc < 0)
        return c->rc;
    c->rc = coil_stream_credentials(stream, &c->pid, &c->uid, &c->gid);
    coil_stream_destroy(stream);
    return 0;
}

/* Request the peer's credentials in a new PID namespace, in which the peer has no PID. */
static int ask_from_inside(struct credentials *c)
{
    if (coil_run(ask_for_credentials, c, NULL) < 0 || c->rc < 0)
        return 1;
    return c->pid == 0 && c->uid == getuid() ? 0 : 2;
}

TEST(unix_credentials_of_a_peer_outside_of_the_pid_namespace)
{
    struct credentials c = {.pid = 99999, .uid = 99999};
    int fds[2], status = -1;
    pid_t child;

    if (test_under_valgrind())
        test_skip("valgrind reports the parent's objects in the child as leaked");
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    c.fd = fds[0];
    if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0) {
        close(fds[0]);
        close(fds[1]);
        test_skip("no namespaces here");
    }
    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(ask_from_inside(&c));
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    close(fds[0]);
    close(fds[1]);
}

/*
 * The socket file must exist after the call only if the call has succeeded, and not after
 * the listener was destroyed.
 */
IO_TEST(unix_listen_with_each_call_and_allocation_failing)
{
    make_folder();
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1, failed = 1; failed; n++) {
            coil_listen_options opts = {.path = path, .mode = 0600};
            coil_listener *listener;
            int rc;

            if (kind == 0)
                coil_testing_fail_system_call((uint64_t)n, 0);
            else
                coil_testing_fail_allocation((uint64_t)n);
            rc = coil_listen_opts(&opts, &listener);
            failed = coil_testing_failed() != NULL;
            CHECK_INT(exists(path), rc == 0);
            if (rc == 0)
                coil_listener_destroy(listener);
            CHECK(!exists(path));
        }
    coil_testing_fail_system_call(0, 0);
    coil_testing_fail_allocation(0);
    remove_folder();
}
