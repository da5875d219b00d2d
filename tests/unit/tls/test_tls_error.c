/*
 * test_tls_error.c - converting OpenSSL's errors to coil's errors.
 */
#include "../../harness/harness.h"

#include "../../../src/tls/tls.h"

#include <coil.h>

#include <openssl/err.h>

/*
 * The position of a failed allocation's error in OpenSSL's error queue depends on the
 * version of OpenSSL.
 */
TASK_TEST(tls_failure_for_lack_of_memory_says_so_wherever_it_stands)
{
    struct coil__tls_stream stream = {.out_of_memory = false};

    for (int at = 0; at < 3; at++) {
        for (int i = 0; i < 3; i++)
            ERR_raise(ERR_LIB_X509, i == at ? ERR_R_MALLOC_FAILURE : ERR_R_ASN1_LIB);
        CHECK_INT(coil__tls_fail_setup(-EINVAL, "cannot read", "a.pem"), -ENOMEM);
        CHECK_STR(coil_error_message(coil_last_error()),
                  "cannot read 'a.pem': out of memory");
        CHECK_INT((long)ERR_peek_error(), 0);
        for (int i = 0; i < 3; i++)
            ERR_raise(ERR_LIB_X509, i == at ? ERR_R_MALLOC_FAILURE : ERR_R_ASN1_LIB);
        CHECK_INT(coil__tls_fail(&stream, "reading"), -ENOMEM);
        CHECK_INT((long)ERR_peek_error(), 0);
    }
    ERR_raise(ERR_LIB_X509, ERR_R_ASN1_LIB);
    CHECK_INT(coil__tls_fail_setup(-EINVAL, "cannot read", "a.pem"), -EINVAL);
}
