/* Names and text from binaries, overhead tags, byte readers, decompression. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/elf/byte-reader.h"
#include "hpcstruct/elf/decompress.h"
#include "hpcstruct/elf/names.h"
#include "lib/source-names.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

static void check_demangled(const char *name, const char *expected)
{
    char *found = demangled_name(name);
    assert_string_equal(found, expected);
    free(found);
}

TEST(test_demangled)
{
    check_demangled("main", "main");
    check_demangled("_start", "_start");
    check_demangled("__libc_start_main", "__libc_start_main");
    check_demangled("_ZN6shapes4areaEi", "shapes::area(int)");
    check_demangled("_ZN6shapes4areaEd", "shapes::area(double)");
    check_demangled("_ZSt4sortIPiEvT_S1_", "void std::sort<int*>(int*, int*)");
    check_demangled("_Zjunk", "_Zjunk");
    check_demangled("_ZN3fooEv.part.0", "foo() [clone .part.0]");
    check_demangled("foo.part.0", "foo.part.0");
    check_demangled("_RNvC6_123foo3bar", "123foo::bar");
    check_demangled("_ZN3fooEv@plt", "foo()@plt");
    check_demangled("_ZdlPv@plt", "operator delete(void*)@plt");
    check_demangled("_Zjunk@plt", "_Zjunk@plt");
    check_demangled("puts@plt", "puts@plt");
    check_demangled("@plt", "@plt");
    check_demangled("", "");
}

TEST(test_cold_names)
{
    assert_true(is_cold_name("foo.cold"));
    assert_true(is_cold_name("foo.cold.12"));
    assert_true(is_cold_name("foo.part.0.cold"));
    assert_false(is_cold_name("foo"));
    assert_false(is_cold_name("foo.part.0"));
    assert_false(is_cold_name("foo.colder"));
    assert_false(is_cold_name("foo.cold.x"));
    assert_false(is_cold_name(".cold"));
    assert_true(is_cold_name_of("foo.cold", "foo"));
    assert_true(is_cold_name_of("foo.cold.3", "foo"));
    assert_true(is_cold_name_of("foo.part.0.cold", "foo.part.0"));
    assert_false(is_cold_name_of("foo.part.0.cold", "foo"));
    assert_false(is_cold_name_of("foo.cold", "fo"));
    assert_false(is_cold_name_of("foo", "foo"));
}

TEST(test_no_return_names)
{
    static const char *const yes[] = {
        "abort",
        "exit",
        "_exit",
        "_Exit",
        "longjmp",
        "siglongjmp",
        "__assert_fail",
        "__stack_chk_fail",
        "__cxa_throw",
        "__cxa_rethrow",
        "_Unwind_Resume",
        "verrx",
        "err",
        "_ZSt9terminatev",
        "_ZSt20__throw_length_errorPKc",
        "pthread_exit",
        "quick_exit",
        "__longjmp_chk",
        "__chk_fail",
        "thrd_exit",
        "abort@plt",
        "__cxa_throw@plt",
    };
    static const char *const no[] = {"",    "abor", "abort_all", "Exit",   "printf",
                                     "zzz", "@plt", "main@plt",  "setjmp", "error"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(is_no_return_name(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(is_no_return_name(no[i]));
}

TEST(test_overhead_kind)
{
    assert_string_equal(overhead_kind("hpctoolkit:parallel-overhead"), "overhead");
    assert_string_equal(overhead_kind("/a/b/hpctoolkit:parallel-overhead"), "overhead");
    assert_string_equal(overhead_kind("/a/hpctoolkit:parallel-overhead:"), "overhead");
    assert_string_equal(overhead_kind("hpctoolkit:parallel-overhead:sync"), "sync");
    assert_null(overhead_kind("hpctoolkit:parallel-overheads"));
    assert_null(overhead_kind("/hpctoolkit:parallel-overhead/a.c"));
    assert_null(overhead_kind("parallel-overhead"));
    assert_null(overhead_kind(""));
}

static void check_xml_safe(const char *text, const char *expected)
{
    char *found = xml_safe_text(strdup(text));
    assert_string_equal(found, expected);
    free(found);
}

TEST(test_xml_safe_text)
{
    check_xml_safe("", "");
    check_xml_safe("plain <a> & b", "plain <a> & b");
    check_xml_safe("gr\xc3\xb6\xc3\x9f"
                   "e",
                   "gr\xc3\xb6\xc3\x9f"
                   "e");
    check_xml_safe("a\x01"
                   "b\n",
                   "a\xef\xbf\xbd"
                   "b\xef\xbf\xbd");
    check_xml_safe("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
    check_xml_safe("\xc3", "\xef\xbf\xbd");
    check_xml_safe("\xef\xbf\xbf", "\xef\xbf\xbd"); /* XML excludes U+FFFF */
}

