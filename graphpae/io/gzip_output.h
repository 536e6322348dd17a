// Bytes packed as a gzip file. The header carries no time, so equal content gives equal bytes.
#pragma once

#include <string>
#include <string_view>

namespace graphpae {

std::string gzip_bytes(std::string_view bytes);

}  // namespace graphpae
