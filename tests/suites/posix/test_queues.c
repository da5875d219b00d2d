/*
 * test_queues.c - splice(), FIFOs, System V queues and semaphores, POSIX queues,
 * asynchronous I/O, and calls that wait for a disk.
 */
#include "differential.h"

#include <aio.h>
#include <mqueue.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* ---- splice() and similar ---------------------------------------------------------- */

static void read_all(int fd)
{
    char buf[70000];
    ssize_t n = read(fd, buf, sizeof buf);

    record("read %zd, %.*s", n, n < 10 ? (int)(n > 0 ? n : 0) : 10, buf);
}

SAME(splice_between_pipes_and_sockets, true)
{
    int a[2], b[2], s[2];

    make_pipe(a);
    make_pipe(b);
    make_tcp(s);
    later(20, write_byte, a[1]);
    RECORD(splice(a[0], NULL, b[1], NULL, 100, 0));
    read_all(b[0]);
    later(20, write_byte, s[0]);
    RECORD(splice(s[1], NULL, a[1], NULL, 100, 0));
    RECORD(splice(a[0], NULL, s[1], NULL, 100, SPLICE_F_MOVE));
    read_all(s[0]);
    RECORD(splice(a[0], NULL, b[1], NULL, 100, SPLICE_F_NONBLOCK));
    RECORD(splice(s[0], NULL, s[1], NULL, 100, 0)); /* neither end is a pipe */
    close(a[1]);
    RECORD(splice(a[0], NULL, b[1], NULL, 100, 0)); /* end of file */
    close(s[0]);
    RECORD(splice(s[1], NULL, b[1], NULL, 100, 0));
    close(a[0]);
    close_both(b);
    close(s[1]);
    finish_later();
}

static void drain(int fd)
{
    char buf[65536];

    CHECK(read(fd, buf, sizeof buf) > 0);
}

SAME(splice_waits_for_room, true)
{
    static char full[65536];
    int a[2], b[2];

    make_pipe(a);
    make_pipe(b);
    CHECK_INT(write(b[1], full, sizeof full), sizeof full);
    CHECK_INT(write(a[1], "hello", 5), 5);
    RECORD(tee(a[0], b[1], 5, SPLICE_F_NONBLOCK));
    later(20, drain, b[0]);
    RECORD(tee(a[0], b[1], 5, 0));
    read_all(b[0]);
    read_all(a[0]);
    later(20, write_byte, a[1]);
    RECORD(tee(a[0], b[1], 5, 0));
    read_all(b[0]);
    CHECK_INT(write(b[1], full, sizeof full), sizeof full);
    later(20, drain, b[0]);
    RECORD(vmsplice(b[1], &(struct iovec){"world", 5}, 1, 0));
    read_all(b[0]);
    finish_later();
    close_both(a);
    close_both(b);
}

/* A peer that reads slowly must not block the thread, however many bytes are sent. */
SAME(splice_to_a_socket_that_is_read_slowly, true)
{
    static char much[60000];
    int p[2], s[2];
    size_t total = 0;

    make_pipe(p);
    make_tcp(s);
    later(10, read_slowly, s[0]);
    while (total < 1500000) {
        ssize_t n = write(p[1], much, sizeof much), moved = 0;

        CHECK_INT(n, sizeof much);
        for (; n > 0; n -= moved) {
            moved = splice(p[0], NULL, s[1], NULL, (size_t)n, 0);
            CHECK(moved > 0);
            total += (size_t)moved;
        }
    }
    record("%zu", total);
    shutdown(s[1], SHUT_WR);
    finish_later();
    close_both(p);
    close_both(s);
}

SAME(read_and_write_with_flags, true)
{
    char buf[100];
    struct iovec to = {buf, sizeof buf}, from = {"hello", 5};
    int p[2];

    make_pipe(p);
    later(20, write_byte, p[1]);
    RECORD(preadv2(p[0], &to, 1, -1, 0));
    RECORD(preadv2(p[0], &to, 1, -1, RWF_NOWAIT));
    RECORD(pwritev2(p[1], &from, 1, -1, 0));
    RECORD(preadv2(p[0], &to, 1, -1, RWF_HIPRI));
    RECORD(preadv2(p[0], &to, 1, 0, 0)); /* ESPIPE */
    RECORD(preadv2(p[0], &to, 1, -1, 1 << 30));
    RECORD(pwritev2(p[1], &from, 1, 7, 0));
    finish_later();
    close_both(p);
    RECORD(preadv2(p[0], &to, 1, -1, 0));
}

