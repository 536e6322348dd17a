#include "fuzz/target.h"
#include "graphpae/data/load.h"

GRAPHPAE_FUZZ_TARGET(bytes) {
  using namespace graphpae;
  return fuzz::value_or_error([&] { load(fuzz::as_file("g.json", bytes)); });
}
