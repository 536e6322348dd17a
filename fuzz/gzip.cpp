#include "fuzz/target.h"
#include "graphpae/io/input_file.h"

GRAPHPAE_FUZZ_TARGET(bytes) {
  using namespace graphpae;
  return fuzz::value_or_error([&] { read_file(fuzz::as_file("a.gz", bytes), 1 << 24); });
}
