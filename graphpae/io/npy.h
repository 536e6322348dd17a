// NumPy arrays: .npy files (versions 1 to 3) and .npz archives of them.
//
// All boolean, integer and float types, either byte order, C or Fortran order; byte and text strings.
// Object arrays are refused: they hold Python pickles, which run code when loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/io/zip_archive.h"

namespace graphpae {

struct NpyArray {
  std::string name;  // file or "file: array", for error messages
  std::vector<int64_t> shape;
  char kind = 'f';        // b bool, i integer, u unsigned, f float, S bytes, U text
  int64_t item_size = 4;  // bytes of one value
  Buffer<char> bytes;     // values in C order and this machine's byte order

  int64_t count() const;  // product of the shape
  bool is_integer() const { return kind == 'b' || kind == 'i' || kind == 'u'; }

  // Values as another type. Throws a data error naming the array and the position if a value does not
  // fit: a fraction or NaN as an integer, an integer out of range, text as a number.
  std::vector<int64_t> to_int64() const;
  std::vector<int32_t> to_int32() const;
  Buffer<float> to_float() const;
  std::vector<double> to_double() const;
  std::string to_text() const;  // a single string

  void expect_dimensions(size_t dimensions) const;
};

NpyArray read_npy(const std::string& path);

class NpzFile {
 public:
  explicit NpzFile(const std::string& path) : zip_(path) {}
  std::vector<std::string> names() const;  // without ".npy"
  bool has(const std::string& name) const { return zip_.has(name + ".npy"); }
  std::string first_of(std::initializer_list<std::string> wanted) const;  // that it has, or ""
  NpyArray read(const std::string& name) const;
  const std::string& path() const { return zip_.path(); }

 private:
  ZipArchive zip_;
};

// The bytes of a .npy file. T is one of the number types.
template <class T>
std::string npy_bytes(std::span<const T> values, const std::vector<int64_t>& shape);
// The same as a member NAME.npy of an .npz file. Without a shape, the values are one row.
template <class T>
ZipEntry npy_entry(const std::string& name, std::span<const T> values, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return {name + ".npy", npy_bytes<T>(values, shape)};
}
// An array of byte strings [texts], each as long as the longest.
std::string npy_text_bytes(std::span<const std::string_view> texts);

}  // namespace graphpae
