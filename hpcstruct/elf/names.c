#include "hpcstruct/elf/names.h"

#include "lib/alloc.h"
#include "lib/long-text.h"
#include "lib/utf8.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NULL if the name is not mangled. */
static char *demangle(const char *linkage_name)
{
    bool may_be_mangled =
        linkage_name[0] == '_' && (linkage_name[1] == 'Z' || linkage_name[1] == 'R' ||
                                   linkage_name[1] == 'D' || linkage_name[1] == '_');
    if (!may_be_mangled)
        return NULL;
    return cplus_demangle(linkage_name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

/* Demangles FUNCTION in "FUNCTION@plt". NULL if the name has another form or is not mangled. */
static char *demangle_stub(const char *linkage_name)
{
    static const char suffix[] = "@plt";
    size_t length = strlen(linkage_name), tail = strlen(suffix);
    if (length <= tail || strcmp(linkage_name + length - tail, suffix) != 0)
        return NULL;
    autofree char *function = mem_strndup(linkage_name, length - tail);
    autofree char *demangled = demangle(function);
    return demangled ? mem_printf("%s%s", demangled, suffix) : NULL;
}

char *demangled_name(const char *linkage_name)
{
    char *name = demangle_stub(linkage_name);
    if (!name)
        name = demangle(linkage_name);
    return name ? name : mem_strdup(linkage_name);
}

/* Demangles only names that may have the new forms: `Tn`, `Tt`, `Ty`, `Tk` (a parameter's type or constraint) and `Q`. */
bool is_demanglable(const char *linkage_name)
{
    static const char *const new_forms[] = {"Tn", "Tt", "Ty", "Tk", "Q"};
    bool may_be_new = false;
    for (size_t i = 0; i < sizeof new_forms / sizeof *new_forms; i++)
        may_be_new |= strstr(linkage_name, new_forms[i]) != NULL;
    if (!may_be_new || strncmp(linkage_name, "_Z", 2) != 0)
        return true;
    char *name = demangle(linkage_name);
    free(name);
    return name != NULL;
}

/* The length of the name before ".cold" or ".cold.N"; 0 if it has no such suffix. */
static size_t length_without_cold(const char *name)
{
    static const char cold[] = ".cold";
    const char *at = NULL;
    for (const char *next = strstr(name, cold); next; next = strstr(next + 1, cold))
        at = next;
    if (!at)
        return 0;
    const char *rest = at + strlen(cold);
    if (rest[0] == '.' && rest[1] != '\0')
        rest += 1 + strspn(rest + 1, "0123456789");
    return rest[0] == '\0' ? (size_t)(at - name) : 0;
}

bool is_cold_name(const char *name)
{
    return length_without_cold(name) != 0;
}

bool is_cold_name_of(const char *name, const char *function)
{
    size_t length = length_without_cold(name);
    return length != 0 && strlen(function) == length && strncmp(name, function, length) == 0;
}

/* Sorted. From C and POSIX, the C++ run-time library, Rust, and helpers of glibc and compilers.
 */
static const char *const no_return_names[] = {
    "_Exit",
    "_Unwind_Resume",
    "_ZSt10unexpectedv",
    "_ZSt16__throw_bad_castv",
    "_ZSt17__throw_bad_allocv",
    "_ZSt18__throw_bad_typeidv",
    "_ZSt19__throw_ios_failurePKc",
    "_ZSt19__throw_ios_failurePKci",
    "_ZSt19__throw_range_errorPKc",
    "_ZSt20__throw_domain_errorPKc",
    "_ZSt20__throw_future_errori",
    "_ZSt20__throw_length_errorPKc",
    "_ZSt20__throw_out_of_rangePKc",
    "_ZSt20__throw_system_errori",
    "_ZSt21__throw_bad_exceptionv",
    "_ZSt21__throw_runtime_errorPKc",
    "_ZSt22__throw_overflow_errorPKc",
    "_ZSt23__throw_underflow_errorPKc",
    "_ZSt24__throw_invalid_argumentPKc",
    "_ZSt24__throw_out_of_range_fmtPKcz",
    "_ZSt25__throw_bad_function_callv",
    "_ZSt28__throw_bad_array_new_lengthv",
    "_ZSt9terminatev",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_terminate",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__libc_start_main",
    "__longjmp_chk",
    "__stack_chk_fail",
    "__ubsan_handle_builtin_unreachable",
    "__ubsan_handle_missing_return",
    "_exit",
    "_longjmp",
    "abort",
    "err",
    "errc",
    "errx",
    "exit",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "rust_begin_unwind",
    "rust_panic",
    "siglongjmp",
    "thrd_exit",
    "verr",
    "verrx",
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

bool is_no_return_name(const char *name)
{
    char bare[64];
    size_t length = strcspn(name, "@");
    if (length >= sizeof bare)
        return false;
    memcpy(bare, name, length);
    bare[length] = '\0';
    return bsearch(bare, no_return_names, sizeof no_return_names / sizeof *no_return_names,
                   sizeof *no_return_names, compare_names) != NULL;
}

static bool is_allowed(uint32_t code)
{
    return code >= 0x20 && code != 0x7f && code != 0xfffe && code != 0xffff && code != UTF8_INVALID;
}

char *xml_safe_text(char *text)
{
    uint32_t code;
    text = shortened_text(text);
    const char *at = text;
    while (*at) {
        size_t size = utf8_decode(at, &code);
        if (!is_allowed(code))
            break;
        at += size;
    }
    if (*at == '\0')
        return text;
    char *clean = mem_alloc(3 * strlen(text) + 1), *out = clean; /* U+FFFD takes 3 bytes */
    for (at = text; *at;) {
        size_t size = utf8_decode(at, &code);
        if (is_allowed(code)) {
            memcpy(out, at, size);
            out += size;
        } else {
            out += utf8_encode(UTF8_REPLACEMENT, out);
        }
        at += size;
    }
    free(text);
    return clean;
}