/* ---- FIFOs ------------------------------------------------------------------------- */

static char folder[64], path[96];

static void make_fifo(void)
{
    strcpy(folder, "/tmp/coil-posix-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/fifo", folder);
    CHECK_INT(mkfifo(path, 0600), 0);
}

static void remove_fifo(void)
{
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
}

static int other_end;

static void open_other_end(int flags)
{
    other_end = open(path, flags | O_CLOEXEC);
}

static void record_mode(int fd)
{
    record("%s, %s", fcntl(fd, F_GETFL) & O_NONBLOCK ? "O_NONBLOCK" : "blocking",
           fcntl(fd, F_GETFD) & FD_CLOEXEC ? "FD_CLOEXEC" : "inherited");
}

/*
 * Open a FIFO for reading, which waits for a writer. The writer keeps the FIFO open, so
 * that the first read does not get an end of file.
 */
SAME(open_a_fifo_to_read, true)
{
    char byte;
    int fd;

    make_fifo();
    later(20, open_other_end, O_WRONLY);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    record("%s", fd >= 0 ? "open" : strerrorname_np(errno));
    record_mode(fd);
    finish_later();
    CHECK_INT(write(other_end, "x", 1), 1);
    RECORD(read(fd, &byte, 1));
    close(other_end);
    RECORD(read(fd, &byte, 1));
    close(fd);
    remove_fifo();
}

SAME(open_a_fifo_to_write, true)
{
    int fd;

    make_fifo();
    later(20, open_other_end, O_RDONLY);
    fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
    record("%s", fd >= 0 ? "open" : strerrorname_np(errno));
    record_mode(fd);
    finish_later();
    RECORD(write(fd, "x", 1));
    close(fd);
    close(other_end);
    RECORD(open(path, O_WRONLY | O_NONBLOCK));
    RECORD(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
    remove_fifo();
    RECORD(open(path, O_RDONLY));
    fd = open("/tmp", O_TMPFILE | O_RDWR, 0640);
    CHECK(fd >= 0);
    record_mode(fd);
    close(fd);
}

static void open_briefly(int flags)
{
    close(open(path, flags | O_CLOEXEC));
}

SAME(open_a_fifo_whose_writer_goes_at_once, true)
{
    char byte;
    int fd;

    make_fifo();
    later(20, open_briefly, O_WRONLY);
    fd = open(path, O_RDONLY);
    RECORD(read(fd, &byte, 1));
    finish_later();
    close(fd);
    remove_fifo();
}

static void record_stream(FILE *file)
{
    int flags = file != NULL ? fcntl(fileno(file), F_GETFL) : 0;

    record("%s", file != NULL ? "open" : strerrorname_np(errno));
    if (file == NULL)
        return;
    record_mode(fileno(file));
    record("%s%s", flags & O_APPEND ? "O_APPEND, " : "",
           (flags & O_ACCMODE) == O_RDONLY ? "to read" : "to write");
}

/* Test all modes of fopen(), including the letters for O_APPEND, O_CLOEXEC and O_EXCL. */
SAME(open_a_fifo_as_a_stream, true)
{
    static const char *const modes[] = {"r", "reb", "rme", "w", "wb", "a", "ae"};
    FILE *file;

    make_fifo();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        bool reads = modes[i][0] == 'r';

        later(20, open_other_end, reads ? O_WRONLY : O_RDONLY);
        file = i % 2 == 0 ? fopen(path, modes[i]) : fopen64(path, modes[i]);
        record_stream(file);
        finish_later();
        if (reads)
            write_byte(other_end);
        RECORD(reads ? getc(file) : putc('x', file));
        RECORD(fclose(file));
        close(other_end);
    }
    file = fopen(path, "r+");
    record("%s", file != NULL ? "open at once" : strerrorname_np(errno));
    fclose(file);
    record_stream(fopen(path, "wx"));
    record_stream(fopen(path, "q"));
    remove_fifo();
    record_stream(fopen(path, "r"));
}

static int open_both_ways(void *arg)
{
    int fd = open(path, *(int *)arg);

    CHECK(fd >= 0);
    *(int *)arg = fd;
    return 0;
}

IO_TEST(open_a_fifo_in_two_tasks)
{
    int fds[2] = {O_RDONLY, O_WRONLY};
    coil_task *reader, *writer;

    make_fifo();
    reader = start_task(open_both_ways, &fds[0]);
    writer = start_task(open_both_ways, &fds[1]);
    finish_task(reader);
    finish_task(writer);
    close_both(fds);
    remove_fifo();
}

