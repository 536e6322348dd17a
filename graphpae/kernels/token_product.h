// The learned token through the first layer of the encoder: rows of nodes that show dropout(token) times the weights.
//
// Such a row is the sum of the weight rows, scaled by the token, that the dropout of the node keeps: a product with a
// matrix of bits. Six weight rows have 64 subset sums. They are put into a table once, and each node adds the one entry
// that its six bits name (the method of the four Russians), a sixth of the additions of a plain product. The backward
// is the same with nodes and features exchanged. The order of every sum is fixed: any number of threads gives the same
// bits.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// y[nodes[m],:] = dropout(token) W for all m, other rows of y are left alone: token is [F], w [F,D], y [N,D], nodes [M]
// are distinct. The dropout of row m is that of node nodes[m].
void token_product(const float* token, std::span<const int32_t> nodes, const Dropout& dropout, const float* w,
                   int64_t f, int64_t d, float* y, Threads threads);

// Backward of token_product from d_y [N,D]: d_w [F,D] += its gradient, d_token [F] is set.
void token_product_backward(const float* token, std::span<const int32_t> nodes, const Dropout& dropout, const float* w,
                            const float* d_y, int64_t f, int64_t d, float* d_w, float* d_token, Threads threads);

}  // namespace graphpae::kernels
