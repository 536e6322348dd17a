// spectrum.json of `graphpae spectrum` as charts and tables of a page.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/report/page.h"

namespace graphpae {

// Throws a data error if the file is not a spectrum.
void add_spectrum_charts(Page& page, const std::string& path);
// The same from the text of the file; `source` starts error messages.
void add_spectrum_charts(Page& page, const std::string& json, const std::string& source);

// "all 200 eigenvectors", or how many of them and up to which frequency.
std::string spectrum_extent(int64_t eigenvectors, int64_t nodes, double highest);

}  // namespace graphpae