/* ---- System V ---------------------------------------------------------------------- */

static void need_system_v(void)
{
    int some_queue = msgget(IPC_PRIVATE, 0600);

    if (some_queue < 0 && errno == ENOSYS)
        test_skip("this kernel has no message queues and semaphores of System V");
    CHECK_INT(msgctl(some_queue, IPC_RMID, NULL), 0);
}

struct message {
    long type;
    char text[8];
};

static void send_message(int queue)
{
    struct message m = {.type = 7, .text = "later"};

    CHECK_INT(msgsnd(queue, &m, sizeof m.text, 0), 0);
}

static void receive_message(int queue)
{
    struct message m;

    CHECK_INT(msgrcv(queue, &m, sizeof m.text, 0, 0), sizeof m.text);
}

static void exchange_messages(void)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    struct message m = {.type = 3, .text = "first"};
    struct msqid_ds status;

    CHECK(queue >= 0);
    RECORD(msgsnd(queue, &m, sizeof m.text, 0));
    RECORD(msgrcv(queue, &m, sizeof m.text, 7, IPC_NOWAIT));
    RECORD(msgrcv(queue, &m, sizeof m.text, 3, MSG_COPY));
    RECORD(msgrcv(queue, &m, sizeof m.text, 3, 0));
    later(20, send_message, queue);
    RECORD(msgrcv(queue, &m, sizeof m.text, 7, 0));
    record("%ld %s", m.type, m.text);
    finish_later();
    CHECK_INT(msgctl(queue, IPC_STAT, &status), 0);
    status.msg_qbytes = sizeof m.text;
    CHECK_INT(msgctl(queue, IPC_SET, &status), 0);
    RECORD(msgsnd(queue, &m, sizeof m.text, 0));
    RECORD(msgsnd(queue, &m, sizeof m.text, IPC_NOWAIT));
    later(20, receive_message, queue);
    RECORD(msgsnd(queue, &m, sizeof m.text, 0));
    finish_later();
    CHECK_INT(msgctl(queue, IPC_RMID, NULL), 0);
    RECORD(msgrcv(queue, &m, sizeof m.text, 7, 0));
}

IO_TEST(messages_of_system_v)
{
    need_system_v();
    compare_in_and_out(exchange_messages, true);
}

static void raise_by_two(int set)
{
    CHECK_INT(semop(set, &(struct sembuf){.sem_op = 2}, 1), 0);
}

static void use_semaphores(void)
{
    int set = semget(IPC_PRIVATE, 2, 0600);
    struct sembuf down[2] = {{.sem_op = -1}, {.sem_op = -1}};

    CHECK(set >= 0);
    later(20, raise_by_two, set);
    RECORD(semop(set, down, 2));
    RECORD_AT_LEAST(20,
                    semtimedop(set, down, 1, &(struct timespec){.tv_nsec = 20000000}));
    down[0].sem_flg = IPC_NOWAIT;
    RECORD(semop(set, down, 1));
    RECORD(semop(set, down, 0));
    RECORD(semop(set, &(struct sembuf){.sem_op = 0}, 1));
    finish_later();
    CHECK_INT(semctl(set, 0, IPC_RMID), 0);
    RECORD(semop(set, down, 1));
}

IO_TEST(semaphores_of_system_v)
{
    need_system_v();
    compare_in_and_out(use_semaphores, true);
}

/* ---- a disk ------------------------------------------------------------------------ */

