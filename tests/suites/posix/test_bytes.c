/*
 * test_bytes.c - reading, writing, sending and receiving, which have the same results in
 * a task and outside tasks.
 */
#include "differential.h"

#include <netinet/in.h>
#include <pthread.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <termios.h>

#define LARGE ((size_t)1000000)

static void set_timeout(int fd, int option, int ms)
{
    struct timeval t = {.tv_usec = ms * 1000};

    CHECK_INT(setsockopt(fd, SOL_SOCKET, option, &t, sizeof t), 0);
}

static void set_nonblocking(int fd)
{
    CHECK_INT(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

/* Record whether the descriptor is in blocking mode, which no call may change. */
static void record_mode(int fd)
{
    record("%s", fcntl(fd, F_GETFL) & O_NONBLOCK ? "does not block" : "blocks");
}

/* ---- reading ----------------------------------------------------------------------- */

SAME(read_from_a_pipe, true)
{
    char buf[16] = "";
    int ends[2];

    make_pipe(ends);
    RECORD(read(ends[0], buf, 0));
    later(20, write_byte, ends[1]);
    RECORD(read(ends[0], buf, sizeof buf));
    record("%s", buf);
    finish_later();
    later(20, close_fd, ends[1]);
    RECORD(read(ends[0], buf, sizeof buf));
    finish_later();
    RECORD(read(ends[0], buf, sizeof buf));
    record_mode(ends[0]);
    RECORD(write(ends[0], buf, 1));
    close(ends[0]);
    RECORD(read(ends[0], buf, sizeof buf));
    RECORD(read(-1, buf, sizeof buf));
}

SAME(read_from_a_socket, true)
{
    char buf[16] = "";
    int ends[2];

    make_tcp(ends);
    RECORD(read(ends[0], buf, 0));
    later(20, write_byte, ends[1]);
    RECORD(read(ends[0], buf, sizeof buf));
    finish_later();
    later(20, write_byte, ends[1]);
    RECORD(recv(ends[0], buf, sizeof buf, MSG_PEEK));
    RECORD(recv(ends[0], buf, sizeof buf, 0));
    finish_later();
    RECORD(recv(ends[0], buf, sizeof buf, MSG_DONTWAIT));
    RECORD(recv(ends[0], buf, sizeof buf, MSG_OOB));
    RECORD(recv(ends[0], buf, sizeof buf, MSG_ERRQUEUE));
    RECORD(recvmsg(ends[0], &(struct msghdr){.msg_iov = NULL}, MSG_ERRQUEUE));
    later(20, close_fd, ends[1]);
    RECORD(recvfrom(ends[0], buf, sizeof buf, 0, NULL, NULL));
    finish_later();
    RECORD(read(ends[0], buf, sizeof buf));
    record_mode(ends[0]);
    close(ends[0]);
    RECORD(recv(ends[0], buf, sizeof buf, 0));
}

SAME(read_from_what_does_not_block, false)
{
    char buf[16];
    int ends[2];

    make_pipe(ends);
    set_nonblocking(ends[0]);
    RECORD(read(ends[0], buf, sizeof buf));
    record_mode(ends[0]);
    close_both(ends);
    make_unix(ends, SOCK_STREAM);
    set_nonblocking(ends[0]);
    RECORD(read(ends[0], buf, sizeof buf));
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    write_byte(ends[1]);
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    close_both(ends);
}

SAME(receive_until_the_time_out, true)
{
    char buf[16];
    int ends[2];

    make_unix(ends, SOCK_STREAM);
    set_timeout(ends[0], SO_RCVTIMEO, 30);
    RECORD_TIME_OUT(30, read(ends[0], buf, sizeof buf));
    RECORD_TIME_OUT(30, recv(ends[0], buf, sizeof buf, 0));
    write_byte(ends[1]);
    RECORD_TIME_OUT(30, recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    write_byte(ends[1]);
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL | MSG_PEEK));
    close_both(ends);
    make_tcp(ends);
    set_timeout(ends[0], SO_RCVTIMEO, 30);
    write_byte(ends[1]);
    RECORD_TIME_OUT(30, recv(ends[0], buf, sizeof buf, MSG_WAITALL | MSG_PEEK));
    RECORD_TIME_OUT(30, recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    close_both(ends);
}

SAME(receive_from_what_cannot, false)
{
    char buf[16] = "";
    int ends[2], fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    RECORD(recv(fd, buf, sizeof buf, 0));
    RECORD(read(fd, buf, sizeof buf));
    close(fd);
    make_pipe(ends);
    RECORD(recv(ends[0], buf, sizeof buf, 0));
    RECORD(send(ends[1], buf, sizeof buf, 0));
    RECORD(read(ends[1], buf, sizeof buf));
    close_both(ends);
    fd = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    RECORD(read(fd, buf, sizeof buf));
    RECORD(write(fd, buf, sizeof buf));
    close(fd);
}

SAME(receive_all, true)
{
    char buf[16] = "";
    struct iovec parts[2] = {{buf, 1}, {buf + 1, 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    int ends[2];

    make_tcp(ends);
    write_byte(ends[1]);
    later(20, write_byte, ends[1]);
    later(40, write_byte, ends[1]);
    RECORD(recv(ends[0], buf, 3, MSG_WAITALL | MSG_PEEK));
    RECORD(recv(ends[0], buf, 3, MSG_WAITALL));
    finish_later();
    later(20, write_byte, ends[1]);
    later(40, write_byte, ends[1]);
    later(60, write_byte, ends[1]);
    RECORD(recvmsg(ends[0], &message, MSG_WAITALL));
    finish_later();
    write_byte(ends[1]);
    later(20, close_fd, ends[1]);
    RECORD(recvfrom(ends[0], buf, 3, MSG_WAITALL, NULL, NULL));
    finish_later();
    RECORD(recv(ends[0], buf, 3, MSG_WAITALL));
    close(ends[0]);
}

SAME(read_into_parts, true)
{
    char a[2] = "", b[4] = "";
    struct iovec parts[2] = {{a, 1}, {b, 3}};
    int ends[2];

    for (int i = 0; i < 2; i++) {
        i == 0 ? make_pipe(ends) : make_unix(ends, SOCK_STREAM);
        later(20, write_byte, ends[1]);
        RECORD(readv(ends[0], parts, 2));
        finish_later();
        CHECK_INT(write(ends[1], "abcd", 4), 4);
        RECORD(readv(ends[0], parts, 2));
        record("%s %s", a, b);
        RECORD(readv(ends[0], parts, 0));
        RECORD(readv(ends[0], parts, -1));
        if (may_call_wrongly())
            RECORD(readv(ends[0], parts, 5000));
        close_both(ends);
    }
}

static void start_timer(int timer)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1};

    CHECK_INT(timerfd_settime(timer, 0, &soon, NULL), 0);
}

SAME(read_from_other_descriptors, true)
{
    int event = eventfd(0, EFD_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint64_t count = 0;

    later(20, start_timer, timer);
    RECORD(read(timer, &count, sizeof count));
    record("%d", (int)count);
    finish_later();
    RECORD(write(event, &count, sizeof count));
    RECORD(read(event, &count, sizeof count));
    RECORD(read(event, &count, 1));
    RECORD(read(null, &count, sizeof count));
    RECORD(write(null, &count, sizeof count));
    RECORD(read(file, &count, sizeof count));
    if (may_call_wrongly())
        RECORD(read(file, (void *)1, sizeof count));
    close(event);
    close(timer);
    close(null);
    close(file);
}

static void type_line(int fd)
{
    CHECK_INT(write(fd, "line\n", 5), 5);
}

/* Read n bytes. A terminal may deliver the bytes in pieces. */
static void record_what_comes(int fd, size_t n)
{
    char buf[32] = "";
    size_t got = 0;

    while (got < n) {
        ssize_t more = read(fd, buf + got, n - got);

        if (more <= 0) {
            RECORD(more);
            break;
        }
        got += (size_t)more;
    }
    record("%s", buf);
}

SAME(read_and_write_a_terminal, true)
{
    char buf[16] = "";
    int master, slave;

    CHECK_INT(openpty(&master, &slave, NULL, NULL, NULL), 0);
    later(20, type_line, master);
    RECORD(read(slave, buf, sizeof buf)); /* a terminal delivers whole lines */
    record("%s", buf);
    finish_later();
    record_what_comes(master, strlen("line\r\n")); /* the terminal's echo */
    RECORD(write(slave, "hello\n", 6));
    record_what_comes(master, strlen("hello\r\n"));
    record_mode(slave);
    close(master);
    close(slave);
}

/* ---- writing ----------------------------------------------------------------------- */

static char *large(void)
{
    char *buf = malloc(LARGE);

    for (size_t i = 0; i < LARGE; i++)
        buf[i] = (char)(i * 7);
    return buf;
}

SAME(write_more_than_fits, true)
{
    char *buf = large();
    int ends[2];

    for (int i = 0; i < 3; i++) {
        i == 0 ? make_pipe(ends) : i == 1 ? make_tcp(ends) : make_unix(ends, SOCK_STREAM);
        later(20, read_slowly, ends[0]);
        RECORD(write(ends[1], buf, LARGE));
        RECORD(write(ends[1], buf, 0));
        record_mode(ends[1]);
        close(ends[1]);
        finish_later();
        close(ends[0]);
    }
    free(buf);
}

static uint64_t digest;

static void read_digest(int fd)
{
    unsigned char buf[10007];
    ssize_t n;

    usleep(20000);
    digest = 0;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++)
            digest = digest * 31 + buf[i];
}

SAME(write_many_parts, true)
{
    char *buf = large();
    struct iovec parts[50];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 50};
    int ends[2];

    for (int i = 0; i < 50; i++)
        parts[i] = (struct iovec){buf + i * 20000, i % 3 == 0 ? 0 : 20000};
    for (int i = 0; i < 3; i++) {
        i == 0 ? make_pipe(ends) : i == 1 ? make_tcp(ends) : make_unix(ends, SOCK_STREAM);
        later(0, read_digest, ends[0]);
        if (i < 2)
            RECORD(writev(ends[1], parts, 50));
        else
            RECORD(sendmsg(ends[1], &message, 0));
        close(ends[1]);
        finish_later();
        record("%llx", (unsigned long long)digest);
        close(ends[0]);
    }
    RECORD(writev(ends[1], parts, 50));
    free(buf);
}

/*
 * If the peer closes during a write, the write returns the number of bytes written before
 * that, and the next write fails.
 */
SAME(write_to_who_goes_away, true)
{
    char *buf = large();
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        ssize_t n;

        i == 0 ? make_pipe(ends) : make_unix(ends, SOCK_STREAM);
        later(20, close_fd, ends[0]);
        n = write(ends[1], buf, LARGE);
        record("%s", n > 0 && n < (ssize_t)LARGE ? "some" : "all or nothing");
        finish_later();
        RECORD(write(ends[1], buf, LARGE));
        RECORD(write(ends[1], buf, 1));
        close(ends[1]);
    }
    signal(SIGPIPE, SIG_DFL);
    free(buf);
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

SAME(send_to_who_resets, true)
{
    char *buf = malloc(20 * LARGE), byte;
    ssize_t n;
    int ends[2];

    memset(buf, 0, 20 * LARGE);
    make_tcp(ends);
    later(20, reset, ends[0]);
    n = send(ends[1], buf, 20 * LARGE, MSG_NOSIGNAL);
    record("%s", n > 0 && n < (ssize_t)(20 * LARGE) ? "some" : "all or nothing");
    finish_later();
    RECORD(send(ends[1], buf, LARGE, MSG_NOSIGNAL));
    RECORD(send(ends[1], buf, LARGE, MSG_NOSIGNAL));
    RECORD(recv(ends[1], &byte, 1, 0));
    close(ends[1]);
    free(buf);
}

SAME(send_until_the_time_out, true)
{
    char *buf = large();
    int ends[2];
    ssize_t n;

    make_unix(ends, SOCK_STREAM);
    set_timeout(ends[0], SO_SNDTIMEO, 30);
    n = send(ends[0], buf, LARGE, 0);
    record("%s", n > 0 && n < (ssize_t)LARGE ? "some" : "all or nothing");
    RECORD_TIME_OUT(30, send(ends[0], buf, LARGE, 0));
    RECORD(send(ends[0], buf, LARGE, MSG_DONTWAIT));
    set_nonblocking(ends[0]);
    RECORD(write(ends[0], buf, LARGE));
    close_both(ends);
    make_pipe(ends);
    set_nonblocking(ends[1]);
    RECORD(write(ends[1], buf, LARGE));
    RECORD(write(ends[1], buf, LARGE));
    close_both(ends);
    free(buf);
}

SAME(send_a_file, true)
{
    char path[] = "/tmp/coil-posix-XXXXXX", *buf = large();
    int ends[2], file = mkstemp(path);
    off_t at = 100;

    unlink(path);
    CHECK_INT(write(file, buf, LARGE), (long)LARGE);
    lseek(file, 0, SEEK_SET);
    make_tcp(ends);
    later(0, read_digest, ends[0]);
    RECORD(sendfile(ends[1], file, &at, LARGE));
    record("%ld %ld", (long)at, (long)lseek(file, 0, SEEK_CUR));
    RECORD(sendfile(ends[1], file, NULL, 1000));
    record("%ld", (long)lseek(file, 0, SEEK_CUR));
    RECORD(sendfile(ends[1], file, &at, 10));
    RECORD(sendfile(ends[1], ends[0], NULL, 10));
    RECORD(sendfile(ends[1], -1, NULL, 10));
    close(ends[1]);
    finish_later();
    record("%llx", (unsigned long long)digest);
    close(ends[0]);
    close(file);
    free(buf);
}

/* ---- datagrams --------------------------------------------------------------------- */

static void send_two(int fd)
{
    CHECK_INT(send(fd, "one", 3, 0), 3);
    CHECK_INT(send(fd, "second", 6, 0), 6);
}

SAME(datagrams, true)
{
    char buf[8] = "";
    struct sockaddr_storage from;
    socklen_t from_bytes = sizeof from;
    int ends[2];

    make_unix(ends, SOCK_DGRAM);
    later(20, send_two, ends[1]);
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    RECORD(recvfrom(ends[0], buf, 2, MSG_TRUNC, (struct sockaddr *)&from, &from_bytes));
    record("%d", (int)from_bytes);
    finish_later();
    RECORD(write(ends[1], buf, 0));
    RECORD(read(ends[0], buf, sizeof buf));
    if (may_call_wrongly())
        RECORD(send(ends[1], buf, 10 * LARGE, 0));
    close_both(ends);
}

static void drain(int fd)
{
    char buf[16];

    for (int i = 0; i < 400; i++)
        CHECK(recv(fd, buf, sizeof buf, 0) > 0);
}

SAME(datagrams_wait_for_room, true)
{
    int ends[2], sent = 0;

    make_unix(ends, SOCK_DGRAM);
    later(20, drain, ends[0]);
    for (int i = 0; i < 400; i++)
        sent += (int)send(ends[1], "datagram", 8, 0);
    record("%d", sent);
    finish_later();
    close_both(ends);
}

/*
 * If the receiver's queue is full, the sender must wait, although poll() reports the
 * sender's unconnected socket as writable.
 */
SAME(datagrams_wait_for_room_elsewhere, true)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof(sa_family_t);
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), sent = 0;

    /* the kernel chooses a name */
    CHECK_INT(bind(receiver, (struct sockaddr *)&to, bytes), 0);
    bytes = sizeof to;
    CHECK_INT(getsockname(receiver, (struct sockaddr *)&to, &bytes), 0);
    later(20, drain, receiver);
    for (int i = 0; i < 400; i++)
        sent += (int)sendto(sender, "datagram", 8, 0, (struct sockaddr *)&to, bytes);
    record("%d", sent);
    finish_later();
    set_timeout(sender, SO_SNDTIMEO, 30);
    while (sendto(sender, "x", 1, 0, (struct sockaddr *)&to, bytes) == 1)
        ;
    RECORD_TIME_OUT(30, sendto(sender, "x", 1, 0, (struct sockaddr *)&to, bytes));
    close(sender);
    close(receiver);
}

