// spectrum.json of `graphpae spectrum` as charts and tables of a page.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/report/page.h"

namespace graphpae {

// From the text of the file. Throws a data error that starts with `source` if it is not a spectrum.
void add_spectrum_charts(Page& page, const std::string& json, const std::string& source);

// "all 200 eigenvectors", or how many of them and up to which frequency.
std::string spectrum_extent(int64_t eigenvectors, int64_t nodes, double highest);

}  // namespace graphpae
