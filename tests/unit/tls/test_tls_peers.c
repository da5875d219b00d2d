/*
 * test_tls_peers.c - TLS with peers that use other implementations: OpenSSL on a thread,
 * for things that coil never does; OpenSSL's programs; and Python's ssl module.
 */
#include "certificates.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <coil/testing.h>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- a peer in a thread ------------------------------------------------------------ */

struct peer {
    struct certificates files;
    int max_version;
    bool is_client;
    void (*talk)(struct peer *peer); /* called on the peer's thread after the handshake */
    SSL *ssl;
    int fd, handshake;
    int go[2]; /* a pipe; a byte makes a waiting peer continue */
    int comes; /* number of bytes that the peer's next read returns */
    pthread_t thread;
};

static void *run_peer(void *arg)
{
    struct peer *p = arg;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());

    SSL_CTX_set_max_proto_version(ctx, p->max_version);
    SSL_CTX_use_certificate_chain_file(ctx, p->files.server);
    SSL_CTX_use_PrivateKey_file(ctx, p->files.server, SSL_FILETYPE_PEM);
    p->ssl = SSL_new(ctx);
    SSL_set_fd(p->ssl, p->fd);
    p->handshake = p->is_client ? SSL_connect(p->ssl) : SSL_accept(p->ssl);
    if (p->handshake == 1)
        p->talk(p);
    SSL_free(p->ssl);
    SSL_CTX_free(ctx);
    OPENSSL_thread_stop();
    return NULL;
}

/* Connect to the peer as a coil client, and complete the handshake. */
static coil_stream *connect_to_peer(struct peer *p)
{
    coil_stream *stream = make_stream_and_peer(&p->fd);
    coil_tls *tls;

    certificates_make(&p->files);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = p->files.root}, &tls), 0);
    CHECK_INT(pthread_create(&p->thread, NULL, run_peer, p), 0);
    CHECK_INT(coil_start_tls(stream, tls, "localhost"), 0);
    coil_tls_release(tls);
    return stream;
}

/* Accept the peer as a coil server, and complete the handshake. */
static coil_stream *accept_peer(struct peer *p)
{
    coil_stream *stream = make_stream_and_peer(&p->fd);
    coil_tls *tls;

    p->is_client = true;
    certificates_make(&p->files);
    CHECK_INT(
        coil_tls_create(&(coil_tls_opts){.certificate_file = p->files.server}, &tls), 0);
    CHECK_INT(pthread_create(&p->thread, NULL, run_peer, p), 0);
    CHECK_INT(coil_accept_tls(stream, tls), 0);
    coil_tls_release(tls);
    return stream;
}

static void leave_peer(struct peer *p, coil_stream *stream)
{
    coil_stream_destroy(stream);
    pthread_join(p->thread, NULL);
    close(p->fd);
    certificates_remove(&p->files);
}

static void check_reads(coil_stream *stream, const char *text)
{
    char buf[64] = "";

    CHECK_INT(coil_read_exact(stream, buf, strlen(text)), strlen(text));
    CHECK_STR(buf, text);
}

/* ---- tickets in pieces ------------------------------------------------------------- */

enum { BIG_TICKET = 2000, SMALL_RECORD = 512 };

static int make_ticket_big(SSL *ssl, void *arg)
{
    static char data[BIG_TICKET];

    (void)arg;
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, sizeof data);
}

/* Return the length of the record at `record` (RFC 8446, 5.1). */
static size_t length_of_record(const unsigned char *record)
{
    return 5 + ((size_t)record[3] << 8 | record[4]);
}

/*
 * Send "tick" and the first record of a session ticket, and the rest of the ticket after
 * the test has written to `go`.
 */
