#include "graphpae/methods/method.h"

namespace graphpae {

Method::Method(const Settings& settings, const InputShape& shape, Initialiser& init)
    : settings_(settings), shape_(shape) {
  check(settings);
  encoder = register_module("encoder", make_encoder(settings, shape, init));
}

}  // namespace graphpae
