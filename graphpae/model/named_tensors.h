// Tensors of a module by name, and their way to and from safetensors files.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "graphpae/io/safetensors.h"

namespace graphpae {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Parameters and buffers under the names of the module tree, for instance "encoder.layer0.weight", or the former alone.
NamedTensors named_tensors(const torch::nn::Module& module, const std::string& prefix = "");
NamedTensors named_parameters(const torch::nn::Module& module, const std::string& prefix = "");

void append(NamedTensors& tensors, const NamedTensors& more, const std::string& prefix);

// Views of the tensors' memory: the tensors must be contiguous and outlive the views.
std::vector<SafeTensorView> views_of(const NamedTensors& tensors);

// Copies tensors of the file into those given. Throws a data error that names the file, the tensor and both shapes or
// types if they differ, and if one is missing.
void copy_from(const SafeTensors& file, const NamedTensors& tensors);

}  // namespace graphpae
