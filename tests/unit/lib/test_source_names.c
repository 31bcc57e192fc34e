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
