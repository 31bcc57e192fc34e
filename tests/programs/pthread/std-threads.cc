// std-threads THREADS ROUNDS: threads of the C++ library that work and wait, with a ledger of the
// truth (state-ledger.h).
#include "tests/programs/pthread/state-ledger.h"

#include <barrier>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

static int threads, rounds;
static std::mutex lock, stage_lock;
static std::condition_variable stage_changed;
static std::shared_mutex table_lock;
/* One less than there are threads: where several wait, samples change whose turn it is, which biases them
 * (doc/threads.md). */
static std::counting_semaphore<64> permits(0);
static std::barrier<> *all_here;
static int stages_done;

static void take_turns(int id)
{
    for (int i = 0; i < rounds; i++) {
        WAITING(-1, permits.acquire());
        nap(500);
        permits.release();
        WAITING(-1, all_here->arrive_and_wait());
        nap(250 * (unsigned)(id + 1));
    }
}

static void share(int id)
{
    for (int i = 0; i < rounds; i++) {
        if (id == 0) {
            WAITING(0, table_lock.lock());
            nap(1000);
            table_lock.unlock();
        } else {
            WAITING(0, table_lock.lock_shared());
            nap(500);
            table_lock.unlock_shared();
        }
        WAITING(1, lock.lock());
        lock.unlock();
        nap(200);
        nap(100);
    }
}

static void run(int id)
{
    ledger_note(BEGIN, -1, -1);
    take_turns(id);
    share(id);
    std::unique_lock<std::mutex> hold(stage_lock);
    stages_done++;
    stage_changed.notify_all();
    while (stages_done < threads)
        WAITING(-1, stage_changed.wait(hold));
    ledger_note(END, -1, -1);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    threads = atoi(arguments[1]);
    rounds = atoi(arguments[2]);
    all_here = new std::barrier<>(threads);
    permits.release(threads - 1);
    ledger_note(BEGIN, -1, -1);
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++)
        all.emplace_back(run, i);
    for (std::thread &thread : all)
        WAITING(-1, thread.join());
    ledger_note(END, -1, -1);
    ledger_print();
    return 0;
}
