#include "hpcrun/tree/saved-path.h"

#include "hpcrun/code/module-instances.h"

#include <string.h>

static uint32_t length_of(const struct cct *cct, uint32_t node)
{
    uint32_t length = 0;
    for (; node != CCT_ROOT; node = cct_node(cct, node)->parent)
        length++;
    return length;
}

static struct saved_note copy_note(const struct cct_node *node, const struct lnotes *lnotes)
{
    struct saved_note saved = {.note = {.ip = node->ip,
                                        .lip = node->lip,
                                        .association = node->association,
                                        .first = node->first}};
    if (node->lip >= LIP_OWN)
        saved.lnote = *lnotes_get(lnotes, node->lip);
    return saved;
}

void saved_path_copy(struct saved_path *path, const struct saved_path *around,
                     const struct cct *cct, const struct lnotes *lnotes, uint32_t node)
{
    uint32_t length = length_of(cct, node), before = around ? around->count : 0;
    path->count = 0;
    if (length == 0 || length > SAVED_PATH_NOTES)
        return;
    if (before + length > SAVED_PATH_NOTES)
        before = 0;
    if (before)
        memcpy(path->at, around->at, before * sizeof *path->at);
    path->count = before + length;
    for (uint32_t i = path->count; i > before; node = cct_node(cct, node)->parent)
        path->at[--i] = copy_note(cct_node(cct, node), lnotes);
}

static bool names_thread(const struct saved_note *saved)
{
    uint64_t value = saved->note.lip >= LIP_OWN ? saved->lnote.value : 0;
    return ip_instance(value) == INSTANCE_PLACEHOLDER && ip_offset(value) >= PLACEHOLDER_STACK_OF;
}

void saved_path_forget_threads(struct saved_path *path)
{
    for (uint32_t i = 0; i < path->count; i++)
        if (names_thread(&path->at[i]))
            path->at[i].note.lip = LIP_NONE;
}

uint32_t saved_path_insert(const struct saved_path *path, struct cct *cct, struct lnotes *lnotes)
{
    uint32_t node = CCT_ROOT;
    for (uint32_t i = 0; i < path->count; i++) {
        struct cct_note note = path->at[i].note;
        if (note.lip >= LIP_OWN)
            note.lip = lnotes_lip(lnotes, path->at[i].lnote);
        if (path->at[i].note.lip >= LIP_OWN && note.lip == 0)
            return CCT_ROOT;
        node = cct_child(cct, node, &note);
        if (node == CCT_NO_MEMORY)
            return CCT_ROOT;
    }
    return node;
}
