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
    assert_true(path_is_installed("<frozen importlib._bootstrap>"));
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
}
