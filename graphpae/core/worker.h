// Worker: a thread that lives as long as its owner and does what it is given, one thing after another.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace graphpae {

// At its end, what was begun is ended, what was not is dropped.
class Worker {
 public:
  // `at_start` is called once, in the thread.
  explicit Worker(std::function<void()> at_start)
      : thread_([this, start = std::move(at_start)](const std::stop_token& stop) {
          start();
          loop(stop);
        }) {}

  // The future has the result, or throws what `task` throws.
  template <class Task>
  std::future<std::invoke_result_t<Task>> run(Task task) {
    const auto packaged = std::make_shared<std::packaged_task<std::invoke_result_t<Task>()>>(std::move(task));
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back([packaged] { (*packaged)(); });
    }
    ready_.notify_one();
    return packaged->get_future();
  }

 private:
  void loop(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, stop, [this] { return !tasks_.empty(); });
      if (stop.stop_requested()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<std::function<void()>> tasks_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace graphpae
