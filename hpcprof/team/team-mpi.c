/* A team of the ranks of an MPI job: hpcprof-mpi. */
#include "hpcprof/team/team.h"

#include "lib/alloc.h"
#include "lib/diag.h"

#include <mpi.h>
#include <stdlib.h>

const char team_tool[] = "hpcprof-mpi";

/* MPI counts with int: larger data is sent in pieces. */
#define PIECE ((size_t)1 << 28)

static int rank, size = 1;
static bool is_ended;
static MPI_Datatype wide_type;
static MPI_Op wide_sum;

static void add_wide(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void)type;
    const unsigned __int128 *x = from;
    unsigned __int128 *y = into;
    for (int i = 0; i < *count; i++)
        y[i] += x[i];
}

/* Runs when the process ends. Without team_end it has failed: the others would wait forever. */
static void abort_team(void)
{
    if (!is_ended)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

void team_start(int *argc, char ***argv)
{
    int provided;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED)
        diag_fatal(NULL, "this MPI cannot be used by a program with threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_UINT64_T, &wide_type);
    MPI_Type_commit(&wide_type);
    MPI_Op_create(add_wide, true, &wide_sum);
    atexit(abort_team);
}

int team_end(int status)
{
    int worst = status;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Type_free(&wide_type);
    MPI_Op_free(&wide_sum);
    MPI_Finalize();
    is_ended = true;
    return worst;
}

unsigned team_rank(void)
{
    return (unsigned)rank;
}

unsigned team_size(void)
{
    return (unsigned)size;
}

void team_wait(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- data ---- */

/* Combines `count` items of `item` bytes in pieces. */
static void combine(void *items, size_t count, size_t item, MPI_Datatype type, MPI_Op op)
{
    for (size_t at = 0; at < count;) {
        size_t piece = count - at < PIECE / item ? count - at : PIECE / item;
        MPI_Allreduce(MPI_IN_PLACE, (uint8_t *)items + at * item, (int)piece, type, op,
                      MPI_COMM_WORLD);
        at += piece;
    }
}

void team_or(void *bytes, size_t count)
{
    combine(bytes, count, 1, MPI_BYTE, MPI_BOR);
}

void team_sum(uint64_t *numbers, size_t count)
{
    combine(numbers, count, sizeof *numbers, MPI_UINT64_T, MPI_SUM);
}

void team_sum_wide(unsigned __int128 *numbers, size_t count)
{
    combine(numbers, count, sizeof *numbers, wide_type, wide_sum);
}

void team_broadcast(struct team_bytes *bytes, unsigned from)
{
    uint64_t n = bytes->n;
    MPI_Bcast(&n, 1, MPI_UINT64_T, (int)from, MPI_COMM_WORLD);
    if (bytes->n < n)
        vec_reserve(bytes, n - bytes->n);
    bytes->n = n;
    for (size_t at = 0; at < n; at += PIECE) {
        size_t piece = n - at < PIECE ? n - at : PIECE;
        MPI_Bcast(bytes->at + at, (int)piece, MPI_BYTE, (int)from, MPI_COMM_WORLD);
    }
}

static void send_to(const struct team_bytes *bytes, int other)
{
    uint64_t n = bytes->n;
    MPI_Send(&n, 1, MPI_UINT64_T, other, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < n; at += PIECE) {
        size_t piece = n - at < PIECE ? n - at : PIECE;
        MPI_Send(bytes->at + at, (int)piece, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
}

static void receive_from(struct team_bytes *bytes, int other)
{
    uint64_t n = 0;
    MPI_Recv(&n, 1, MPI_UINT64_T, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bytes->n = 0;
    vec_reserve(bytes, n);
    bytes->n = n;
    for (size_t at = 0; at < n; at += PIECE) {
        size_t piece = n - at < PIECE ? n - at : PIECE;
        MPI_Recv(bytes->at + at, (int)piece, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void team_reduce(void *data, team_pack *pack, team_merge *merge)
{
    autofree struct team_bytes bytes = {0};
    for (int step = 1; step < size; step *= 2) {
        if (rank & step) {
            pack(data, &bytes);
            send_to(&bytes, rank - step);
            break;
        }
        if (rank + step < size) {
            receive_from(&bytes, rank + step);
            merge(data, bytes.at, bytes.n);
        }
    }
}

/* ---- files ---- */

struct team_file {
    MPI_File file;
};

struct team_file *team_file_open(const char *path)
{
    struct team_file *opened = mem_alloc(sizeof *opened);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &opened->file) !=
        MPI_SUCCESS)
        diag_fatal(path, "rank %d cannot open it: all ranks need the same file system", rank);
    return opened;
}

bool team_file_write(struct team_file *file, uint64_t offset, const void *data, size_t count)
{
    for (size_t at = 0; at < count; at += PIECE) {
        size_t piece = count - at < PIECE ? count - at : PIECE;
        MPI_Status status;
        int written = 0;
        if (MPI_File_write_at(file->file, (MPI_Offset)(offset + at), (const uint8_t *)data + at,
                              (int)piece, MPI_BYTE, &status) != MPI_SUCCESS)
            return false;
        MPI_Get_count(&status, MPI_BYTE, &written);
        if ((size_t)written != piece)
            return false;
    }
    return true;
}

bool team_file_sync(struct team_file *file)
{
    bool is_good = MPI_File_sync(file->file) == MPI_SUCCESS;
    team_wait();
    return is_good;
}

bool team_file_close(struct team_file *file)
{
    bool is_good = MPI_File_close(&file->file) == MPI_SUCCESS;
    free(file);
    team_wait();
    return is_good;
}
