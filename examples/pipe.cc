/* Scores the lines of a log: main hands them out, threads score them and count the scores in one table.
 *     g++ -O2 -g -pthread pipe.cc -o pipe; ./pipe */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex queue_mutex, table_mutex;
static std::condition_variable changed;
static std::deque<std::string> queue;
static bool ended;
static std::unordered_map<unsigned, long> table;

static bool next_line(std::string &line)
{
    std::unique_lock<std::mutex> guard(queue_mutex);
    changed.wait(guard, [] { return ended || !queue.empty(); });
    if (queue.empty())
        return false;
    line = std::move(queue.front());
    queue.pop_front();
    return true;
}

static unsigned score(const std::string &line)
{
    unsigned points = 5381;
    for (int round = 0; round < 300; round++)
        for (char c : line)
            points = points * 33 + c;
    return points;
}

static void consume()
{
    std::string line;
    while (next_line(line)) {
        std::lock_guard<std::mutex> guard(table_mutex);
        unsigned points = score(line); // needs no lock
        table[points % 1000]++;
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(consume);
    for (int i = 0; i < 200000; i++) {
        std::lock_guard<std::mutex> guard(queue_mutex);
        queue.push_back("GET /index" + std::to_string(i) + ".html HTTP/1.1 200");
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> guard(queue_mutex);
        ended = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%zu scores\n", table.size());
}
