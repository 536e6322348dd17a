#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO  // Debian's LibTorch has it, and does not say so
#endif
#include "graphpae/distributed/processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/distributed/store_options.h"

namespace graphpae {
namespace {

using std::chrono::milliseconds;
using StorePtr = c10::intrusive_ptr<c10d::Store>;
using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

constexpr milliseconds kBetweenBeats{500}, kWatching{2500}, kLingering{15000};

// Texts are stored with a full stop: not all versions take empty ones.
void put(const StorePtr& store, const std::string& key, const std::string& text) {
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.push_back('.');
  store->set(key, bytes);
}

std::string get(const StorePtr& store, const std::string& key) {
  const std::vector<uint8_t> bytes = store->get(key);
  return std::string(bytes.begin(), bytes.end() - 1);
}

// Waits for a key until so long after the watch began, `least` at any rate; false: it did not come.
bool comes(const StorePtr& store, const std::string& key, const Stopwatch& watch, milliseconds limit,
           milliseconds least) {
  const milliseconds left = limit - milliseconds(static_cast<int64_t>(1000 * watch.seconds()));
  try {
    store->wait({key}, std::max(left, least));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Launchers may keep the store themselves.
bool launcher_keeps_store() {
  const char* value = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return value != nullptr && std::string(value) == "True";
}

StorePtr open_store(const ProcessPlace& place, milliseconds timeout, bool serves) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = timeout;
  use_plain_sockets(options);
  return c10::make_intrusive<c10d::PrefixStore>("graphpae", c10::make_intrusive<c10d::TCPStore>(place.master, options));
}

// The network between the processes: GLOO_SOCKET_IFNAME names another than that of the host's name.
std::shared_ptr<gloo::transport::Device> open_device(const ProcessPlace& place) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr)
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  if (place.master == "localhost" || place.master.starts_with("127."))
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

GroupPtr open_group(const ProcessPlace& place, const StorePtr& store, const char* name, milliseconds timeout,
                    const std::shared_ptr<gloo::transport::Device>& device) {
  const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(device);
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>(name, store), place.rank,
                                                     place.size, options);
}

// Writes a number that grows into the store until it is destroyed.
class Heartbeat {
 public:
  Heartbeat(StorePtr store, int rank)
      : store_(std::move(store)), key_(key_of(rank)), thread_([this](const std::stop_token& ended) { beat(ended); }) {}
  static std::string key_of(int rank) { return fmt::format("beat/{}", rank); }

 private:
  void beat(const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    for (int64_t count = 0; !ended.stop_requested(); ++count) {
      try {
        put(store_, key_, std::to_string(count));
      } catch (const std::exception&) {
        return;  // the store is gone, which the next sum finds out
      }
      wake.wait_for(lock, ended, kBetweenBeats, [] { return false; });
    }
  }

  StorePtr store_;
  std::string key_;
  std::jthread thread_;
};

struct Names {
  const char *rank, *size;
};
constexpr Names kUsual{"RANK", "WORLD_SIZE"};
constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};

int number_in(const char* name, const char* text, int least, int most) {
  int value = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, value);
  if (failure != std::errc() || stop != end || value < least || value > most)
    throw usage_error(fmt::format("{}={}: expected a number from {} to {}", name, text, least, most));
  return value;
}

}  // namespace

