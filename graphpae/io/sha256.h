// SHA-256 of bytes, as 64 hexadecimal digits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace graphpae {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(const void* bytes, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  template <class T>
  void update(std::span<const T> values) {
    update(values.data(), values.size_bytes());
  }
  std::string hex();  // ends the sum

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_of_file(const std::string& path);

}  // namespace graphpae
