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

class Worker {
 public:
  // `at_start` is called once, in the thread.
  explicit Worker(std::function<void()> at_start) {
    thread_ = std::thread([this, start = std::move(at_start)] {
      start();
      loop();
    });
  }
  // What was begun is ended, what was not is dropped.
  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    ready_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

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
  void loop() {
    while (true) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (stop_) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace graphpae