TEST(test_byte_reader)
{
    static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f,
                                    0xc0, 0xbb, 0x78, 'h',  'i',  0,    0xaa, 0xbb, 'x'};
    struct byte_reader c = {.bytes = {bytes, sizeof bytes}};
    assert_int_equal(read_uint(&c, 1), 1);
    assert_int_equal(read_uint(&c, 2), 0x0302);
    assert_int_equal(read_uleb128(&c), 624485);
    assert_int_equal(read_sleb128(&c), -1);
    assert_int_equal(read_sleb128(&c), -128);
    assert_int_equal(read_sleb128(&c), -123456);
    assert_string_equal(read_cstring(&c), "hi");
    struct byte_reader part = sub_reader(&c, 2);
    assert_int_equal(read_uint(&part, 1), 0xaa);
    assert_true(has_more_bytes(&part));
    assert_int_equal(read_uint(&part, 1), 0xbb);
    assert_false(has_more_bytes(&part));
    assert_int_equal(read_uint(&part, 1), 0);
    assert_true(part.failed);
    assert_false(c.failed);
    assert_string_equal(read_cstring(&c), ""); /* no terminator */
    assert_true(c.failed);
    assert_int_equal(read_uleb128(&c), 0);
    struct byte_reader far = {.bytes = {bytes, 4}};
    skip_bytes(&far, UINT64_MAX);
    assert_true(far.failed);
    struct byte_reader no_part = {.bytes = {bytes, 4}};
    part = sub_reader(&no_part, 5);
    assert_true(part.failed && no_part.failed);
}

/* ---- decompression ---- */

struct packed {
    uint8_t *bytes;
    size_t size;
};

static struct packed pack(unsigned type, const uint8_t *data, size_t size)
{
    Elf64_Chdr header = {.ch_type = type, .ch_size = size, .ch_addralign = 1};
    size_t room = compressBound(size) + ZSTD_compressBound(size);
    struct packed p = {malloc(sizeof header + room), 0};
    memcpy(p.bytes, &header, sizeof header);
    if (type == 1) {
        uLongf length = room;
        assert_int_equal(compress(p.bytes + sizeof header, &length, data, size), Z_OK);
        p.size = sizeof header + length;
    } else {
        p.size = sizeof header + ZSTD_compress(p.bytes + sizeof header, room, data, size, 3);
    }
    return p;
}

static void check_refused(uint8_t *bytes, size_t size)
{
    char *cause = NULL;
    size_t decompressed_size;
    assert_null(decompress_elf(bytes, size, SIZE_MAX, &decompressed_size, &cause));
    assert_non_null(cause);
    free(cause);
}

TEST(test_decompress)
{
    const size_t size = 300000;
    uint8_t *data = calloc(1, size);
    for (size_t i = 0; i < size / 2; i++)
        data[i] = (uint8_t)(i * i >> 7);
    for (unsigned type = 1; type <= 2; type++) {
        struct packed p = pack(type, data, size);
        char *cause = NULL;
        size_t decompressed_size = 0;
        uint8_t *decompressed = decompress_elf(p.bytes, p.size, size, &decompressed_size, &cause);
        assert_non_null(decompressed);
        assert_int_equal(decompressed_size, size);
        assert_memory_equal(decompressed, data, size);
        free(decompressed);
        assert_null(decompress_elf(p.bytes, p.size, size - 1, &decompressed_size, &cause));
        free(cause);
        check_refused(p.bytes, p.size / 2);
        check_refused(p.bytes, 10);
        Elf64_Chdr *header = (Elf64_Chdr *)(void *)p.bytes;
        header->ch_size = size - 1;
        check_refused(p.bytes, p.size);
        header->ch_size = size + 1;
        check_refused(p.bytes, p.size);
        header->ch_size = UINT64_MAX; /* must not be allocated */
        check_refused(p.bytes, p.size);
        header->ch_size = 0;
        check_refused(p.bytes, p.size);
        header->ch_size = size;
        header->ch_type = 77;
        check_refused(p.bytes, p.size);
        free(p.bytes);
    }
    free(data);
}

TEST(test_decompress_gnu)
{
    static const uint8_t data[] = "the older way, the older way, the older way";
    uint8_t packed[100] = {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, sizeof data};
    uLongf length = sizeof packed - 12;
    assert_int_equal(compress(packed + 12, &length, data, sizeof data), Z_OK);
    char *cause = NULL;
    size_t size = 0;
    uint8_t *decompressed = decompress_gnu(packed, 12 + length, sizeof data, &size, &cause);
    assert_int_equal(size, sizeof data);
    assert_memory_equal(decompressed, data, sizeof data);
    free(decompressed);
    packed[0] = 'z';
    assert_null(decompress_gnu(packed, 12 + length, sizeof data, &size, &cause));
    free(cause);
    assert_null(decompress_gnu(packed, 11, sizeof data, &size, &cause));
    free(cause);
}
