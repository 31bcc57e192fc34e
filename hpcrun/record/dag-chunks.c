#include "hpcrun/record/dag-chunks.h"

#include "hpcrun/span/dag-shape.h"

/* Room for a node: kind, work, span, the number of items, and four numbers for each. */
#define NODE_BYTES ((4 + 4 * MOST_ITEMS) * VARINT_MAX_BYTES + CHUNK_SLACK)

struct dag_writer {
    struct chunk *chunk;
    uint32_t part; /* number of the chunk */
    bool good;
};

static void begin_part(struct dag_writer *writer)
{
    chunk_begin(writer->chunk, CHUNK_DAG, CHUNK_NO_THREAD);
    chunk_v(writer->chunk, writer->part++);
}

static void write_node(struct dag_writer *writer, const struct dag_node *node,
                       const struct dag_item *items)
{
    struct chunk *chunk = writer->chunk;
    if (chunk->used > CHUNK_BYTES - NODE_BYTES) {
        writer->good &= chunk_commit(chunk);
        begin_part(writer);
    }
    chunk_v(chunk, node->kind);
    chunk_v(chunk, node->work);
    chunk_v(chunk, node->span);
    chunk_v(chunk, node->n);
    for (uint32_t i = 0; i < node->n; i++) {
        chunk_v(chunk, items[i].node);
        chunk_v(chunk, items[i].count);
        chunk_v(chunk, items[i].strand);
        chunk_v(chunk, items[i].work);
    }
}

bool dag_chunks_write(struct chunk *chunk, const struct span_totals *totals)
{
    struct dag_writer writer = {.chunk = chunk, .good = true};
    struct dag_node program = {.kind = DAG_SERIES, .work = totals->work, .span = totals->span};
    const struct dag_item *items = work_span_items(&program.n);
    uint32_t end = dag_nodes_end();
    if (totals->is_incomplete || shape_has_failed())
        return true;
    begin_part(&writer);
    chunk_v(chunk, DAG_VERSION);
    chunk_v(chunk, end - DAG_FIRST_NODE + 1);
    chunk_v(chunk, totals->burden);
    for (uint32_t id = DAG_FIRST_NODE; id < end && writer.good; id++)
        write_node(&writer, dag_node(id), dag_items(dag_node(id)));
    write_node(&writer, &program, items);
    return writer.good && chunk_commit(chunk);
}
