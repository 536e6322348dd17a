// TextColumn: many short strings in two flat arrays (node names, SMILES).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

class TextColumn {
 public:
  void push_back(std::string_view text) {
    characters_.append(text);
    ends_.push_back(static_cast<int64_t>(characters_.size()));
  }
  std::string_view operator[](int64_t row) const {
    const int64_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(characters_).substr(begin, ends_[row] - begin);
  }
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  bool empty() const { return ends_.empty(); }

 private:
  std::string characters_;
  std::vector<int64_t> ends_;
};

}  // namespace graphpae
