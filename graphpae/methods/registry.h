// All methods by the names that setting `method` knows (settings/method_names.h).
#pragma once

#include <memory>

#include "graphpae/methods/method.h"

namespace graphpae {

// The method that settings.method names, its parameters drawn from settings.seed.
std::shared_ptr<Method> make_method(const Settings& settings, const InputShape& shape);

}  // namespace graphpae
