#include "tests/unit/cmocka_suite.h"

#include "lib/source-names.h"

TEST(test_names_of_the_library)
{
    assert_true(cxx_name_is_std("std::thread::_M_start_thread(std::unique_ptr<int>, void (*)())"));
    assert_true(cxx_name_is_std("void std::call_once<void (A::*)(int), A*>(std::once_flag&)"));
    assert_true(cxx_name_is_std("std::future<int> std::async<int (&)()>(std::launch, int (&)())"));
}

TEST(test_names_of_programs)
{
    assert_false(cxx_name_is_std("main"));
    assert_false(cxx_name_is_std(""));
    assert_false(cxx_name_is_std("run(std::thread&)"));
    assert_false(cxx_name_is_std("std::vector<int> sorted<int>(int)"));
    assert_false(cxx_name_is_std("std::unique_ptr<Pool, D (*)(Pool)> make_pool<Pool>(int)"));
    assert_false(cxx_name_is_std("mystd::thread::start()"));
    assert_false(cxx_name_is_std("(anonymous namespace)::start(std::thread)"));
}

TEST(test_files_that_are_installed)
{
    assert_true(path_is_installed("/usr/include/c++/12/bits/stl_algo.h"));
    assert_true(path_is_installed("/root/.pyenv/versions/3.11.7/lib/python3.11/json/encoder.py"));
    assert_true(path_is_installed("/opt/conda/lib64/python3.14t/lib-dynload/_json.so"));
    assert_true(path_is_installed("/usr/local/lib/python3.12/site-packages/numpy/core.py"));
    assert_true(path_is_installed("/home/u/lib/project/.venv/lib/python3.13/site-packages/click/core.py"));
    assert_true(path_is_installed("/home/u/.venv/lib/pypy3.10/site-packages/click/core.py"));
    assert_true(path_is_installed("/home/u/debs/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so"));
    assert_true(path_is_installed("<frozen importlib._bootstrap>"));
    assert_true(path_is_installed("/opt/gcc-14/include/c++/14.2.0/bits/stl_algo.h"));
    assert_true(path_is_installed("/rustc/59807616e1a3/library/core/src/cmp.rs"));
    assert_true(path_is_installed("/usr/src/rustc-1.63.0/library/alloc/src/vec/mod.rs"));
    assert_true(path_is_installed("/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/io/mod.rs"));
    assert_true(path_is_installed("/usr/local/go/src/runtime/proc.go"));
    assert_true(path_is_installed("/home/u/sdk/go1.22.1/src/internal/bytealg/indexbyte_amd64.s"));
    assert_true(path_is_installed("runtime/proc.go"));
    assert_true(path_is_installed("internal/bytealg/indexbyte_amd64.s"));
}

TEST(test_files_of_the_user)
{
    assert_false(path_is_installed("/usr/local/src/solver/main.c"));
    assert_false(path_is_installed("/usr/src/solver/main.c"));
    assert_false(path_is_installed("/home/u/train.py"));
    assert_false(path_is_installed("/home/u/lib/python3.py"));
    assert_false(path_is_installed("/home/u/lib/python3.11"));
    assert_false(path_is_installed("/home/u/lib/python3.11-demo/train.py"));
    assert_false(path_is_installed("/home/u/python3.11/train.py"));
    assert_false(path_is_installed("<string>"));
    assert_false(path_is_installed("/home/u/rustc/library/src/main.rs"));
    assert_false(path_is_installed("/home/u/go/src/hello/main.go"));
    assert_false(path_is_installed("/home/u/project/src/runtime/main.go"));
    assert_false(path_is_installed("github.com/u/project/main.go"));
    assert_false(path_is_installed("hello/main.go"));
    assert_false(path_is_installed("main.go"));
    assert_false(path_is_installed("runtime/main.c"));
}

TEST(test_files_of_dependencies)
{
    assert_true(path_is_of_dependency("/home/u/.cargo/registry/src/index.crates.io-6f17d22b/rayon-core-1.12.1/src/registry.rs"));
    assert_true(path_is_of_dependency("/home/u/.cargo/git/checkouts/tokio-377c595163f99a10/c7f8fdd/tokio/src/lib.rs"));
    assert_false(path_is_of_dependency("/home/u/registry/src/main.c"));
    assert_false(path_is_of_dependency("/home/u/registry/src/auth-ab/main.c"));
    assert_false(path_is_of_dependency("/home/u/git/checkouts/tool/src/main.c"));
    assert_true(path_is_of_dependency("/home/u/go/pkg/mod/github.com/yuin/goldmark@v1.5.4/ast/ast.go"));
    assert_true(path_is_of_dependency("github.com/yuin/goldmark@v1.5.4/ast/ast.go"));
    assert_true(path_is_installed("github.com/yuin/goldmark@v1.5.4/ast/ast.go"));
    assert_false(path_is_of_dependency("/home/u/project@v2/main.c"));
    assert_false(path_is_of_dependency("/rustc/59807616e1a3/library/core/src/cmp.rs"));
    assert_false(path_is_of_dependency("runtime/proc.go"));
}