SAME(write_to_the_disk, false)
{
    char name[] = "/tmp/coil-posix-XXXXXX", *memory;
    int fd = mkstemp(name), p[2];

    unlink(name);
    make_pipe(p);
    CHECK_INT(ftruncate(fd, 4096), 0);
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memory[0] = 'x';
    RECORD(msync(memory, 4096, MS_SYNC));
    RECORD(msync(memory, 4096, MS_ASYNC));
    RECORD(msync(memory + 1, 1, MS_SYNC));
    munmap(memory, 4096);
    RECORD(fsync(fd));
    RECORD(fdatasync(fd));
    RECORD(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
    RECORD(fsync(p[0]));
    close_both(p);
    close(fd);
    RECORD(fsync(fd));
    RECORD(fdatasync(fd));
    RECORD(syncfs(fd));
}

struct syncing {
    int fd;
    bool done;
};

static int write_out(void *arg)
{
    struct syncing *s = arg;

    CHECK_INT(fsync(s->fd), 0);
    s->done = true;
    return 0;
}

IO_TEST(write_to_the_disk_beside_other_tasks)
{
    char name[] = "/tmp/coil-posix-XXXXXX";
    struct syncing s = {.fd = mkstemp(name)};
    coil_task *task = start_task(write_out, &s);

    unlink(name);
    coil_yield();
    CHECK(!s.done); /* another thread writes, so other tasks can run */
    finish_task(task);
    CHECK(s.done);
    close(s.fd);
}

/* ---- cancelled --------------------------------------------------------------------- */

static int ends[2], queue, set;

static long call_splice(void)
{
    return splice(ends[0], NULL, other_end, NULL, 1, 0);
}

static long call_tee(void)
{
    return tee(ends[0], other_end, 1, 0);
}

static long call_preadv2(void)
{
    char byte;

    return preadv2(ends[0], &(struct iovec){&byte, 1}, 1, -1, 0);
}

static long call_open_to_read(void)
{
    return open(path, O_RDONLY);
}

static long call_open_to_write(void)
{
    return open(path, O_WRONLY);
}

static long call_msgrcv(void)
{
    struct message m;

    errno = ECANCELED;
    return queue < 0 ? coil_park() : msgrcv(queue, &m, sizeof m.text, 0, 0);
}

static long call_semop(void)
{
    errno = ECANCELED;
    return set < 0 ? coil_park() : semop(set, &(struct sembuf){.sem_op = -1}, 1);
}

static long (*const calls[])(void) = {call_splice,       call_tee,           call_preadv2,
                                      call_open_to_read, call_open_to_write, call_msgrcv,
                                      call_semop};

struct calling {
    long (*call)(void);
    int error;
    bool ended;
};

static int do_call(void *arg)
{
    struct calling *c = arg;

    CHECK(c->call() < 0);
    c->error = errno;
    c->ended = true;
    return 0;
}

IO_TEST(cancelled_calls_on_queues_fail)
{
    int aside[2];

    need_system_v();
    make_fifo();
    make_pipe(ends);
    make_pipe(aside);
    other_end = aside[1];
    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct calling c = {.call = calls[i]};
        coil_task *task = start_task(do_call, &c);

        coil_sleep(COIL_MSEC(2));
        CHECK(!c.ended);
        coil_task_cancel(task, NULL);
        finish_task(task);
        CHECK_INT(c.error, ECANCELED);
    }
    if (queue >= 0)
        CHECK_INT(msgctl(queue, IPC_RMID, NULL), 0);
    if (set >= 0)
        CHECK_INT(semctl(set, 0, IPC_RMID), 0);
    close_both(ends);
    close_both(aside);
    remove_fifo();
}

/* ---- POSIX message queues ---------------------------------------------------------- */

static mqd_t open_queue(long most)
{
    struct mq_attr attributes = {.mq_maxmsg = most, .mq_msgsize = 16};
    char name[40];
    mqd_t mail;

    snprintf(name, sizeof name, "/coil-queue-%d", (int)getpid());
    mail = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    return mail;
}

static void post_message(int mail)
{
    CHECK_INT(mq_send(mail, "later", 5, 3), 0);
}

static void take_message(int mail)
{
    char text[16];

    CHECK(mq_receive(mail, text, sizeof text, NULL) > 0);
}

SAME(messages_wait_in_a_posix_queue, true)
{
    struct timespec due = from_now(CLOCK_REALTIME, 15), wrong = {0, -1}, past = {0, 0};
    mqd_t mail = open_queue(1);
    char text[16];
    unsigned priority;

    if (mail < 0)
        return; /* not every kernel supports message queues */
    later(20, post_message, mail);
    RECORD(mq_receive(mail, text, sizeof text, &priority));
    record("%.5s, %u", text, priority);
    RECORD(mq_timedreceive(mail, text, sizeof text, NULL, &due));
    record("%d", has_come(CLOCK_REALTIME, &due));
    RECORD(mq_timedreceive(mail, text, sizeof text, NULL, &wrong));
    RECORD(mq_timedreceive(mail, text, sizeof text, NULL, &past));
    RECORD(mq_receive(mail, text, 1, NULL));
    RECORD(mq_send(mail, "full", 4, 1));
    due = from_now(CLOCK_REALTIME, 15);
    RECORD(mq_timedsend(mail, "x", 1, 0, &due));
    record("%d", has_come(CLOCK_REALTIME, &due));
    later(20, take_message, mail);
    RECORD(mq_send(mail, "more", 4, 1));
    /* a message is already in the queue */
    RECORD(mq_timedreceive(mail, text, sizeof text, NULL, &due));
    RECORD(mq_send(mail, text, 17, 1));
    finish_later();
    RECORD(mq_setattr(mail, &(struct mq_attr){.mq_flags = O_NONBLOCK}, NULL));
    RECORD(mq_receive(mail, text, sizeof text, NULL));
    RECORD(mq_close(mail));
    RECORD(mq_receive(mail, text, sizeof text, NULL));
}

