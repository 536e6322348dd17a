// TensorBoard event files: metrics of a run as scalars.
//
// A file is a sequence of records, each a length, its checksum, bytes and their checksum; the bytes are a message Event
// of protocol buffers, written here by hand as there are but four fields to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graphpae/report/metrics_file.h"

namespace graphpae {

// The bytes of a file: a version record, then a scalar per epoch and column. `start` is when the run began, in seconds
// since 1970; later events follow by the column `seconds`, if there is one.
std::string event_file(const Metrics& metrics, double start);

// CRC-32C (Castagnoli) of bytes, and as such files hold it.
uint32_t crc32c(std::string_view bytes);
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace graphpae
