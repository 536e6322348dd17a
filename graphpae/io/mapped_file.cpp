#include "graphpae/io/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "graphpae/core/error.h"

namespace graphpae {

MappedFile::MappedFile(const std::string& path) {
  const auto fail = [&] { return data_error(fmt::format("{}: {}", path, std::strerror(errno))); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw fail();
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    throw data_error(fmt::format("{}: is not a regular file", path));
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) {  // nothing can be mapped
    ::close(descriptor);
    return;
  }
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const Error failure = fail();
  ::close(descriptor);
  if (memory == MAP_FAILED) throw failure;
  ::madvise(memory, size, MADV_SEQUENTIAL);
  bytes_ = {static_cast<const std::byte*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace graphpae
