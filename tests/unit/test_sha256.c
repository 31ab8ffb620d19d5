/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: the examples of NIST for FIPS 180-4, and bytes given in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void hex_of(const char *bytes, size_t size, size_t piece, char out[DVI_SHA256_HEX])
{
    struct dvi_sha256 sum;
    uint8_t digest[DVI_SHA256_SIZE];
    dvi_sha256_begin(&sum);
    for (size_t at = 0; at < size; at += piece)
        dvi_sha256_add(&sum, bytes + at, size - at < piece ? size - at : piece);
    dvi_sha256_end(&sum, digest);
    dvi_sha256_hex(digest, out);
}

static void examples_of_the_standard(void **state)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    char hex[DVI_SHA256_HEX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hex_of(cases[i].text, strlen(cases[i].text), 1000, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

static void a_million_in_pieces_of_any_size(void **state)
{
    static char bytes[1000000];
    static const size_t pieces[] = { 1, 7, 63, 64, 65, 128, 4096, sizeof bytes };
    char hex[DVI_SHA256_HEX];
    (void)state;
    memset(bytes, 'a', sizeof bytes);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        hex_of(bytes, sizeof bytes, pieces[i], hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

/* coreutils' sha256sum of so many zero bytes: each way in which the padding fits. */
static void sizes_around_a_block(void **state)
{
    static const struct {
        size_t size;
        const char *hex;
    } cases[] = {
        { 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7" },
        { 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb" },
        { 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785" },
        { 63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971" },
        { 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b" },
        { 65, "98ce42deef51d40269d542f5314bef2c7468d401ad5d85168bfab4c0108f75f7" },
        { 119, "f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e" },
        { 120, "6edd9f6f9cc92cded36e6c4a580933f9c9f1b90562b46903b806f21902a1a54f" },
    };
    static const char zeros[128];
    char hex[DVI_SHA256_HEX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hex_of(zeros, cases[i].size, 5, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_the_standard),
        cmocka_unit_test(a_million_in_pieces_of_any_size),
        cmocka_unit_test(sizes_around_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
