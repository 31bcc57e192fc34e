#include "lib/source-names.h"

#include "lib/path.h"

#include <stdio.h>
#include <string.h>

const char *overhead_kind(const char *path)
{
    static const char tag[] = OVERHEAD_TAG;
    const char *base = path_base(path);
    if (strncmp(base, tag, strlen(tag)) != 0)
        return NULL;
    const char *rest = base + strlen(tag);
    if (rest[0] != '\0' && rest[0] != ':')
        return NULL;
    return rest[0] == '\0' || rest[1] == '\0' ? "overhead" : rest + 1;
}

/* The function's name starts after the last space that is outside of brackets and before the
 * parameters. */
static const char *skip_result_type(const char *name)
{
    const char *start = name;
    int nesting = 0;
    for (const char *at = name; *at && !(*at == '(' && nesting == 0 && at != start); at++) {
        nesting += *at == '<' || *at == '(';
        nesting -= *at == '>' || *at == ')';
        if (*at == ' ' && nesting == 0)
            start = at + 1;
    }
    return start;
}

bool cxx_name_is_std(const char *name)
{
    return strncmp(skip_result_type(name), "std::", 5) == 0;
}

static bool begins_with(const char *path, const char *beginning)
{
    return strncmp(path, beginning, strlen(beginning)) == 0;
}

static bool contains(const char *path, const char *part)
{
    return strstr(path, part) != NULL;
}

/* Python's own layout of directories: PREFIX/lib/pythonX.Y, or lib64. And those of packages, wherever they are: PyPy's,
 * Debian's in a folder of the user's. */
static bool is_in_library_of_python(const char *path)
{
    if (contains(path, "/site-packages/") || contains(path, "/dist-packages/"))
        return true;
    static const char parent[] = "/lib", name[] = "/python3.";
    for (const char *at = path; (at = strstr(at, parent)); at++) {
        const char *end = at + strlen(parent);
        end += begins_with(end, "64") ? 2 : 0;
        if (!begins_with(end, name))
            continue;
        end += strlen(name);
        end += strspn(end, "0123456789t"); /* "3.14t": without a GIL */
        if (*end == '/')
            return true;
    }
    return false;
}

/* Rust's library, as its compiler names it ("/rustc/59807616e/library/core/src/cmp.rs"), Debian's, and with rust-src. */
static bool is_in_library_of_rust(const char *path)
{
    bool is_named = begins_with(path, "/rustc/") || begins_with(path, "/usr/src/rustc-");
    return (is_named && contains(path, "/library/")) || contains(path, "/rustlib/src/rust/");
}

/* Folders of Go's library with code of programs, each with a slash on both sides. */
static const char packages_of_go[] =
    "/archive/bufio/bytes/cmp/compress/container/context/crypto/database/debug/embed/encoding/errors/expvar/flag/fmt/go/"
    "hash/html/image/index/internal/io/iter/log/maps/math/mime/net/os/path/plugin/reflect/regexp/runtime/slices/sort/"
    "strconv/strings/structs/sync/syscall/testing/text/time/unicode/unique/unsafe/vendor/weak/";

static bool is_package_of_go(const char *path)
{
    char name[32];
    size_t length = strcspn(path, "/");
    if (path[length] == '\0' || length + 3 > sizeof name)
        return false;
    snprintf(name, sizeof name, "/%.*s/", (int)length, path);
    return contains(packages_of_go, name);
}

/* Go's library: GOROOT/src, where GOROOT is as "/usr/local/go" or "/home/u/sdk/go1.22"; "runtime/proc.go" in programs built
 * with -trimpath, whose own files are "module/file.go". */
static bool is_in_library_of_go(const char *path)
{
    size_t length = strlen(path);
    bool is_go = length > 3 && (strcmp(path + length - 3, ".go") == 0 || strcmp(path + length - 2, ".s") == 0);
    if (!is_go || *path != '/')
        return is_go && is_package_of_go(path);
    for (const char *at = path; (at = strstr(at, "/go")); at++) {
        const char *source = strchr(at + 1, '/');
        if (source && begins_with(source, "/src/") && is_package_of_go(source + strlen("/src/")))
            return true;
    }
    return false;
}

/* Whether a folder in `parent` ends with a hash, as Cargo's do: "/git/checkouts/tokio-377c595163f99a10/". */
static bool has_folder_of_cargo(const char *path, const char *parent)
{
    const char *found = strstr(path, parent), *folder = found ? found + strlen(parent) : "";
    const char *hash = folder + strcspn(folder, "/");
    bool is_folder = *hash == '/';
    while (hash > folder && strchr("0123456789abcdef", hash[-1]))
        hash--;
    return is_folder && hash > folder && hash[-1] == '-' && strcspn(hash, "/") >= 8;
}

bool path_is_of_dependency(const char *path)
{
    bool is_of_go = contains(path, "/pkg/mod/") || *path != '/';
    return has_folder_of_cargo(path, "/registry/src/") || has_folder_of_cargo(path, "/git/checkouts/") ||
           (is_of_go && contains(path, "@v"));
}

bool path_is_installed(const char *path)
{
    bool is_below_usr =
        begins_with(path, "/usr/") && !begins_with(path, "/usr/local/") && !begins_with(path, "/usr/src/");
    return is_below_usr || contains(path, "/include/c++/") || is_in_library_of_python(path) ||
           begins_with(path, "<frozen ") || is_in_library_of_rust(path) || is_in_library_of_go(path) ||
           path_is_of_dependency(path);
}