/* ---- asynchronous I/O -------------------------------------------------------------- */

SAME(aio_is_waited_for, true)
{
    struct timespec span = {0, 15000000}, wrong = {0, -1};
    int both[2];
    char byte = 0;
    struct aiocb reading = {.aio_buf = &byte, .aio_nbytes = 1};
    const struct aiocb *list[] = {NULL, &reading};

    make_unix(both, SOCK_STREAM);
    reading.aio_fildes = both[0];
    RECORD(aio_read(&reading));
    RECORD_AT_LEAST(15, aio_suspend(list, 2, &span));
    RECORD(aio_suspend(list, 2, &wrong));
    later(20, write_byte, both[1]);
    RECORD(aio_suspend(list, 2, NULL));
    RECORD(aio_error(&reading));
    RECORD(aio_return(&reading));
    RECORD(aio_suspend(list, 2, NULL)); /* returns at once: the operation has finished */
    finish_later();
    close_both(both);
}

static void record_operations(struct aiocb *const *list, int n)
{
    for (int i = 0; i < n; i++)
        record("%d: %d, %d", i, aio_error(list[i]), (int)aio_return(list[i]));
}

SAME(a_list_of_aio_is_waited_for, true)
{
    char byte = 0;
    struct aiocb reading = {.aio_buf = &byte, .aio_nbytes = 1},
                 writing = {.aio_buf = "x", .aio_nbytes = 1},
                 nothing = {.aio_lio_opcode = LIO_NOP},
                 unknown = {.aio_fildes = -1, .aio_lio_opcode = LIO_READ},
                 wrong = {.aio_lio_opcode = LIO_READ, .aio_reqprio = -1},
                 strange = {.aio_lio_opcode = 77};
    struct aiocb *all[] = {&reading, NULL, &nothing, &writing};
    struct aiocb *some[] = {&reading, &unknown}, *few[] = {&reading, &wrong};
    struct aiocb *none[] = {&nothing}, *bad[] = {&wrong}, *odd[] = {&strange};
    int both[2];

    make_unix(both, SOCK_STREAM);
    reading.aio_fildes = writing.aio_fildes = both[0];
    reading.aio_lio_opcode = LIO_READ;
    writing.aio_lio_opcode = LIO_WRITE;
    later(20, write_byte, both[1]);
    RECORD(lio_listio(LIO_WAIT, all, 4, NULL));
    record_operations((struct aiocb *const[]){&reading, &writing}, 2);
    finish_later();
    later(20, write_byte, both[1]);
    RECORD(lio_listio(LIO_WAIT, some, 2, NULL)); /* EIO */
    record_operations(some, 2);
    finish_later();
    later(20, write_byte, both[1]);
    RECORD(lio_listio(LIO_WAIT, few, 2, NULL)); /* EIO */
    record_operations((struct aiocb *const[]){&reading}, 1);
    finish_later();
    RECORD(lio_listio(LIO_WAIT, none, 1, NULL));
    RECORD(lio_listio(LIO_WAIT, bad, 1, NULL)); /* EINVAL */
    RECORD(lio_listio(LIO_WAIT, odd, 1, NULL)); /* EIO */
    record_operations(odd, 1);
    RECORD(lio_listio(77, all, 4, NULL));
    close_both(both);
}

/* ---- counters ---------------------------------------------------------------------- */

static void count_two(int fd)
{
    CHECK_INT(eventfd_write(fd, 2), 0);
}

static void uncount(int fd)
{
    eventfd_t count;

    CHECK_INT(eventfd_read(fd, &count), 0);
}

SAME(counters_are_waited_for, true)
{
    eventfd_t count = 0;
    int fd = eventfd(0, 0);

    later(20, count_two, fd);
    RECORD(eventfd_read(fd, &count));
    record("%d", (int)count);
    finish_later();
    RECORD(eventfd_write(fd, (eventfd_t)-2));
    later(20, uncount, fd);
    RECORD(eventfd_write(fd, 5));
    finish_later();
    RECORD(eventfd_read(fd, &count));
    record("%d", (int)count);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    RECORD(eventfd_read(fd, &count));
    close(fd);
    RECORD(eventfd_read(fd, &count));
}
