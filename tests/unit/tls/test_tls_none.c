/*
 * test_tls_none.c - in a build without OpenSSL, all TLS calls fail.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"

static void check_refused(int rc)
{
    CHECK_INT(rc, -ENOSYS);
    CHECK_STR(coil_error_message(coil_last_error()),
              "TLS: coil was built without OpenSSL");
}

IO_TEST(tls_that_is_not_there_leaves_streams_as_they_are)
{
    coil_stream *ends[2], *stream;
    char byte = 'x';
    coil_tls *tls;

    check_refused(coil_tls_create(NULL, &tls));
    check_refused(coil_connect_tls("127.0.0.1", "1", NULL, &stream));
    make_stream_pair(ends);
    check_refused(coil_start_tls(ends[0], NULL, "localhost"));
    check_refused(coil_accept_tls(ends[1], NULL));
    CHECK_INT(coil_tls_stop(ends[0]), -EINVAL);
    CHECK_PTR(coil_tls_version(ends[0]), NULL);
    CHECK_PTR(coil_tls_cipher(ends[0]), NULL);
    CHECK_PTR(coil_tls_alpn(ends[0]), NULL);
    CHECK_PTR(coil_tls_peer(ends[0]), NULL);
    CHECK_PTR(coil_tls_server_name(ends[0]), NULL);
    CHECK(!coil_tls_resumed(ends[0]));
    CHECK_INT(coil_tls_peer_certificate(ends[0], &byte, 1), -ENODATA);
    CHECK_INT(coil_write(ends[0], &byte, 1), 1);
    CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    coil_tls_release(NULL);
    destroy_streams(ends);
}
