// A producer parses lines, three consumers count in one table under one lock: score needs no lock, but runs under it.
// Usage: pipeline [LINES / 10000]
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

class Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> lines;
    bool is_closed = false;

  public:
    void push(std::string line)
    {
        std::lock_guard<std::mutex> guard(mutex);
        lines.push_back(std::move(line));
        changed.notify_one();
    }

    void close()
    {
        std::lock_guard<std::mutex> guard(mutex);
        is_closed = true;
        changed.notify_all();
    }

    bool pop(std::string &line)
    {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [&] { return is_closed || !lines.empty(); });
        if (lines.empty())
            return false;
        line = std::move(lines.front());
        lines.pop_front();
        return true;
    }
};

static Queue queue;
static std::mutex table_mutex;
static std::unordered_map<std::string, long> table;

static unsigned long score(const std::string &line)
{
    unsigned long hash = 5381;
    for (int round = 0; round < 30; round++)
        for (char c : line)        // MARK score
            hash = hash * 33 + (unsigned char)c;
    return hash;
}

static void consume()
{
    std::string line;
    while (queue.pop(line)) {
        std::lock_guard<std::mutex> guard(table_mutex);
        unsigned long hash = score(line);
        table["k" + std::to_string(hash % 1000)] += hash & 7;
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 20, sum = 0;
    std::vector<std::thread> consumers;
    for (int i = 0; i < 3; i++)
        consumers.emplace_back(consume);
    for (long i = 0; i < n * 10000; i++)
        queue.push("GET /index" + std::to_string(i) + ".html HTTP/1.1 200 host" + std::to_string(i % 77));
    queue.close();
    for (std::thread &consumer : consumers)
        consumer.join();
    for (const auto &entry : table)
        sum += entry.second;
    printf("%ld\n", sum);
}
