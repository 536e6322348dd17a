#include <zlib.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae {

std::string gzip_bytes(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(ErrorKind::internal, "zlib could not be started");
  }
  constexpr size_t kStep = size_t{1} << 20;
  std::string packed;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && !bytes.empty()) {
      const size_t step = std::min(bytes.size(), kStep);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(step);
      bytes.remove_prefix(step);
    }
    const size_t old = packed.size();
    packed.resize(old + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + old);
    stream.avail_out = static_cast<uInt>(kStep);
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.resize(old + kStep - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace graphpae
