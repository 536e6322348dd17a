#include "graphpae/io/zip_archive.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

// Deflate cannot expand by more than about 1032 to 1.
constexpr uint64_t kMaxExpansion = 1040;
constexpr uint64_t kSlack = 4096;

std::string open_failure(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

uint64_t physical_memory() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace

struct ZipArchive::State {
  zip_t* zip = nullptr;
  ~State() {
    if (zip != nullptr) zip_discard(zip);
  }
};

ZipArchive::ZipArchive(const std::string& path) : path_(path), state_(std::make_unique<State>()) {
  int code = 0;
  state_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (state_->zip == nullptr) throw data_error(fmt::format("{}: {}", path, open_failure(code)));
}

ZipArchive::~ZipArchive() = default;

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> result;
  const zip_int64_t count = zip_get_num_entries(state_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(state_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name != nullptr) result.emplace_back(name);
  }
  return result;
}

bool ZipArchive::has(const std::string& name) const { return zip_name_locate(state_->zip, name.c_str(), 0) >= 0; }

ZipArchive::Member ZipArchive::open(const std::string& name) const {
  zip_stat_t info;
  zip_stat_init(&info);
  if (zip_stat(state_->zip, name.c_str(), 0, &info) != 0 || !(info.valid & ZIP_STAT_SIZE) ||
      !(info.valid & ZIP_STAT_COMP_SIZE)) {
    throw data_error(fmt::format("{}: no member '{}'", path_, name));
  }
  if (info.size / kMaxExpansion > info.comp_size + kSlack || info.size > physical_memory()) {
    throw data_error(fmt::format("{}: member '{}' declares {} bytes from {} stored ones, which is not believable",
                                 path_, name, info.size, info.comp_size));
  }
  const std::shared_ptr<zip_file_t> file(zip_fopen(state_->zip, name.c_str(), 0), [](zip_file_t* f) {
    if (f != nullptr) zip_fclose(f);
  });
  if (!file) throw data_error(fmt::format("{}: member '{}': {}", path_, name, zip_strerror(state_->zip)));
  const auto read = [file, name, path = path_](char* buffer, size_t size) {
    size_t filled = 0;
    while (filled < size) {
      const zip_int64_t got = zip_fread(file.get(), buffer + filled, size - filled);
      if (got < 0) throw data_error(fmt::format("{}: member '{}': {}", path, name, zip_file_strerror(file.get())));
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    return filled;
  };
  return {info.size, read};
}

void ZipArchive::extract_all(const std::string& directory) const {
  namespace fs = std::filesystem;
  std::vector<char> buffer(1 << 18);
  for (const std::string& name : names()) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || relative.string().starts_with("..")) {
      throw data_error(fmt::format("{}: member '{}' would be unpacked outside its directory", path_, name));
    }
    const fs::path target = fs::path(directory) / relative;
    if (name.ends_with('/')) {
      fs::create_directories(target);
      continue;
    }
    fs::create_directories(target.parent_path());
    const Member member = open(name);
    std::ofstream out(target, std::ios::binary);
    uint64_t total = 0;
    while (const size_t got = member.read(buffer.data(), buffer.size())) {
      total += got;
      if (total > member.size) throw data_error(fmt::format("{}: member '{}' is longer than declared", path_, name));
      out.write(buffer.data(), static_cast<std::streamsize>(got));
    }
    out.close();
    if (!out) throw data_error(fmt::format("{}: cannot be written", target.string()));
  }
}

void write_zip(const std::string& path, const std::vector<ZipEntry>& entries, bool compress) {
  int code = 0;
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (zip == nullptr) throw data_error(fmt::format("{}: {}", path, open_failure(code)));
  const auto fail = [&] {
    const std::string reason = zip_strerror(zip);
    zip_discard(zip);
    throw data_error(fmt::format("{}: {}", path, reason));
  };
  for (const ZipEntry& entry : entries) {
    zip_source_t* source = zip_source_buffer(zip, entry.bytes.data(), entry.bytes.size(), 0);
    const zip_int64_t index = source == nullptr ? -1 : zip_file_add(zip, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      fail();
    }
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 6);
    zip_file_set_mtime(zip, static_cast<zip_uint64_t>(index), 315532800, 0);  // 1980: equal content, equal bytes
  }
  if (zip_close(zip) != 0) fail();
}

}  // namespace graphpae