static void send_ticket_in_pieces(struct peer *p)
{
    BIO *socket = SSL_get_wbio(p->ssl), *memory = BIO_new(BIO_s_mem());
    unsigned char *bytes;
    char buf[8];
    size_t first, all;

    SSL_CTX_set_session_ticket_cb(SSL_get_SSL_CTX(p->ssl), make_ticket_big, NULL, NULL);
    SSL_set_max_send_fragment(p->ssl, SMALL_RECORD);
    BIO_up_ref(socket);
    SSL_set0_wbio(p->ssl, memory);
    CHECK_INT(SSL_write(p->ssl, "tick", 4), 4);
    CHECK_INT(SSL_new_session_ticket(p->ssl), 1);
    CHECK_INT(SSL_do_handshake(p->ssl), 1);
    all = (size_t)BIO_get_mem_data(memory, &bytes);
    first = length_of_record(bytes);
    first += length_of_record(bytes + first);
    CHECK(all > BIG_TICKET);
    CHECK_INT(write(p->fd, bytes, first), first);
    CHECK_INT(read(p->go[0], buf, 1), 1);
    CHECK_INT(write(p->fd, bytes + first, all - first), all - first);
    SSL_set0_wbio(p->ssl, socket);
    CHECK_INT(SSL_read(p->ssl, buf, 4), p->comes);
    CHECK_INT(SSL_write(p->ssl, "tack", 4), 4);
    SSL_shutdown(p->ssl);
}

struct piece {
    coil_stream *stream;
    char bytes[4];
    ssize_t result;
};

static int read_piece(void *arg)
{
    struct piece *piece = arg;

    piece->result = coil_read_exact(piece->stream, piece->bytes, 4);
    return 0;
}

static int wait_for_piece(void *arg)
{
    struct piece *piece = arg;

    piece->result = coil_stream_wait_readable(piece->stream);
    return piece->result < 0 ? 0 : read_piece(piece);
}

static int write_piece(void *arg)
{
    struct piece *piece = arg;

    piece->result = coil_write(piece->stream, "tock", 4);
    return 0;
}

static int write_no_more(void *arg)
{
    struct piece *piece = arg;

    piece->result = coil_stream_shutdown_write(piece->stream);
    return 0;
}

/*
 * Write, or shut down the writing side, after the first record of a ticket has arrived.
 * OpenSSL encrypts nothing until it has the whole ticket, so the writer must wait.
 */
static void check_ticket_in_pieces(coil_task_fn read, coil_task_fn write_out,
                                   bool reader_leaves)
{
    int comes = write_out == write_piece ? 4 : 0;
    struct peer p = {
        .max_version = TLS1_3_VERSION, .talk = send_ticket_in_pieces, .comes = comes};
    struct piece in = {.result = -1}, out = {.result = -1};
    coil_task *reader, *writer;

    CHECK_INT(pipe2(p.go, O_CLOEXEC), 0);
    in.stream = out.stream = connect_to_peer(&p);
    check_reads(in.stream, "tick");
    reader = test_spawn(read, &in);
    coil_wait_all_blocked();
    if (reader_leaves) {
        coil_task_cancel(reader, NULL);
        test_join(reader);
        CHECK_INT(in.result, -ECANCELED);
    }
    writer = test_spawn(write_out, &out);
    coil_wait_all_blocked();
    CHECK_INT(out.result, -1); /* still waiting */
    if (reader_leaves)
        reader = test_spawn(read, &in);
    coil_wait_all_blocked();
    CHECK_INT(write(p.go[1], "", 1), 1);
    CHECK_INT(test_join(writer), 0);
    CHECK_INT(out.result, comes);
    CHECK_INT(test_join(reader), 0);
    CHECK_INT(in.result, 4);
    CHECK(memcmp(in.bytes, "tack", 4) == 0);
    leave_peer(&p, in.stream);
    close(p.go[0]);
    close(p.go[1]);
}

IO_TEST(tls_writes_beside_a_reader_of_a_ticket_in_pieces)
{
    check_ticket_in_pieces(read_piece, write_piece, false);
    check_ticket_in_pieces(wait_for_piece, write_piece, false);
}

IO_TEST(tls_writes_without_a_reader_of_a_ticket_in_pieces)
{
    check_ticket_in_pieces(read_piece, write_piece, true);
    check_ticket_in_pieces(wait_for_piece, write_piece, true);
}

IO_TEST(tls_shuts_down_beside_a_reader_of_a_ticket_in_pieces)
{
    check_ticket_in_pieces(read_piece, write_no_more, false);
    check_ticket_in_pieces(read_piece, write_no_more, true);
}

/* ---- key updates ------------------------------------------------------------------- */