static void reset_after_a_byte(int fd)
{
    write_byte(fd);
    reset(fd);
}

/*
 * The first call returns the bytes received before the reset. The next call reports the
 * reset.
 */
SAME(receive_all_until_a_reset, true)
{
    char buf[16];
    int ends[2];

    make_tcp(ends);
    write_byte(ends[1]);
    later(20, reset_after_a_byte, ends[1]);
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    RECORD(recv(ends[0], buf, sizeof buf, MSG_WAITALL));
    finish_later();
    close(ends[0]);
}

/* Make two UDP sockets of this machine that are connected to each other. */
static void make_udp(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t bytes = sizeof at;

        ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK_INT(bind(ends[i], (struct sockaddr *)&at, bytes), 0);
        CHECK_INT(getsockname(ends[i], (struct sockaddr *)&at, &bytes), 0);
        if (i == 1)
            CHECK_INT(connect(ends[0], (struct sockaddr *)&at, bytes), 0);
    }
}

/*
 * Sending a byte to the peer, whose socket is closed, causes an ICMP error on this
 * socket.
 */
SAME(several_messages_until_an_error, true)
{
    char bufs[2][8];
    struct iovec parts[2] = {{bufs[0], 8}, {bufs[1], 8}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
    struct sockaddr_in at;
    socklen_t bytes = sizeof at;
    int ends[2];

    make_udp(ends);
    CHECK_INT(getsockname(ends[0], (struct sockaddr *)&at, &bytes), 0);
    CHECK_INT(sendto(ends[1], "x", 1, 0, (struct sockaddr *)&at, bytes), 1);
    close(ends[1]);
    later(20, write_byte, ends[0]);
    RECORD(recvmmsg(ends[0], messages, 2, 0, NULL));
    finish_later();
    RECORD(recv(ends[0], bufs[0], 8, 0));
    RECORD(recv(ends[0], bufs[0], 8, MSG_DONTWAIT));
    close(ends[0]);
}

static void close_it(int fd)
{
    close(fd);
}

/*
 * At the end of a stream, recvmmsg() reports all remaining messages with a length of 0.
 */
SAME(several_messages_of_a_stream, true)
{
    char bufs[3][8];
    struct iovec parts[3];
    struct mmsghdr messages[3] = {{.msg_len = 7}, {.msg_len = 7}, {.msg_len = 7}};
    int ends[2];

    for (int i = 0; i < 3; i++) {
        parts[i] = (struct iovec){bufs[i], 8};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    make_tcp(ends);
    write_byte(ends[1]);
    later(20, close_it, ends[1]);
    RECORD(recvmmsg(ends[0], messages, 3, 0, NULL));
    finish_later();
    record("%u %u %u", messages[0].msg_len, messages[1].msg_len, messages[2].msg_len);
    close(ends[0]);
}

SAME(several_messages_at_once, true)
{
    char bufs[4][8] = {"a", "bc", "def", ""};
    struct iovec parts[4];
    struct mmsghdr messages[4];
    struct timespec timeout = {.tv_nsec = 30000000};
    int ends[2];

    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 4; i++) {
        parts[i] = (struct iovec){bufs[i], (size_t)(i + 1)};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    make_unix(ends, SOCK_DGRAM);
    RECORD(sendmmsg(ends[1], messages, 3, 0));
    record("%u %u %u", messages[0].msg_len, messages[1].msg_len, messages[2].msg_len);
    RECORD(recvmmsg(ends[0], messages, 4, MSG_WAITFORONE, NULL));
    later(20, send_two, ends[1]);
    RECORD(recvmmsg(ends[0], messages, 2, 0, NULL));
    finish_later();
    later(40, write_byte, ends[1]);
    RECORD(recvmmsg(ends[0], messages, 4, 0, &timeout));
    finish_later();
    RECORD(recvmmsg(ends[0], messages, 4, MSG_DONTWAIT, NULL));
    RECORD(recvmmsg(ends[0], messages, 0, 0, NULL));
    close_both(ends);
    RECORD(sendmmsg(ends[1], messages, 3, 0));
    RECORD(recvmmsg(ends[0], messages, 3, 0, NULL));
}

/* ---- files without RWF_NOWAIT ------------------------------------------------------ */

struct from_terminal {
    int fd;
    size_t count;
};

static int read_terminal(void *arg)
{
    struct from_terminal *t = arg;
    char buf[1000];

    while (t->count < LARGE / 4) {
        ssize_t n = read(t->fd, buf, sizeof buf);

        CHECK(n > 0);
        t->count += n > 0 ? (size_t)n : LARGE;
    }
    return 0;
}

/*
 * If a terminal has room for only a part of the text, the rest can be written only after
 * another task has read some of it.
 */
IO_TEST(write_to_a_terminal_that_another_task_reads)
{
    struct from_terminal from = {.count = 0};
    char *buf = large();
    struct iovec parts[2] = {{buf, LARGE / 8}, {buf, LARGE / 8}};
    struct termios raw;
    coil_task *task;
    int slave;

    CHECK_INT(openpty(&from.fd, &slave, NULL, NULL, NULL), 0);
    CHECK_INT(tcgetattr(slave, &raw), 0);
    cfmakeraw(&raw);
    CHECK_INT(tcsetattr(slave, TCSANOW, &raw), 0);
    for (int i = 0; i < 2; i++) {
        from.count = 0;
        task = start_task(read_terminal, &from);
        CHECK_INT(i == 0 ? write(slave, buf, LARGE / 4) : writev(slave, parts, 2),
                  LARGE / 4);
        finish_task(task);
        CHECK_INT(from.count, LARGE / 4);
    }
    close(from.fd);
    close(slave);
    free(buf);
}

SAME(a_terminal_is_drained, false)
{
    struct termios settings;
    int master, slave, ends[2];

    make_pipe(ends);
    CHECK_INT(openpty(&master, &slave, NULL, NULL, NULL), 0);
    RECORD(write(slave, "hello", 5));
    RECORD(tcdrain(slave));
    RECORD(tcgetattr(slave, &settings));
    settings.c_lflag &= ~(tcflag_t)ECHO;
    RECORD(tcsetattr(slave, TCSADRAIN, &settings));
    RECORD(tcgetattr(slave, &settings));
    record("%d", (settings.c_lflag & ECHO) != 0);
    RECORD(tcsetattr(slave, TCSAFLUSH, &settings));
    RECORD(tcsetattr(slave, 77, &settings));
    RECORD(tcsendbreak(slave, 0));
    RECORD(tcdrain(ends[0]));
    RECORD(tcsetattr(ends[0], TCSADRAIN, &settings));
    RECORD(tcsendbreak(ends[0], 0));
    close_both(ends);
    RECORD(tcdrain(ends[0]));
    close(master);
    RECORD(tcdrain(slave));
    close(slave);
}

static int write_terminal(void *slave)
{
    char *buf = large();

    CHECK_INT(write(*(int *)slave, buf, LARGE), LARGE);
    CHECK_INT(usleep(1), -1);
    CHECK_INT(errno, ECANCELED);
    close(*(int *)slave);
    free(buf);
    return 0;
}

/*
 * Flush a FILE to a terminal twice. A thread of coil writes the buffer, and the second
 * flush must not write it again.
 */
static int flush_to_terminal(void *slave)
{
    char *text = large(), *buf = large();
    FILE *file = fdopen(*(int *)slave, "w");

    CHECK_INT(setvbuf(file, buf, _IOFBF, LARGE), 0);
    CHECK_INT(fwrite(text, 1, LARGE - 1, file), LARGE - 1);
    CHECK_INT(fflush(file), 0);
    CHECK_INT(__fpending(file), 0);
    fclose(file);
    free(buf);
    free(text);
    return 0;
}

/*
 * Cancel the task as soon as the first bytes can be read, which shows that a thread of
 * coil has begun to write them. That thread must have its own copy of all bytes.
 */
static void cancel_once_it_writes(int (*body)(void *slave))
{
    struct pollfd some = {.events = POLLIN};
    int slave;
    coil_task *task;

    CHECK_INT(openpty(&some.fd, &slave, NULL, NULL, NULL), 0);
    task = start_task(body, &slave);
    CHECK_INT(coil_poll(&some, 1, COIL_NEVER), 1);
    coil_task_cancel(task, NULL);
    finish_task(task);
    close(some.fd);
}

IO_TEST(cancelled_write_to_a_terminal)
{
    cancel_once_it_writes(write_terminal);
}

IO_TEST(cancelled_flush_to_a_terminal)
{
    cancel_once_it_writes(flush_to_terminal);
}

/* Make a FIFO at a new path, and open both ends. */
static void make_fifo(int ends[2])
{
    char folder[] = "/tmp/coil-posix-XXXXXX", path[64];

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/fifo", folder);
    CHECK_INT(mkfifo(path, 0600), 0);
    ends[0] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ends[1] = open(path, O_WRONLY | O_CLOEXEC);
    CHECK_INT(fcntl(ends[0], F_SETFL, 0), 0);
    unlink(path);
    rmdir(folder);
}

#define TIMES 200
#define LETTERS 64

static sem_t taken;

/* Read from the FIFO, and check that each read returns a whole message. */
static void *read_whole(void *fd)
{
    char buf[2 * LETTERS];

    for (int i = 0; i < TIMES; i++) {
        CHECK_INT(read(*(int *)fd, buf, sizeof buf), LETTERS);
        CHECK_INT(sem_post(&taken), 0);
    }
    return NULL;
}

/*
 * Writes of up to PIPE_BUF bytes to a FIFO are atomic, even if they consist of many
 * parts: pipe(7).
 */
IO_TEST(parts_reach_a_fifo_in_one_piece)
{
    char letters[LETTERS];
    struct iovec parts[LETTERS];
    pthread_t reader;
    int ends[2];

    make_fifo(ends);
    memset(letters, 'x', sizeof letters);
    for (int i = 0; i < LETTERS; i++)
        parts[i] = (struct iovec){&letters[i], 1};
    CHECK_INT(sem_init(&taken, 0, 0), 0);
    CHECK_INT(pthread_create(&reader, NULL, read_whole, &ends[0]), 0);
    for (int i = 0; i < TIMES; i++) {
        CHECK_INT(writev(ends[1], parts, LETTERS), LETTERS);
        CHECK_INT(sem_wait(&taken), 0);
    }
    CHECK_INT(pthread_join(reader, NULL), 0);
    close_both(ends);
}
