#include "graphpae/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& path, const std::string& reason) {
  return data_error(fmt::format("{}: {}", path, reason));
}

void sync_path(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw failure(path, std::strerror(errno));
  const int status = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  if (status != 0 && reason != EINVAL) throw failure(path, std::strerror(reason));
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

void rename_over(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw failure(to, std::strerror(errno));
}

// Temporary names in use, so that an interrupted program can remove them.
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> paths;
};
Unfinished& unfinished() {
  static Unfinished all;
  return all;
}

// What is added to the name of an output under way.
std::string staging_suffix() { return fmt::format(".partial-{}", ::getpid()); }

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

AtomicOutput::AtomicOutput(const std::string& path) : path_(path), staging_path_(path + staging_suffix()) {
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.insert(staging_path_);
}

AtomicOutput::~AtomicOutput() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(staging_path_, ignored);
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.erase(staging_path_);
}

AtomicFile::AtomicFile(const std::string& path) : AtomicOutput(path) {
  if (fs::is_directory(path)) throw failure(path, "is a directory, expected a file name");
  if (!fs::is_directory(parent_of(path))) throw failure(path, "its directory does not exist");
}

std::string with_final_names(std::string text) {
  const std::string suffix = staging_suffix();
  for (size_t at = text.find(suffix); at != std::string::npos; at = text.find(suffix, at))
    text.erase(at, suffix.size());
  return text;
}

// Other threads may be writing files into a directory while it is removed, so it is done until nothing is left.
void remove_unfinished_outputs() {
  constexpr int kRounds = 50;
  const std::lock_guard lock(unfinished().mutex);
  for (int round = 0, gone = 0; round < kRounds && gone < 2; ++round) {
    bool any = false;
    for (const std::string& path : unfinished().paths) {
      std::error_code ignored;
      any = any || fs::exists(path, ignored);
      fs::remove_all(path, ignored);
    }
    gone = any ? 0 : gone + 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void AtomicFile::commit() {
  sync_path(staging_path_);
  rename_over(staging_path_, path_);
  committed_ = true;
  sync_path(parent_of(path_));
}

void write_file(const std::string& path, std::string_view bytes) { write_file(path, std::span(&bytes, 1)); }

void write_file(const std::string& path, std::span<const std::string_view> pieces) {
  AtomicFile file(path);
  const int descriptor = ::open(file.staging_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw failure(path, std::strerror(errno));
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int reason = errno;
        ::close(descriptor);
        throw failure(path, std::strerror(reason));
      }
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  if (::close(descriptor) != 0) throw failure(path, std::strerror(errno));
  file.commit();
}

AtomicDirectory::AtomicDirectory(const std::string& path, bool force, std::vector<std::string> owned)
    : AtomicOutput(without_slash(path)), owned_(std::move(owned)) {
  if (fs::exists(path_)) {
    if (!fs::is_directory(path_)) throw usage_error(fmt::format("{}: exists and is not a directory", path_));
    if (!force && !fs::is_empty(path_)) {
      throw usage_error(fmt::format("{}: exists and is not empty (use --force to write into it)", path_));
    }
  }
  std::error_code reason;
  fs::create_directories(staging_path_, reason);
  if (reason) throw failure(path_, reason.message());
}

void AtomicDirectory::commit() {
  for (const auto& entry : fs::recursive_directory_iterator(staging_path_)) sync_path(entry.path().string());
  if (!fs::exists(path_)) {
    rename_over(staging_path_, path_);
  } else {
    for (const auto& name : owned_) {  // what the new content lacks would be stale
      if (!fs::exists(fs::path(staging_path_) / name)) fs::remove(fs::path(path_) / name);
    }
    const std::vector<fs::directory_entry> entries(fs::recursive_directory_iterator(staging_path_), {});
    for (const auto& entry : entries) {
      const fs::path target = fs::path(path_) / fs::relative(entry.path(), staging_path_);
      if (entry.is_directory()) {
        fs::create_directories(target);
      } else {
        rename_over(entry.path().string(), target.string());
      }
    }
    fs::remove_all(staging_path_);
  }
  committed_ = true;
  sync_path(parent_of(path_));
}

}  // namespace graphpae