static void update_keys_often(struct peer *p)
{
    char buf[16];

    for (int i = 0; i < 50; i++) {
        SSL_key_update(p->ssl,
                       i % 2 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
        CHECK_INT(SSL_write(p->ssl, "tick", 4), 4);
    }
    for (int i = 0; i < 50; i++)
        CHECK_INT(SSL_read(p->ssl, buf, 4), 4);
    SSL_shutdown(p->ssl);
}

/* A peer's key updates are answered by the next write, or by a read. */
IO_TEST(tls_answers_key_updates)
{
    struct peer p = {.max_version = TLS1_3_VERSION, .talk = update_keys_often};
    coil_stream *stream = connect_to_peer(&p);
    char byte;

    for (int i = 0; i < 50; i++)
        check_reads(stream, "tick");
    for (int i = 0; i < 50; i++)
        CHECK_INT(coil_write(stream, "tock", 4), 4);
    CHECK_INT(coil_read(stream, &byte, 1), 0);
    leave_peer(&p, stream);
}

/*
 * If key updates arrive while a writer is waiting, the answers must not change the buffer
 * from which the kernel is reading.
 */
#define FLOOD ((size_t)12 * 1024 * 1024)

static void update_keys_and_read_late(struct peer *p)
{
    static unsigned char buf[16384];
    size_t received = 0, wrong = 0;
    int n;

    for (int i = 0; i < 20; i++) {
        SSL_key_update(p->ssl, SSL_KEY_UPDATE_REQUESTED);
        CHECK_INT(SSL_write(p->ssl, "tick", 4), 4);
    }
    while (received < FLOOD && (n = SSL_read(p->ssl, buf, sizeof buf)) > 0) {
        for (int i = 0; i < n; i++)
            wrong += buf[i] != pattern_byte(received + (size_t)i);
        received += (size_t)n;
    }
    CHECK_INT(received, FLOOD);
    CHECK_INT(wrong, 0);
    SSL_shutdown(p->ssl);
}

struct flood {
    coil_stream *stream;
    ssize_t result;
};

static int write_flood(void *arg)
{
    struct flood *f = arg;
    unsigned char *bytes = malloc(FLOOD);

    for (size_t i = 0; i < FLOOD; i++)
        bytes[i] = pattern_byte(i);
    f->result = coil_write(f->stream, bytes, FLOOD);
    free(bytes);
    return 0;
}

IO_TEST(tls_answers_key_updates_while_a_writer_waits)
{
    struct peer p = {.max_version = TLS1_3_VERSION, .talk = update_keys_and_read_late};
    coil_stream *stream = connect_to_peer(&p);
    struct flood flood = {stream, 0};
    coil_task *writer;
    char byte;

    CHECK_INT(coil_spawn(write_flood, &flood, NULL, &writer), 0);
    settle();
    for (int i = 0; i < 20; i++)
        check_reads(stream, "tick");
    CHECK_INT(coil_task_await(writer), 0);
    coil_task_release(writer);
    CHECK_INT(flood.result, FLOOD);
    CHECK_INT(coil_read(stream, &byte, 1), 0);
    leave_peer(&p, stream);
}

/* ---- renegotiation ----------------------------------------------------------------- */

static void renegotiate(struct peer *p)
{
    char buf[16];

    SSL_renegotiate(p->ssl);
    /* SSL_do_handshake() only sends the request; SSL_read() reads the client's answer. */
    CHECK(SSL_do_handshake(p->ssl) == 1);
    CHECK(SSL_read(p->ssl, buf, sizeof buf) <= 0);
    ERR_clear_error();
}

/*
 * Request a renegotiation as a client. OpenSSL treats coil's warning as a failed
 * handshake.
 */
static void renegotiate_as_client(struct peer *p)
{
    CHECK_INT(SSL_write(p->ssl, "tick", 4), 4);
    SSL_renegotiate(p->ssl);
    CHECK(SSL_do_handshake(p->ssl) != 1);
    CHECK_INT(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

/*
 * Check that coil refuses the renegotiation with a warning, after which this peer ends
 * the connection.
 */
static void check_that_it_is_refused(coil_stream *stream)
{
    char byte;

    CHECK_STR(coil_tls_version(stream), "TLSv1.2");
    CHECK_INT(coil_read(stream, &byte, 1), -EPROTO);
    CHECK(strstr(coil_error_message(coil_last_error()), "alert") != NULL);
}

IO_TEST(tls_refuses_renegotiation)
{
    struct peer p = {.max_version = TLS1_2_VERSION, .talk = renegotiate};
    coil_stream *stream = connect_to_peer(&p);

    check_that_it_is_refused(stream);
    leave_peer(&p, stream);
}

IO_TEST(tls_refuses_renegotiation_to_clients)
{
    struct peer p = {.max_version = TLS1_2_VERSION, .talk = renegotiate_as_client};
    coil_stream *stream = accept_peer(&p);

    CHECK_STR(coil_tls_version(stream), "TLSv1.2");
    check_reads(stream, "tick");
    check_that_it_is_refused(stream);
    leave_peer(&p, stream);
}

/* ---- odd records ------------------------------------------------------------------- */

static void write_tiny_records(struct peer *p)
{
    char buf[8];

    SSL_set_max_send_fragment(p->ssl, 512);
    for (int i = 0; i < 300; i++)
        CHECK_INT(SSL_write(p->ssl, "0123456789", 10), 10);
    CHECK_INT(SSL_read(p->ssl, buf, 4), 4);
    SSL_shutdown(p->ssl);
}

IO_TEST(tls_many_small_records)
{
    struct peer p = {.max_version = TLS1_3_VERSION, .talk = write_tiny_records};
    coil_stream *stream = connect_to_peer(&p);
    char buf[3000];

    CHECK_INT(coil_read_exact(stream, buf, sizeof buf), sizeof buf);
    CHECK(memcmp(buf + sizeof buf - 10, "0123456789", 10) == 0);
    CHECK_INT(coil_write(stream, "done", 4), 4);
    CHECK_INT(coil_read(stream, buf, sizeof buf), 0);
    leave_peer(&p, stream);
}

/* ---- programs ---------------------------------------------------------------------- */

struct program {
    pid_t pid;
    coil_stream *in, *out;
};

static void start_program(struct program *program, const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    CHECK_INT(pipe2(in, O_CLOEXEC), 0);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&program->pid, argv[0], &actions, NULL, (char **)argv, environ) != 0)
        test_skip("a program is not installed");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    CHECK_INT(coil_stream_adopt(in[1], &program->in), 0);
    CHECK_INT(coil_stream_adopt(out[0], &program->out), 0);
}

static void end_program(struct program *program)
{
    coil_stream_destroy(program->in);
    coil_stream_destroy(program->out);
    kill(program->pid, SIGKILL);
    waitpid(program->pid, NULL, 0);
}

/* Read the number after the last colon of the first line that contains `mark`. */
static void read_port(const struct program *program, const char *mark, char port[8])
{
    char line[256] = "";

    while (strstr(line, mark) == NULL)
        if (coil_read_line(program->out, line, sizeof line) < 0)
            test_skip("a program did not start");
    snprintf(port, 8, "%s", strrchr(line, ':') + 1);
}

static const char python_server[] = "import ssl, sys, socket\n"
                                    "c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
                                    "c.load_cert_chain(sys.argv[1])\n"
                                    "c.set_alpn_protocols(['echo'])\n"
                                    "l = socket.create_server(('127.0.0.1', 0))\n"
                                    "print('port:%d' % l.getsockname()[1], flush=True)\n"
                                    "s = c.wrap_socket(l.accept()[0], server_side=True)\n"
                                    "while (data := s.recv(65536)):\n"
                                    "    s.sendall(data)\n"
                                    "s.unwrap()\n";

/* Write a line, read it back, and end the connection properly. */
static void check_echo(coil_stream *stream)
{
    static char sent[100000], back[100000];

    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)pattern_byte(i);
    CHECK_INT(coil_write(stream, sent, sizeof sent), sizeof sent);
    CHECK_INT(coil_read_exact(stream, back, sizeof back), sizeof back);
    CHECK(memcmp(sent, back, sizeof sent) == 0);
    CHECK_INT(coil_tls_stop(stream), 0);
}