std::optional<ProcessPlace> process_place(const std::function<const char*(const char*)>& variable) {
  const auto is_set = [&](const char* name) { return variable(name) != nullptr; };
  Names names = kUsual;
  if (!is_set(names.rank) && !is_set(names.size)) {
    if (!is_set("MASTER_ADDR")) return std::nullopt;
    for (const Names& launcher : kLaunchers) {
      if (is_set(launcher.rank) && is_set(launcher.size)) names = launcher;
    }
    if (names.rank == kUsual.rank) return std::nullopt;
  }
  for (const char* name : {names.rank, names.size, "MASTER_ADDR", "MASTER_PORT"}) {
    if (is_set(name)) continue;
    throw usage_error(
        fmt::format("{} is set and {} is not: one process of several needs both, MASTER_ADDR and MASTER_PORT",
                    is_set(names.size) ? names.size : names.rank, name));
  }
  ProcessPlace place;
  place.size = number_in(names.size, variable(names.size), 1, 1 << 20);
  place.rank = number_in(names.rank, variable(names.rank), 0, place.size - 1);
  place.master = variable("MASTER_ADDR");
  place.port = number_in("MASTER_PORT", variable("MASTER_PORT"), 1, 65535);
  return place;
}

struct Processes::State {
  ProcessPlace place;
  milliseconds timeout;
  StorePtr store;
  GroupPtr exchange, gradients;  // two, so that neither waits for the other
  std::unique_ptr<Heartbeat> heartbeat;
  bool lost = false;

  void meet();
  std::vector<int> ranks_without_beat();
  [[noreturn]] void explain(const std::string& what);

  // Runs what may fail because another process is gone.
  template <class Do>
  auto together(const Do& what) {
    try {
      return what();
    } catch (const std::exception& failure) {
      explain(failure.what());
    }
  }
};

void Processes::State::meet() {
  const bool serves = place.rank == 0 && !launcher_keeps_store();
  const double wait = static_cast<double>(timeout.count()) / 1000;
  try {
    store = open_store(place, timeout, serves);
  } catch (const std::exception& failure) {
    throw usage_error(serves ? fmt::format("rank 0 cannot listen on port {}: {}", place.port,
                                           std::string(failure.what()).substr(0, 100))
                             : fmt::format("no master at {}:{} in {:g} s", place.master, place.port, wait));
  }
  const auto here = [](int rank) { return fmt::format("here/{}", rank); };
  if (store->add(here(place.rank), 1) > 1) throw usage_error(fmt::format("two processes have RANK={}", place.rank));
  const Stopwatch waiting;
  std::vector<int> missing;
  for (int rank = 0; rank < place.size; ++rank) {
    if (!comes(store, here(rank), waiting, timeout, milliseconds(100))) missing.push_back(rank);
  }
  if (!missing.empty())
    throw usage_error(fmt::format("rank {} of {} did not come to {}:{} in {:g} s", fmt::join(missing, ", "), place.size,
                                  place.master, place.port, wait));
  const auto device = open_device(place);
  exchange = open_group(place, store, "exchange", timeout, device);
  gradients = open_group(place, store, "gradients", timeout, device);
  heartbeat = std::make_unique<Heartbeat>(open_store(place, timeout, false), place.rank);
}

std::vector<int> Processes::State::ranks_without_beat() {
  const auto beats = [&] {
    std::vector<std::string> all;
    for (int rank = 0; rank < place.size; ++rank) {
      const std::string key = Heartbeat::key_of(rank);
      all.push_back(store->check({key}) ? get(store, key) : "");
    }
    return all;
  };
  const auto before = beats();
  std::this_thread::sleep_for(kWatching);
  const auto after = beats();
  std::vector<int> gone;
  for (int rank = 0; rank < place.size; ++rank) {
    if (rank != place.rank && before[rank] == after[rank]) gone.push_back(rank);
  }
  return gone;
}

