// Events on a descriptor: readable while one waits, non-blocking when the program says so, gone with their
// object.
#include "lib/event_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "lib/async_event.h"

namespace mrc::lib {
namespace {

constexpr auto kIgnore = [](int) {};

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

TEST(EventQueue, OrderIsKeptAndTheDescriptorTells) {
  EventQueue<int> queue;
  ASSERT_EQ(queue.open_error(), 0);
  EXPECT_FALSE(readable(queue.fd()));
  queue.push(1);
  queue.push(2);
  int event = 0;
  EXPECT_TRUE(readable(queue.fd()));
  EXPECT_EQ(queue.take(event, kIgnore), 0);
  EXPECT_EQ(event, 1);
  EXPECT_EQ(queue.take(event, kIgnore), 0);
  EXPECT_EQ(event, 2);
  EXPECT_FALSE(readable(queue.fd()));
}

TEST(EventQueue, NonBlockingDescriptorSaysAgain) {
  EventQueue<int> queue;
  fcntl(queue.fd(), F_SETFL, O_NONBLOCK);
  int event = 0;
  EXPECT_EQ(queue.take(event, kIgnore), EAGAIN);
}

TEST(EventQueue, ForgottenEventsLeaveTheDescriptorQuiet) {
  EventQueue<int> queue;
  for (const int i : {1, 2, 1, 3}) queue.push(i);
  queue.forget([](int i) { return i == 1; });
  int event = 0;
  EXPECT_EQ(queue.take(event, kIgnore), 0);
  EXPECT_EQ(event, 2);
  EXPECT_EQ(queue.take(event, kIgnore), 0);
  EXPECT_EQ(event, 3);
  EXPECT_FALSE(readable(queue.fd()));
}

TEST(EventQueue, TakeWaitsForAnotherThread) {
  EventQueue<int> queue;
  std::thread pusher([&] { queue.push(7); });
  int event = 0;
  EXPECT_EQ(queue.take(event, kIgnore), 0);
  EXPECT_EQ(event, 7);
  pusher.join();
}

TEST(AsyncQueue, AnElementGoesOnlyWhenItsEventsAreAcknowledged) {
  AsyncQueue queue;
  Acknowledgements acks;
  int element = 0;
  queue.push({IBV_EVENT_QP_FATAL, &element, 0, &acks});
  queue.push({IBV_EVENT_COMM_EST, &element, 0, &acks});  // never taken: vanishes
  AsyncEvent event;
  ASSERT_EQ(queue.take(event), 0);
  EXPECT_EQ(event.type, IBV_EVENT_QP_FATAL);
  std::atomic<bool> acknowledged = false;
  std::thread program([&] {
    acknowledged = true;
    acks.acknowledge(1);
  });
  queue.settle(&element, acks);
  EXPECT_TRUE(acknowledged);
  program.join();
  EXPECT_FALSE(readable(queue.fd()));
}

}  // namespace
}  // namespace mrc::lib