IO_TEST(tls_client_of_python)
{
    struct certificates files;
    struct program python;
    coil_tls *tls;
    coil_stream *stream;
    char port[8];

    certificates_make(&files);
    start_program(&python, (const char *const[]){"python3", "-c", python_server,
                                                 files.server, NULL});
    read_port(&python, "port", port);
    CHECK_INT(
        coil_tls_create(&(coil_tls_opts){.ca_file = files.root,
                                         .alpn = (const char *const[]){"echo", NULL}},
                        &tls),
        0);
    CHECK_INT(coil_connect_tls("127.0.0.1", port, tls, &stream), 0);
    CHECK_STR(coil_tls_alpn(stream), "echo");
    check_echo(stream);
    coil_stream_destroy(stream);
    coil_tls_release(tls);
    end_program(&python);
    certificates_remove(&files);
}

IO_TEST(tls_client_of_s_server)
{
    struct certificates files;
    struct program server;
    coil_tls *tls;
    coil_stream *stream;
    char port[8], line[32];

    certificates_make(&files);
    start_program(&server, (const char *const[]){
                               "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                               files.server, "-cert_chain", files.server, "-rev", NULL});
    read_port(&server, "ACCEPT", port);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = files.root}, &tls), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_connect_tls("127.0.0.1", port, tls, &stream), 0);
        CHECK_INT(coil_tls_resumed(stream), i > 0);
        CHECK_INT(coil_write(stream, "drawer\n", 7), 7);
        CHECK_INT(coil_read_line(stream, line, sizeof line), 6);
        CHECK_STR(line, "reward");
        coil_stream_destroy(stream);
    }
    coil_tls_release(tls);
    end_program(&server);
    certificates_remove(&files);
}

