// download: one file over HTTP(S) or file:// through libcurl. Interrupted transfers continue where they
// stopped, the SHA-256 sum is verified, and the target appears only when it is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace graphpae {

struct DownloadOptions {
  std::string sha256;  // 64 hexadecimal digits, or "" if unknown
  int attempts = 3;
  std::function<void(int64_t done, int64_t total)> progress;  // total is 0 if unknown
};

// Returns the SHA-256 sum of the file now at `path`. The partial file is `path`.part and is kept after a
// failed transfer, removed after a wrong sum. Throws a data error naming the address and the reason.
std::string download(const std::string& url, const std::string& path, const DownloadOptions& options = {});

}  // namespace graphpae
