#include "graphpae/io/download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "graphpae/core/error.h"
#include "graphpae/io/sha256.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

struct Transfer {
  std::FILE* file = nullptr;
  int64_t start = 0;  // bytes that were there before
  const DownloadOptions* options = nullptr;
};

size_t write_body(char* bytes, size_t size, size_t count, void* target) {
  return std::fwrite(bytes, size, count, static_cast<Transfer*>(target)->file) * size;
}

int report_progress(void* target, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  const auto* transfer = static_cast<const Transfer*>(target);
  if (transfer->options->progress && total > 0) {
    transfer->options->progress(transfer->start + done, transfer->start + total);
  }
  return 0;
}

struct Outcome {
  CURLcode code;
  long status;
  std::string reason;
};

Outcome transfer_once(const std::string& url, const std::string& part, const DownloadOptions& options) {
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) throw Error(ErrorKind::internal, "libcurl could not be started");
  Transfer transfer;
  transfer.options = &options;
  transfer.start = fs::exists(part) ? static_cast<int64_t>(fs::file_size(part)) : 0;
  transfer.file = std::fopen(part.c_str(), "ab");
  if (transfer.file == nullptr) throw data_error(fmt::format("{}: {}", part, std::strerror(errno)));

  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.start));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, write_body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, report_progress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  Outcome outcome{curl_easy_perform(curl.get()), 0, ""};
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &outcome.status);
  if (std::fclose(transfer.file) != 0 && outcome.code == CURLE_OK) outcome.code = CURLE_WRITE_ERROR;
  outcome.reason = reason[0] != '\0' ? reason : curl_easy_strerror(outcome.code);
  return outcome;
}

bool is_passing(const Outcome& outcome) {
  switch (outcome.code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT: return true;
    default: return outcome.status >= 500;
  }
}

}  // namespace

std::string download(const std::string& url, const std::string& path, const DownloadOptions& options) {
  const std::string part = path + ".part";
  for (int attempt = 1;; ++attempt) {
    const Outcome outcome = transfer_once(url, part, options);
    // The server cannot continue from there: start again. (libcurl takes status 416 for a complete file.)
    const bool cannot_continue = outcome.code == CURLE_RANGE_ERROR || outcome.status == 416;
    if (outcome.code == CURLE_OK && !cannot_continue) break;
    if (cannot_continue && fs::file_size(part) > 0) {
      fs::resize_file(part, 0);
    } else if (!is_passing(outcome) || attempt >= options.attempts) {
      throw data_error(fmt::format("{}: download failed: {}", url, outcome.reason));
    }
  }
  const std::string sum = sha256_of_file(part);
  if (!options.sha256.empty() && sum != options.sha256) {
    fs::remove(part);
    throw data_error(fmt::format("{}: SHA-256 is {}, expected {}", url, sum, options.sha256));
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  return sum;
}

}  // namespace graphpae