static const char python_client[] =
    "import ssl, sys, socket\n"
    "c = ssl.create_default_context(cafile=sys.argv[2])\n"
    "c.verify_flags &= ~ssl.VERIFY_X509_STRICT\n"
    "s = c.wrap_socket(socket.create_connection(('127.0.0.1', sys.argv[1])),\n"
    "                  server_hostname='localhost')\n"
    "data = bytes(range(256)) * 4000\n"
    "s.sendall(data[:100])\n"
    "assert s.recv(100) == data[:100]\n"
    "s.sendall(data[100:])\n"
    "got = b''\n"
    "while len(got) < len(data) - 100:\n"
    "    got += s.recv(65536)\n"
    "assert got == data[100:]\n"
    "s.unwrap()\n"
    "print('fine', flush=True)\n";

/* Start a coil server and a client program that connects to its port. Serve it. */
static void serve(const char *const *client, const char *says)
{
    struct certificates files;
    struct program program;
    coil_listener *listener;
    coil_stream *stream;
    coil_tls *tls;
    char port[8], line[64] = "", buf[20000];
    const char *argv[12];
    ssize_t n;
    int argc = 0;

    certificates_make(&files);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.certificate_file = files.server}, &tls),
              0);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    for (; client[argc] != NULL; argc++)
        argv[argc] = strcmp(client[argc], "PORT") == 0   ? port
                     : strcmp(client[argc], "ROOT") == 0 ? files.root
                                                         : client[argc];
    argv[argc] = NULL;
    start_program(&program, argv);
    CHECK_INT(coil_write(program.in, "line\n", 5), 5);
    CHECK_INT(coil_accept(listener, &stream), 0);
    CHECK_INT(coil_accept_tls(stream, tls), 0);
    while ((n = coil_read(stream, buf, sizeof buf)) > 0) {
        CHECK_INT(coil_write(stream, buf, (size_t)n), n);
        if (buf[n - 1] == '\n')
            coil_stream_shutdown_write(stream);
    }
    CHECK_INT(n, 0);
    CHECK_INT(coil_stream_shutdown_write(stream), 0);
    while (strstr(line, says) == NULL && n >= 0)
        n = coil_read_line(program.out, line, sizeof line);
    CHECK_STR(line, says);
    coil_stream_destroy(stream);
    coil_listener_destroy(listener);
    coil_tls_release(tls);
    end_program(&program);
    certificates_remove(&files);
}

IO_TEST(tls_server_of_python)
{
    serve((const char *const[]){"python3", "-c", python_client, "PORT", "ROOT", NULL},
          "fine");
}

IO_TEST(tls_server_of_s_client)
{
    serve((const char *const[]){"openssl", "s_client", "-connect", "127.0.0.1", "-port",
                                "PORT", "-CAfile", "ROOT", "-verify_return_error",
                                "-quiet", NULL},
          "line");
}
