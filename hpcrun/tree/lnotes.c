#include "hpcrun/tree/lnotes.h"

#include "hpcrun/tree/cct.h"

#define FIRST_TABLE 512

static uint64_t hash(struct lnote note)
{
    uint64_t h = (note.value ^ note.site * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* The slot of a note in the table; an empty one if the note is not there. */
static uint32_t slot_of(const struct lnotes *lnotes, struct lnote note)
{
    uint32_t mask = lnotes->table_size - 1, i = (uint32_t)hash(note) & mask;
    for (; lnotes->table[i]; i = (i + 1) & mask) {
        const struct lnote *other = segments_item(&lnotes->notes, lnotes->table[i] - 1);
        if (other->value == note.value && other->site == note.site)
            break;
    }
    return i;
}

/* Doubles the table when it is half full. */
static bool make_room(struct lnotes *lnotes)
{
    if (lnotes->notes.count < lnotes->table_size / 2)
        return true;
    uint32_t size = lnotes->table_size ? lnotes->table_size * 2 : FIRST_TABLE;
    uint32_t *table = sys_pages(size * sizeof *table);
    if (!table)
        return false;
    sys_pages_free(lnotes->table, lnotes->table_size * sizeof *table);
    lnotes->table = table;
    lnotes->table_size = size;
    for (uint32_t i = 0; i < lnotes->notes.count; i++)
        table[slot_of(lnotes, *(struct lnote *)segments_item(&lnotes->notes, i))] = i + 1;
    return true;
}

uint32_t lnotes_lip(struct lnotes *lnotes, struct lnote note)
{
    segments_init(&lnotes->notes, sizeof note, ARENA_FIRST_BITS);
    if (!make_room(lnotes))
        return 0;
    uint32_t at = slot_of(lnotes, note);
    if (lnotes->table[at] == 0) {
        struct lnote *new = segments_add(&lnotes->notes);
        if (!new)
            return 0;
        *new = note;
        lnotes->table[at] = lnotes->notes.count;
    }
    return LIP_OWN + lnotes->table[at] - 1;
}

const struct lnote *lnotes_get(const struct lnotes *lnotes, uint32_t lip)
{
    return segments_item(&lnotes->notes, lip - LIP_OWN);
}

void lnotes_free(struct lnotes *lnotes)
{
    segments_free(&lnotes->notes);
    sys_pages_free(lnotes->table, lnotes->table_size * sizeof *lnotes->table);
    lnotes->table = NULL;
    lnotes->table_size = 0;
}
