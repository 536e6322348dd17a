// Ranks that are threads of this process, connected over loopback.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "graphpae/distributed/processes.h"
#include "graphpae/io/child_process.h"

namespace graphpae::test {

using graphpae::free_port;

// Runs body(processes) as every rank at once, when all are connected; the first exception is thrown.
template <class Body>
void as_ranks(int count, const Body& body, double timeout = 20) {
  const int port = free_port();
  std::vector<std::exception_ptr> failures(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  std::latch connected(count);  // a rank that leaves at once must not close a connection that another still makes
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      std::shared_ptr<Processes> processes;
      std::exception_ptr& failure = failures[static_cast<size_t>(rank)];
      try {
        processes = std::make_shared<Processes>(ProcessPlace{rank, count, "127.0.0.1", port}, timeout);
      } catch (...) {
        failure = std::current_exception();
      }
      connected.arrive_and_wait();
      if (failure) return;
      try {
        body(processes);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace graphpae::test