// The first to find out says it in the store, since those that have said it leave. Rank 0 stays until all have read it.
void Processes::State::explain(const std::string& what) {
  lost = true;
  std::string gone;
  try {
    if (!store->check({"gone"})) {
      const std::string found = fmt::format("{}", fmt::join(ranks_without_beat(), ", "));
      if (!store->check({"gone"})) put(store, "gone", found);
    }
    gone = get(store, "gone");
    put(store, fmt::format("left/{}", place.rank), "");
    if (place.rank == 0) {
      const Stopwatch lingering;
      for (int rank = 1; rank < place.size; ++rank) {
        if (fmt::format(", {},", gone).find(fmt::format(" {},", rank)) != std::string::npos) continue;
        comes(store, fmt::format("left/{}", rank), lingering, kLingering, milliseconds(1));
      }
    }
  } catch (const std::exception&) {
    gone = "0";  // and the store with it
  }
  if (gone.empty()) {
    throw Error(ErrorKind::internal, fmt::format("the {} processes lost each other, though all of them run: {}",
                                                 place.size, what.substr(0, what.find('\n'))));
  }
  throw Error(ErrorKind::internal,
              fmt::format("rank {} of {} is gone; --resume goes on from the last checkpoint, if there is one", gone,
                          place.size));
}

Processes::Processes(const ProcessPlace& place, double timeout) : state_(std::make_unique<State>()) {
  state_->place = place;
  state_->timeout = milliseconds(static_cast<int64_t>(timeout * 1000));
  state_->meet();
}

Processes::~Processes() {
  if (!state_->lost) return;
  // What waits for a process that is gone would be waited for.
  state_->exchange.release();
  state_->gradients.release();
}

int Processes::rank() const { return state_->place.rank; }
int Processes::size() const { return state_->place.size; }

// Few values: all of them to all in one message each, which takes fewer turns than a sum on the way, added in the order
// of ranks.
void Processes::sum(std::span<double> values) {
  state_->together([&] {
    const auto count = static_cast<int64_t>(values.size());
    std::vector<torch::Tensor> mine = {torch::from_blob(values.data(), {count}, torch::kFloat64)};
    const torch::Tensor all = torch::empty({size(), count}, torch::kFloat64);
    std::vector<std::vector<torch::Tensor>> rows = {all.unbind(0)};
    state_->exchange->allgather(rows, mine)->wait();
    const double* row = all.data_ptr<double>();
    std::fill(values.begin(), values.end(), 0.0);
    for (int rank = 0; rank < size(); ++rank) {
      for (double& value : values) value += *row++;
    }
  });
}

std::unique_ptr<Processes::Pending> Processes::begin_sum(torch::Tensor values) {
  struct Sum final : Pending {
    State& state;
    std::vector<torch::Tensor> tensors;
    decltype(state.gradients->allreduce(tensors)) work;

    Sum(State& owner, torch::Tensor tensor) : state(owner), tensors{std::move(tensor)} {
      state.together([&] { work = state.gradients->allreduce(tensors); });
    }
    void wait() override {
      state.together([&] { work->wait(); });
    }
  };
  return std::make_unique<Sum>(*state_, std::move(values));
}

void Processes::broadcast(const std::vector<torch::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  state_->together([&] {
    for (const torch::Tensor& tensor : tensors) {
      std::vector<torch::Tensor> one = {tensor.detach()};
      state_->exchange->broadcast(one)->wait();
    }
  });
}

std::string Processes::text_of_first(const std::string& key, const std::string& text) {
  return state_->together([&] {
    if (rank() == 0) put(state_->store, "text/" + key, text);
    return get(state_->store, "text/" + key);
  });
}

void Processes::agree(const std::string& key, const std::string& complaint) {
  const auto key_of = [&](int rank) { return fmt::format("agree/{}/{}", key, rank); };
  const std::string first = state_->together([&]() -> std::string {
    put(state_->store, key_of(rank()), complaint.empty() ? "" : fmt::format("rank {}: {}", rank(), complaint));
    std::string found;
    for (int rank = 0; rank < size(); ++rank) {
      const std::string other = get(state_->store, key_of(rank));
      if (found.empty()) found = other;
    }
    // Everyone has read everything before rank 0 may leave with the store.
    std::vector<torch::Tensor> one = {torch::zeros({1})};
    state_->exchange->allreduce(one)->wait();
    return found;
  });
  if (!first.empty()) throw usage_error(first);
}

}  // namespace graphpae
