/* The table of l-notes: one number for each. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/tree/cct.h"
#include "hpcrun/tree/lnotes.h"

TEST(l_notes_are_one_each)
{
    struct lnotes lnotes = {0};
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            struct lnote note = {.value = i / 7, .site = i % 7};
            uint32_t lip = lnotes_lip(&lnotes, note);
            assert_int_equal(lip, LIP_OWN + i);
            assert_int_equal(lnotes_get(&lnotes, lip)->value, note.value);
            assert_int_equal(lnotes_get(&lnotes, lip)->site, note.site);
        }
    lnotes_free(&lnotes);
}
