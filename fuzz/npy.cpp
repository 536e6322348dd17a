#include "graphpae/io/npy.h"

#include "fuzz/target.h"
#include "graphpae/data/load.h"

GRAPHPAE_FUZZ_TARGET(bytes) {
  using namespace graphpae;
  const std::string path = fuzz::as_file("a.npy", bytes);
  fuzz::value_or_error([&] { read_npy(path).to_float(); });
  fuzz::value_or_error([&] { load(path); });
  return fuzz::value_or_error([&] { read_npy(path).to_int32(); });
}
