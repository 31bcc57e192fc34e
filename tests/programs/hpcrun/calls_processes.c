/* calls_processes: calls that wait for messages, semaphores, signals or children; see
 * interrupted-calls.h. */
#include "interrupted-calls.h"

#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>

static mqd_t queue;

static void prepare_queue(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 10};
    queue = (mqd_t)must(mq_open(name, O_CREAT | O_RDWR, 0600, &attributes));
    mq_unlink(name);
    fds[0] = queue;
}

static void prepare_full_queue(void)
{
    prepare_queue();
    must(mq_send(queue, "x", 1, 0));
}

static void put_message(void)
{
    mq_send(queue, "x", 1, 0);
}

static void take_message(void)
{
    char message[10];
    mq_receive(queue, message, sizeof message, NULL);
}

static long do_mq_receive(void)
{
    char message[10];
    return mq_receive(queue, message, sizeof message, NULL);
}

static long do_mq_timedreceive(void)
{
    char message[10];
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    return mq_timedreceive(queue, message, sizeof message, NULL, &time);
}

static long do_mq_send(void)
{
    return mq_send(queue, "y", 1, 0);
}

/* System V's objects outlive the process: the caller removes them after its call. */
static int object;

struct message {
    long type;
    char text[8192];
};

static void prepare_messages(void)
{
    object = (int)must(msgget(IPC_PRIVATE, 0600));
}

static long remove_queue(long result)
{
    int error = errno;
    round_.returned = true;
    msgctl(object, IPC_RMID, NULL);
    errno = error;
    return result;
}

static long do_msgrcv(void)
{
    struct message message;
    return remove_queue(msgrcv(object, &message, sizeof message.text, 0, 0));
}

static void put_sysv_message(void)
{
    struct message message = {.type = 1};
    msgsnd(object, &message, 1, IPC_NOWAIT);
}

static void prepare_full_messages(void)
{
    static struct message message = {.type = 1};
    prepare_messages();
    while (msgsnd(object, &message, sizeof message.text, IPC_NOWAIT) == 0)
        continue;
}

static long do_msgsnd(void)
{
    static struct message message = {.type = 1};
    return remove_queue(msgsnd(object, &message, sizeof message.text, 0));
}

static void take_sysv_message(void)
{
    struct message message;
    msgrcv(object, &message, sizeof message.text, 0, IPC_NOWAIT);
}

static void prepare_sysv_semaphore(void)
{
    object = (int)must(semget(IPC_PRIVATE, 1, 0600));
}

static long down(const struct timespec *timeout)
{
    struct sembuf operation = {.sem_op = -1};
    long result =
        timeout ? semtimedop(object, &operation, 1, timeout) : semop(object, &operation, 1);
    int error = errno;
    semctl(object, 0, IPC_RMID);
    errno = error;
    return result;
}

static long do_semop(void)
{
    return down(NULL);
}

static long do_semtimedop(void)
{
    struct timespec time = in_ms(wait_ms);
    return down(&time);
}

static void up(void)
{
    struct sembuf operation = {.sem_op = 1};
    semop(object, &operation, 1);
}

/* Waits that only a signal ends: SIGUSR2, which is blocked except in some of them. */
static void block_usr2(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, count_signal);
}

static void send_usr2(void)
{
    pthread_kill(caller, SIGUSR2);
}

/* For waits that any handler ends. */
static void send_usr2_alone(void)
{
    if (mode == SAMPLES)
        send_usr2();
}

static long do_pause(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return pause();
}

static long do_sigsuspend(void)
{
    sigset_t none;
    sigemptyset(&none);
    return sigsuspend(&none);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old programs call it */
static long do_sigpause(void)
{
    return sigpause(SIGUSR2);
}

static long do_sigwaitinfo(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigwaitinfo(&set, NULL) == SIGUSR2 ? 0 : -1;
}

static long do_sigtimedwait(void)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, &time);
}

static long do_sigwait(void)
{
    int number;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return -sigwait(&set, &number);
}

static pid_t child;

static void prepare_pipe(void)
{
    must(pipe(fds));
}

/* A child that ends when its pipe is closed. */
static void prepare_child(void)
{
    prepare_pipe();
    child = (pid_t)must(fork());
    if (child == 0) {
        char byte;
        close(fds[1]);
        _exit(read(fds[0], &byte, 1) == 0 ? 3 : 4);
    }
}

static void end_child(void)
{
    close(fds[1]);
    fds[1] = 0;
}

/* If the caller has not waited for the child, waits until end_child has ended it. */
static long without_child(long result)
{
    int error = errno;
    if (result < 0)
        waitpid(child, NULL, 0);
    errno = error;
    return result;
}

static long do_waitpid(void)
{
    int status = 0;
    pid_t pid = waitpid(child, &status, 0);
    return without_child(pid == child ? WEXITSTATUS(status) : -1);
}

static long do_waitid(void)
{
    siginfo_t info = {0};
    int result = waitid(P_ALL, 0, &info, WEXITED);
    return without_child(result == 0 ? info.si_status : -1);
}

static long do_system(void)
{
    return system("read x < /dev/null; exec sleep 0.05");
}

static const struct call calls[] = {
    {"mq_receive", prepare_queue, do_mq_receive, put_message, 0, false},
    {"mq_timedreceive", prepare_queue, do_mq_timedreceive, put_message, 0, false},
    {"mq_timedreceive-in-time", prepare_queue, do_mq_timedreceive, NULL, SAMPLES, true},
    {"mq_send", prepare_full_queue, do_mq_send, take_message, 0, false},
    {"msgrcv", prepare_messages, do_msgrcv, put_sysv_message, 0, false},
    {"msgsnd", prepare_full_messages, do_msgsnd, take_sysv_message, 0, false},
    {"semop", prepare_sysv_semaphore, do_semop, up, 0, false},
    {"semtimedop", prepare_sysv_semaphore, do_semtimedop, NULL, 0, true},
    {"pause", block_usr2, do_pause, send_usr2_alone, 0, false},
    {"sigsuspend", block_usr2, do_sigsuspend, send_usr2_alone, 0, false},
    {"sigpause", block_usr2, do_sigpause, send_usr2_alone, 0, false},
    {"sigwaitinfo", block_usr2, do_sigwaitinfo, send_usr2_alone, 0, false},
    {"sigtimedwait", block_usr2, do_sigtimedwait, NULL, 0, true},
    {"sigwait", block_usr2, do_sigwait, send_usr2, 0, false},
    {"waitpid", prepare_child, do_waitpid, end_child, 0, false},
    {"waitid", prepare_child, do_waitid, end_child, 0, false},
    {"system", NULL, do_system, NULL, SAMPLES, false},
};

int main(int count, char **arguments)
{
    return INTERRUPT_ALL(count, arguments, calls);
}
